//! Collects the facts of a source while it is walked.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use pysyntax::dotted;

use super::api;
use super::facts::{ApiAt, Facts, Ref, Role, UseAt, WrittenAt};
use super::packed::{Lists, Texts, index, number};
use crate::source_notes::{Hint, Suggestion};

/// The facts found so far, each with the number of its piece.
#[derive(Debug, Default)]
pub(super) struct FactsBuilder {
    pieces: Texts,
    /// The current piece.
    here: u32,
    uses: Vec<(u32, UseAt)>,
    refs: Vec<(u32, Ref)>,
    calls: Vec<(u32, String)>,
    written: Vec<(u32, WrittenAt)>,
    hints: Vec<(u32, Hint)>,
    suggestions: Vec<(u32, Suggestion)>,
    apis: Vec<(u32, ApiAt)>,
    paths: Paths,
}

impl FactsBuilder {
    /// Begins a piece, named in parts, and returns the number of the previous one.
    pub(super) fn begin(&mut self, name: &[&str]) -> u32 {
        let begun = self.pieces.push(name);
        std::mem::replace(&mut self.here, begun)
    }

    /// Returns to a piece.
    pub(super) fn go_back(&mut self, piece: u32) {
        self.here = piece;
    }

    pub(super) fn uses(&mut self, found: UseAt) {
        self.uses.push((self.here, found));
    }

    pub(super) fn written(&mut self, found: WrittenAt) {
        self.written.push((self.here, found));
    }

    pub(super) fn hint(&mut self, found: Hint) {
        self.hints.push((self.here, found));
    }

    pub(super) fn api(&mut self, found: ApiAt) {
        self.apis.push((self.here, found));
    }

    pub(super) fn suggests(&mut self, found: Suggestion) {
        self.suggestions.push((self.here, found));
    }

    /// Returns the suggestions of the current piece.
    pub(super) fn suggested(&self) -> impl Iterator<Item = &Suggestion> {
        self.suggestions.iter().filter(|(piece, _)| *piece == self.here).map(|(_, one)| one)
    }

    /// Adds a reference to a dotted name or, with `own`, to a name of the file itself.
    pub(super) fn refers(&mut self, own: bool, name: &str, role: Role) {
        let path = self.paths.number(own, name);
        self.refs.push((self.here, Ref { path, role }));
    }

    /// Adds a method call on a value of unknown kind.
    pub(super) fn calls(&mut self, name: &str) {
        self.calls.push((self.here, name.to_owned()));
    }

    /// Packs and sorts the facts. The caller sets the names of the file.
    pub(super) fn settle(self) -> Facts {
        let Self { mut pieces, mut refs, mut calls, mut written, .. } = self;
        let Self { mut hints, mut suggestions, mut apis, .. } = self;
        let mut paths = self.paths.texts;
        pieces.settle();
        paths.settle();
        refs.sort_unstable();
        refs.dedup();
        calls.sort_unstable();
        calls.dedup();
        written.sort_by_key(|(piece, _)| *piece);
        hints.sort_by_key(|(piece, _)| *piece);
        suggestions.sort_by_key(|(piece, _)| *piece);
        apis.sort_by_key(|(piece, _)| *piece);
        let mut by_name: Vec<u32> = (0..number(pieces.len())).collect();
        by_name.sort_by(|a, b| pieces.bytes_of(index(*a)).cmp(pieces.bytes_of(index(*b))));
        let methods = pieces.iter().filter_map(|name| {
            let class = dotted::first(name);
            api::method_named(name.get(class.len() + 1..)?)
        });
        Facts {
            uses: Lists::of(self.uses, pieces.len()),
            refs: Lists::of(refs, pieces.len()),
            calls: Lists::of(calls, pieces.len()),
            shadows: methods.collect(),
            written,
            hints,
            suggestions,
            apis,
            paths,
            by_name,
            pieces,
            ..Facts::default()
        }
    }
}

/// The names that the file refers to, each once.
#[derive(Debug, Default)]
struct Paths {
    /// Dotted names, and `:name` for names of the file itself.
    texts: Texts,
    known: HashTable<u32>,
    hasher: RandomState,
}

impl Paths {
    fn number(&mut self, own: bool, name: &str) -> u32 {
        let Self { texts, known, hasher } = self;
        let same = |number: &u32| {
            let text = texts.of(index(*number));
            if own { text.strip_prefix(':') == Some(name) } else { text == name }
        };
        let hash = hasher.hash_one(name);
        if let Some(known) = known.find(hash, same) {
            return *known;
        }
        let number = texts.push(&[if own { ":" } else { "" }, name]);
        let of = |number: &u32| hasher.hash_one(texts.of(index(*number)).trim_start_matches(':'));
        known.insert_unique(hash, number, of);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_each_name_once() {
        let mut paths = Paths::default();
        let mut of = |own, name: &str| paths.number(own, name);
        assert_eq!([of(false, "a.b"), of(true, "a"), of(false, "a"), of(true, "a")], [0, 1, 2, 1]);
        for name in 0..100 {
            of(name % 2 == 0, &name.to_string());
        }
        assert_eq!(
            [of(false, "a.b"), of(true, "a"), of(false, "a"), of(true, "98")],
            [0, 1, 2, 101]
        );
    }

    #[test]
    fn continues_outer_piece_after_inner_piece() {
        let mut draft = FactsBuilder::default();
        draft.begin(&[""]);
        draft.refers(true, "first", Role::Run);
        let outer = draft.begin(&["C", ".", "m"]);
        draft.refers(false, "x.y", Role::Setup);
        draft.refers(false, "x.y", Role::Setup);
        draft.go_back(outer);
        draft.refers(true, "last", Role::Run);
        let facts = draft.settle();
        let names = |piece| {
            let refs = facts.refs.at(piece).iter();
            refs.map(|one| facts.paths.of(index(one.path))).collect::<Vec<_>>()
        };
        assert_eq!((names(0), names(1)), (vec![":first", ":last"], vec!["x.y"]));
        assert_eq!(
            (facts.named("C.m"), facts.named(""), facts.named("C")),
            (Some(1), Some(0), None)
        );
        assert!(facts.is_class(1) && !facts.is_class(0));
        assert_eq!(facts.methods("C").collect::<Vec<_>>(), [(1, "m")]);
    }
}
