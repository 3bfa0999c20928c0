//! The outcome of a rule: it passed, found something, or could not run.

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// The outcome of a rule in one word, as reports show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// Ran and found nothing.
    Passed,
    /// Produced at least one finding.
    Found,
    /// Produced findings, all of them folded under the finding of another rule.
    Folded,
    /// Could not run.
    NotChecked,
    /// Does not apply.
    NotApplicable,
}

/// One rule of a run and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleResult {
    /// The rule's id.
    pub id: &'static str,
    /// The subject of the rule.
    pub name: Text,
    /// The outcome.
    pub state: CheckState,
    /// The reason of a missing answer, for `not_checked` and `not_applicable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The evidence that would give the answer, for `not_checked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<Text>,
    /// Whether the rule applies but permission, time or a readable file was missing.
    #[serde(skip)]
    pub blocked: bool,
    /// Whether a setting excludes it.
    #[serde(skip)]
    pub waived: bool,
}

impl RuleResult {
    /// A result without a reason.
    pub const fn new(id: &'static str, name: Text, state: CheckState) -> Self {
        Self { id, name, state, reason: None, settle: None, blocked: false, waived: false }
    }
}
