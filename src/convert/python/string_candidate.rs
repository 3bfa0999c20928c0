//! Strings that may be devices: recorded by the walk, decided by the settlement.

use ruff_python_ast::Expr;

/// The knowledge about a string that its place gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// Nothing: a string is a device only if it can be nothing else.
    Quiet,
    /// An argument of an unknown function: a whole `'cuda'` is a device, likely.
    Any,
    /// Words for people, or the name of something else.
    Words,
    /// One of several words of a kind that is not known: no word alone is a backend.
    Among,
    /// A key.
    Key,
}

/// A string that may be a device, until the flow of values was followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub expr: &'a Expr,
    pub hint: Hint,
}
