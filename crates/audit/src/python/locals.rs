//! The values of local names, function by function.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::kinds::Kind;

/// The names of the enclosing functions, the innermost last. A lookup hashes the name once, and the
/// tables of finished functions are reused.
#[derive(Debug, Default)]
pub(super) struct Locals<'a> {
    frames: Vec<Frame<'a>>,
    spare: Vec<Frame<'a>>,
    hasher: RandomState,
}

type Frame<'a> = HashTable<(&'a str, Kind)>;

/// The initial capacity for parameters and assigned names. Few functions have more.
const USUAL: usize = 14;

impl<'a> Locals<'a> {
    /// Returns whether the code is outside of all functions.
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Enters a function.
    pub(super) fn enter(&mut self) {
        let frame = self.spare.pop().unwrap_or_else(|| Frame::with_capacity(USUAL));
        self.frames.push(frame);
    }

    /// Leaves the innermost function.
    pub(super) fn leave(&mut self) {
        if let Some(mut frame) = self.frames.pop() {
            frame.clear();
            // Clearing a large table takes long each time.
            if frame.capacity() <= 4 * USUAL {
                self.spare.push(frame);
            }
        }
    }

    /// Sets the value of a name in the innermost function; does nothing outside of functions.
    pub(super) fn give(&mut self, name: &'a str, kind: Kind) {
        let Self { frames, hasher, .. } = self;
        let Some(frame) = frames.last_mut() else { return };
        let same = |(known, _): &(&str, Kind)| *known == name;
        match frame.entry(hasher.hash_one(name), same, |(known, _)| hasher.hash_one(known)) {
            hashbrown::hash_table::Entry::Occupied(mut known) => known.get_mut().1 = kind,
            hashbrown::hash_table::Entry::Vacant(place) => {
                place.insert((name, kind));
            }
        }
    }

    /// Returns the value of a name in the innermost function that has it.
    pub(super) fn get(&self, name: &str) -> Option<Kind> {
        if self.frames.is_empty() {
            return None;
        }
        let hash = self.hasher.hash_one(name);
        let find = |frame: &Frame<'a>| frame.find(hash, |(known, _)| *known == name).copied();
        self.frames.iter().rev().find_map(find).map(|(_, kind)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn innermost_function_with_a_name_determines_its_value() {
        let mut locals = Locals::default();
        locals.give("x", Kind::Tensor);
        assert_eq!((locals.get("x"), locals.is_empty()), (None, true));
        locals.enter();
        locals.give("x", Kind::Tensor);
        locals.give("y", Kind::Seq);
        locals.enter();
        locals.give("x", Kind::Not);
        locals.give("x", Kind::Host);
        assert_eq!((locals.get("x"), locals.get("y")), (Some(Kind::Host), Some(Kind::Seq)));
        locals.leave();
        assert_eq!(locals.get("x"), Some(Kind::Tensor));
        locals.enter();
        assert_eq!(locals.get("z"), None);
        assert_eq!(locals.get("x"), Some(Kind::Tensor), "a table that is used again is empty");
    }

    #[test]
    fn keeps_many_names() {
        let names: Vec<String> = (0..1_000).map(|n| format!("n{n}")).collect();
        let mut locals = Locals::default();
        locals.enter();
        for name in &names {
            locals.give(name, Kind::Not);
        }
        assert!(names.iter().all(|name| locals.get(name) == Some(Kind::Not)));
    }
}
