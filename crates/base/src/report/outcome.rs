//! What became of a rule: it passed, found something, or could not look.

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// The outcome of a rule in one word, as reports show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// Looked, nothing found.
    Passed,
    /// Gave at least one finding.
    Found,
    /// Gave findings, all of them folded under the finding of another rule.
    Folded,
    /// Could not look.
    NotChecked,
    /// Nothing to look at.
    NotApplicable,
}

/// One rule of a run and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleResult {
    /// The rule's id.
    pub id: &'static str,
    /// What the rule is about.
    pub name: Text,
    /// The outcome.
    pub state: CheckState,
    /// Why there is no answer, for `not_checked` and `not_applicable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The evidence that would give the answer, for `not_checked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<Text>,
    /// It had to look, but permission, time or a readable file were missing.
    #[serde(skip)]
    pub blocked: bool,
    /// A setting leaves it out.
    #[serde(skip)]
    pub waived: bool,
}

impl RuleResult {
    /// A result without a reason.
    pub const fn new(id: &'static str, name: Text, state: CheckState) -> Self {
        Self { id, name, state, reason: None, settle: None, blocked: false, waived: false }
    }
}
