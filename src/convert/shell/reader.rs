//! The state of reading one script, which the readers of its parts share.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::owners::Owners;
use crate::site::Planner;

/// The names of variables that influence the plan of others.
#[derive(Default)]
pub(super) struct Names {
    /// Environment variables that stay, because one of their values cannot be converted.
    pub kept: BTreeSet<String>,
    /// Environment variables that are set, with their new names.
    pub assigned: BTreeMap<String, Option<&'static str>>,
    /// The text of all words and the names of all variables: a script that contains a new name
    /// already has a branch for NPUs.
    pub said: String,
    /// Cached results of the search for new names in this text.
    pub held: BTreeMap<&'static str, bool>,
    /// Variables of the script that hold a device or a backend, by the key of their use.
    pub values: BTreeMap<String, BTreeSet<String>>,
    /// Variables of the script that hold arguments of a program.
    pub arguments: BTreeSet<String>,
    /// Variables that are named after a device or a backend and passed to a program without an
    /// option.
    pub given: BTreeSet<String>,
    /// Variables that take their value from another variable, with the name of that one.
    pub from: Vec<(String, String)>,
}

/// The script being read, and the plan that receives its edits.
pub(super) struct Reader<'p, 'a, 's> {
    pub planner: &'p mut Planner<'a>,
    pub text: &'s str,
    pub offset: usize,
    pub names: Names,
    /// The enclosing function of each command.
    pub owners: Owners,
    /// Reported reads of variables without equivalent.
    pub read: BTreeSet<String>,
}

impl Reader<'_, '_, '_> {
    /// Whether the script already contains this new name.
    pub(super) fn says(&mut self, new: &'static str) -> bool {
        let said = &self.names.said;
        *self.names.held.entry(new).or_insert_with(|| said.contains(new))
    }

    pub(super) fn at(&self, range: &Range<usize>) -> Range<usize> {
        range.start + self.offset..range.end + self.offset
    }
}
