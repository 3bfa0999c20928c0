//! The outcome of a rule: passed, found a problem, or not checked.

use super::RawFinding;
use crate::Reason;

/// The outcome of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The rule ran and found no problem.
    Passed,
    /// The rule found problems.
    Found(Vec<RawFinding>),
    /// The rule found problems, and could not examine the rest: the result is inconclusive.
    FoundInPart(Vec<RawFinding>, Reason),
    /// The machine has no object that the rule applies to.
    NotApplicable(Reason),
    /// The object exists, but could not be examined. Never treat this as OK.
    NotChecked(Reason),
    /// Like `NotChecked`, because of missing permission, time or an unreadable file: the result is
    /// inconclusive.
    Blocked(Reason),
}

impl Outcome {
    /// Returns [`Outcome::Passed`] if the list is empty, otherwise [`Outcome::Found`].
    pub fn from_found(found: Vec<RawFinding>) -> Self {
        if found.is_empty() { Self::Passed } else { Self::Found(found) }
    }

    /// Returns the outcome for these findings. `unexamined` is the reason why the rest was not
    /// examined, if it was not.
    pub fn from_partial(found: Vec<RawFinding>, unexamined: Option<Reason>) -> Self {
        match unexamined {
            None => Self::from_found(found),
            Some(reason) if found.is_empty() => Self::Blocked(reason),
            Some(reason) => Self::FoundInPart(found, reason),
        }
    }
}

impl From<Vec<RawFinding>> for Outcome {
    fn from(found: Vec<RawFinding>) -> Self {
        Self::from_found(found)
    }
}
