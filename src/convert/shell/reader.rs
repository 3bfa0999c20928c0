//! The state of reading one script, which the readers of its parts share.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::owners::Owners;
use crate::site::Planner;

/// The names of variables that decide what becomes of others.
#[derive(Default)]
pub(super) struct Names {
    /// Variables of the environment that stay, since a value of theirs cannot be written.
    pub kept: BTreeSet<String>,
    /// Variables of the environment that are set, with the name that they get.
    pub assigned: BTreeMap<String, Option<&'static str>>,
    /// All that the words say and the names of all variables: a script in which a new name
    /// stands already has a branch for NPUs.
    pub said: String,
    /// Whether that holds a new name, by name.
    pub held: BTreeMap<&'static str, bool>,
    /// Variables of the script that hold a device or a backend, by the key they are used for.
    pub values: BTreeMap<String, BTreeSet<String>>,
    /// Variables of the script that hold arguments of a program.
    pub arguments: BTreeSet<String>,
    /// Variables that are named after a device or a backend and given to a program on its own.
    pub given: BTreeSet<String>,
    /// Variables that take their value from another, by that one's name.
    pub from: Vec<(String, String)>,
}

/// A script that is read, and the plan that takes its edits.
pub(super) struct Reader<'p, 'a, 's> {
    pub planner: &'p mut Planner<'a>,
    pub text: &'s str,
    pub offset: usize,
    pub names: Names,
    /// The function that each command stands in.
    pub owners: Owners,
    /// Reported reads of variables without equivalent.
    pub read: BTreeSet<String>,
}

impl Reader<'_, '_, '_> {
    /// Whether the script speaks of this new name already.
    pub(super) fn says(&mut self, new: &'static str) -> bool {
        let said = &self.names.said;
        *self.names.held.entry(new).or_insert_with(|| said.contains(new))
    }

    pub(super) fn at(&self, range: &Range<usize>) -> Range<usize> {
        range.start + self.offset..range.end + self.offset
    }
}
