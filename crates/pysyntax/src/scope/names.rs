//! The bindings of the names of all scopes of a file, in one table.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::bindings::Bindings;
use super::{Binding, ScopeId};

/// Bindings by scope and name. A file has thousands of scopes that bind a few names each: a table
/// for each of them would take longer to create than to fill, and a name that is looked up in one
/// scope after the other would be hashed for each.
#[derive(Debug)]
pub(super) struct Names<'a> {
    bound: HashTable<Bound<'a>>,
    hasher: RandomState,
}

#[derive(Debug)]
struct Bound<'a> {
    /// The hash of the name in this scope, for growing the table.
    hash: u64,
    scope: ScopeId,
    name: &'a str,
    bindings: Bindings<'a>,
}

/// A hashed name for lookups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'n> {
    name: &'n str,
    hash: u64,
}

impl Key<'_> {
    /// The hash of the name in a scope: the bits of the scope number are spread over all of it.
    fn within(self, scope: ScopeId) -> u64 {
        self.hash ^ (scope as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// The number of bindings in a source of usual size.
const USUAL: usize = 220;

impl<'a> Names<'a> {
    pub(super) fn new() -> Self {
        Self { bound: HashTable::with_capacity(USUAL), hasher: RandomState::default() }
    }

    pub(super) fn key<'n>(&self, name: &'n str) -> Key<'n> {
        Key { name, hash: self.hasher.hash_one(name) }
    }

    /// The bindings of a name in the scope itself.
    pub(super) fn get(&self, scope: ScopeId, key: Key<'_>) -> Option<&[Binding<'a>]> {
        let same = |bound: &Bound<'_>| bound.scope == scope && bound.name == key.name;
        self.bound.find(key.within(scope), same).map(|found| found.bindings.as_slice())
    }

    pub(super) fn bind(&mut self, scope: ScopeId, name: &'a str, binding: Binding<'a>) {
        let hash = self.key(name).within(scope);
        let same = |bound: &Bound<'_>| bound.scope == scope && bound.name == name;
        match self.bound.entry(hash, same, |bound| bound.hash) {
            Entry::Vacant(place) => {
                place.insert(Bound { hash, scope, name, bindings: Bindings::One(binding) });
            }
            Entry::Occupied(mut known) => known.get_mut().bindings.add(binding),
        }
    }

    /// All bindings of the scope itself, in no particular order.
    pub(super) fn of(&self, scope: ScopeId) -> impl Iterator<Item = (&'a str, &[Binding<'a>])> {
        let here = self.bound.iter().filter(move |bound| bound.scope == scope);
        here.map(|bound| (bound.name, bound.bindings.as_slice()))
    }

    /// Whether any scope binds a name.
    pub(super) fn anywhere(&self, name: &str) -> bool {
        self.bound.iter().any(|bound| bound.name == name)
    }
}
