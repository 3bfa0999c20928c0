//! Why a file of a kind that is not Python is left alone.

/// A text that is not written in the syntax of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Byte offset at which reading stopped: what is not closed, or nests too deep.
    pub at: usize,
}
