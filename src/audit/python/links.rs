//! What the pieces of each file refer to in the others, found once for all files that are there.

use foldhash::HashMap;

use super::facts::Role;
use super::meaning::{self, Known};
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
/// names that stand there.
#[derive(Debug, Default)]
pub(super) struct Links {
    all: Vec<Link>,
    /// Where those of each piece end.
    ends: Vec<usize>,
}

impl Links {
    /// Those of a file, where no more files come in.
    pub(super) fn of(
        files: &[File],
        modules: &HashMap<String, Option<usize>>,
        file: usize,
    ) -> Self {
        let facts = &files[file].facts;
        let mut known = Known { files, modules };
        let paths = facts.paths.all().iter();
        let meant: Vec<_> = paths.map(|path| meaning::of(&mut known, file, path)).collect();
        let mut links = Self { all: Vec::new(), ends: Vec::with_capacity(facts.units.len()) };
        for (at, unit) in facts.units.iter().enumerate() {
            for (path, role) in &unit.refs {
                let meaning = usize::try_from(*path).ok().and_then(|path| *meant.get(path)?);
                if let Some(to) = meaning.filter(|to| *to != (file, at)) {
                    let class = files[to.0].facts.units[to.1].is_class();
                    links.all.push(Link { to, role: role.of_reference(class) });
                }
            }
            links.ends.push(links.all.len());
        }
        links
    }

    /// Those of a piece.
    pub(super) fn of_unit(&self, unit: usize) -> &[Link] {
        let end = self.ends.get(unit).copied().unwrap_or_default();
        let start = unit.checked_sub(1).and_then(|before| self.ends.get(before).copied());
        self.all.get(start.unwrap_or_default()..end).unwrap_or_default()
    }
}
