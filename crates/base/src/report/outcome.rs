//! What became of a rule: it passed, found something, or could not look.

use serde::{Deserialize, Serialize};

use super::RawFinding;
use crate::text::Text;

/// Why a rule gave no answer. The words are in the catalogue (`data/findings/reasons.toml`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Key in the catalogue.
    pub key: &'static str,
    /// Value for the placeholder `{what}`.
    pub what: String,
}

/// The answer of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It looked and all is well.
    Passed,
    /// It found something.
    Found(Vec<RawFinding>),
    /// There is nothing on this machine that the rule speaks about.
    NotApplicable(Reason),
    /// There is, but it could not be examined: never to be read as OK.
    NotChecked(Reason),
    /// Like `NotChecked`, for want of permission, time or a readable file: there is no verdict.
    Blocked(Reason),
}

impl Outcome {
    /// [`Outcome::Passed`] if the list is empty, else [`Outcome::Found`].
    pub fn from_found(found: Vec<RawFinding>) -> Self {
        if found.is_empty() { Self::Passed } else { Self::Found(found) }
    }

    /// Nothing to look at; `key` is a reason of the catalogue.
    pub fn not_applicable(key: &'static str) -> Self {
        Self::NotApplicable(Reason { key, what: String::new() })
    }

    /// Could not look; `key` is a reason of the catalogue, `what` fills its `{what}`.
    pub fn not_checked(key: &'static str, what: impl Into<String>) -> Self {
        Self::NotChecked(Reason { key, what: what.into() })
    }

    /// Could not look although it had to; see [`Outcome::Blocked`].
    pub fn blocked(key: &'static str, what: impl Into<String>) -> Self {
        Self::Blocked(Reason { key, what: what.into() })
    }
}

impl From<Vec<RawFinding>> for Outcome {
    fn from(found: Vec<RawFinding>) -> Self {
        Self::from_found(found)
    }
}

/// The outcome of a rule in one word, as reports show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
