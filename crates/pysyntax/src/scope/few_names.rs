//! A set for lookups that mostly fail.

use foldhash::HashSet;

/// A small set of names, optimized for absent ones, most of which are rejected without a look at
/// the table.
#[derive(Debug, Default)]
pub(super) struct FewNames<'a> {
    names: HashSet<&'a str>,
    /// A bit for each [`FewNames::bit`] of a name.
    bits: [u64; 4],
}

impl<'a> FewNames<'a> {
    /// A number below 256, equal for equal names.
    fn bit(name: &str) -> usize {
        let ends = name.as_bytes().first().zip(name.as_bytes().last());
        let (first, last) = ends.map_or((0, 0), |(first, last)| (*first, *last));
        (usize::from(first) * 7 + usize::from(last) * 3 + name.len() * 31) % 256
    }

    /// Adds a name.
    pub(super) fn insert(&mut self, name: &'a str) {
        let bit = Self::bit(name);
        self.bits[bit / 64] |= 1 << (bit % 64);
        self.names.insert(name);
    }

    /// Whether the set contains the name.
    pub(super) fn contains(&self, name: &str) -> bool {
        let bit = Self::bit(name);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1 && self.names.contains(name)
    }
}
