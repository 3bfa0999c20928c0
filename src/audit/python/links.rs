//! What the pieces of each file refer to in the others, found once for all files that are there.

use foldhash::HashMap;

use super::facts::Role;
use super::meaning::{self, Known};
use super::packed::{Lists, index, number};
use super::reach::File;

/// A piece of a file that another piece refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    /// The file and the piece.
    pub to: (usize, usize),
    /// When it runs at the earliest.
    pub role: Role,
}

/// What the pieces of a file refer to: other pieces that are read, and nothing else of the many
/// names that stand there. No more files come in.
pub(super) fn of(
    files: &[File],
    modules: &HashMap<String, Option<usize>>,
    file: usize,
) -> Lists<Link> {
    let facts = &files[file].facts;
    let mut known = Known { files, modules };
    let meant: Vec<_> =
        facts.paths.iter().map(|path| meaning::of(&mut known, file, path)).collect();
    let mut links = Vec::new();
    for piece in 0..facts.pieces.len() {
        for one in facts.refs.at(piece) {
            if let Some(to) = meant.get(index(one.path)).copied().flatten()
                && to != (file, piece)
            {
                let role = one.role.of_reference(files[to.0].facts.is_class(to.1));
                links.push((number(piece), Link { to, role }));
            }
        }
    }
    Lists::of(links, facts.pieces.len())
}
