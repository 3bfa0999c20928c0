//! Codes as lines state them, shared by all readers of codes.

use crate::log::role::Role;

/// A code that a line states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::log) struct StatedCode {
    /// The family, an id of `data/cann_errors.toml`, or `aicore` for error register values.
    pub family: &'static str,
    /// The code as its family spells it.
    pub spelled: String,
    /// Its cause, if the code determines it.
    pub cause: Option<&'static str>,
    /// Its role in a failure.
    pub role: Role,
    /// How specific it is, on the scale of signatures.
    pub weight: u8,
    /// Its offset in the line.
    pub at: usize,
}
