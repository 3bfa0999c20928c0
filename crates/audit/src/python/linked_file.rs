//! A source file with the links between its pieces and those of other files.

use std::sync::Arc;

use super::facts::{Facts, Role};
use super::packed::Lists;

/// The file and the piece that a path means; nothing where it means none that is read.
pub(super) type Definition = Option<(usize, usize)>;

/// A piece of a file that another piece refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    /// The file and the piece.
    pub to: (usize, usize),
    /// When it runs at the earliest.
    pub role: Role,
}

/// A file, and the reached pieces of it.
pub(super) struct File {
    pub(super) facts: Arc<Facts>,
    /// What each of its paths means, as far as that was asked; empty where `links` says it.
    pub(super) meant: Vec<Option<Definition>>,
    /// What its pieces refer to in the files that are read, where no more of them come in.
    pub(super) links: Lists<Reference>,
    /// How each of its pieces was reached.
    pub(super) roles: Vec<Option<Role>>,
}

impl File {
    pub(super) fn of(facts: Arc<Facts>) -> Self {
        let roles = vec![None; facts.pieces.len()];
        Self { facts, meant: Vec::new(), links: Lists::default(), roles }
    }

    /// A file with imports that are followed.
    pub(super) fn followed(facts: Arc<Facts>) -> Self {
        let meant = vec![None; facts.paths.len()];
        Self { meant, ..Self::of(facts) }
    }
}
