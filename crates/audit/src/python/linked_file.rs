//! A source file with the links between its pieces and those of other files.

use std::sync::Arc;

use super::facts::{Facts, Role};
use super::packed::Lists;

/// The file and the piece that a path refers to; `None` if it refers to none that was read.
pub(super) type Definition = Option<(usize, usize)>;

/// A piece of a file that another piece refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    /// The file and the piece.
    pub to: (usize, usize),
    /// The earliest role of the referenced piece.
    pub role: Role,
}

/// A file and its reached pieces.
pub(super) struct File {
    pub(super) facts: Arc<Facts>,
    /// The definitions of its paths that were resolved so far; empty if `links` is used.
    pub(super) meant: Vec<Option<Definition>>,
    /// The references of its pieces to loaded files, if no more files are loaded.
    pub(super) links: Lists<Reference>,
    /// How each of its pieces was reached.
    pub(super) roles: Vec<Option<Role>>,
}

impl File {
    pub(super) fn of(facts: Arc<Facts>) -> Self {
        let roles = vec![None; facts.pieces.len()];
        Self { facts, meant: Vec::new(), links: Lists::default(), roles }
    }

    /// Creates a file whose imports are followed.
    pub(super) fn followed(facts: Arc<Facts>) -> Self {
        let meant = vec![None; facts.paths.len()];
        Self { meant, ..Self::of(facts) }
    }
}
