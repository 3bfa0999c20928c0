//! What became of a rule: it passed, found something, or could not look.

use super::RawFinding;
use crate::Reason;

/// The answer of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It looked and all is well.
    Passed,
    /// It found something.
    Found(Vec<RawFinding>),
    /// It found something, and could not examine the rest: the result is inconclusive.
    FoundInPart(Vec<RawFinding>, Reason),
    /// There is nothing on this machine that the rule speaks about.
    NotApplicable(Reason),
    /// There is, but it could not be examined: never to be read as OK.
    NotChecked(Reason),
    /// Like `NotChecked`, for want of permission, time or a readable file: the result is inconclusive.
    Blocked(Reason),
}

impl Outcome {
    /// [`Outcome::Passed`] if the list is empty, else [`Outcome::Found`].
    pub fn from_found(found: Vec<RawFinding>) -> Self {
        if found.is_empty() { Self::Passed } else { Self::Found(found) }
    }

    /// What was found, with the reason why the rest was not examined, if it was not.
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
