//! Strings that may be devices: recorded by the walk, classified by the settlement.

use ruff_python_ast::Expr;

/// Evidence about a string from its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// None: a string is a device only if it can be nothing else.
    Quiet,
    /// An argument of an unknown function: a whole `'cuda'` is likely a device.
    Any,
    /// Text for people, or the name of something else.
    Words,
    /// One of several words of an unknown kind: a single word is not a backend.
    Among,
    /// A key.
    Key,
}

/// A string that may be a device, recorded until the flow of values is complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub expr: &'a Expr,
    pub hint: Hint,
}
