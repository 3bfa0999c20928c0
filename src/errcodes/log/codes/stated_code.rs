//! Codes as lines state them, shared by all readers of codes.

use crate::log::role::Role;

/// A code that a line states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::log) struct StatedCode {
    /// The family, an id of `data/cann_errors.toml`, or `aicore` for register words.
    pub family: &'static str,
    /// The code as its family spells it.
    pub spelled: String,
    /// What it is due to, where it says so.
    pub cause: Option<&'static str>,
    /// What it is in the course of a failure.
    pub role: Role,
    /// How specific it is, as of signatures.
    pub weight: u8,
    /// Where in the line it stands.
    pub at: usize,
}
