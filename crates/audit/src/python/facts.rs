//! The facts of one source file, without its text and tree: uses and references.

use std::cmp::Ordering;
use std::sync::Arc;

use super::api::{Method, OperatorSet};
use super::packed::{Lists, Texts, index};
use crate::model::Op;
use crate::source_notes::{Hint, Suggestion};

/// When code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// When the model runs.
    Run,
    /// When the model runs, if it is chosen: it is named in a registry, and called nowhere.
    Named,
    /// While the model is built or data is prepared: on the host, as a rule.
    Setup,
}

impl Role {
    /// When something runs that is referred to so, at the earliest: a class that is named while a
    /// model is built runs with the model.
    pub(super) fn of_reference(self, class: bool) -> Self {
        if class && self != Self::Named { Self::Run } else { self }
    }
}

/// A call that stands in a source, or something that calls operators as one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UseAt {
    /// The operators.
    pub reach: OperatorSet,
    /// The method by whose name alone it is known: a class of the tree may have one of this name.
    pub method: Option<Method>,
    pub line: u32,
    /// It is reached by some arguments alone, or only named.
    pub maybe: bool,
    /// It is part of the backward pass.
    pub backward: bool,
    pub role: Role,
}

/// An operator that a source writes out: `torch.ops.…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenAt {
    pub op: Op,
    pub line: u32,
    pub maybe: bool,
    pub role: Role,
}

/// A call of an API that documents of torch_npu limit, and that is known to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiAt {
    /// Its name there.
    pub api: &'static str,
    pub line: u32,
    pub role: Role,
    /// Arguments that some documents limit, with the values that are written there.
    pub given: Vec<(String, String)>,
}

/// What a piece refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ref {
    /// By its number among the paths of the file.
    pub path: u32,
    /// Whether only while a model is built, or without calling it.
    pub role: Role,
}

/// What one file says. Its pieces are reached as a whole: a function, a method, a class body, a
/// variable, or all the rest of the module; they go by their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The dotted name of the module.
    pub module: String,
    /// The path as it is shown.
    pub path: Arc<str>,
    /// The names of the pieces: `""` for the rest of the module, `f`, `C`, `C.m`.
    pub pieces: Texts,
    pub uses: Lists<UseAt>,
    /// Without doubles.
    pub refs: Lists<Ref>,
    /// Names of methods that are called on what is not known, without doubles.
    pub calls: Lists<String>,
    /// What few files have goes with the number of its piece, in order.
    pub written: Vec<(u32, WrittenAt)>,
    pub hints: Vec<(u32, Hint)>,
    pub suggestions: Vec<(u32, Suggestion)>,
    pub apis: Vec<(u32, ApiAt)>,
    /// What the file refers to: dotted names, `:name` of the file itself, each once.
    pub paths: Texts,
    /// The numbers of the pieces, by their names.
    pub by_name: Vec<u32>,
    /// Its methods of names that tensors have too.
    pub shadows: Vec<Method>,
    pub exports: Exports,
    /// Modules of which all names are imported.
    pub stars: Vec<String>,
    /// Where `import torch_npu` goes, if it is not there: behind the first import of torch, in bytes.
    pub import_at: Option<usize>,
    /// Some cells of the notebook do not parse.
    pub partly: bool,
}

impl Facts {
    /// Whether the name of a piece is that of a class, or of something in one.
    pub(super) fn is_class(&self, piece: usize) -> bool {
        self.pieces.of(piece).starts_with(|c: char| c.is_ascii_uppercase())
    }

    /// The first piece of a name.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        let name = name.as_bytes();
        let before = |piece: &u32| self.pieces.bytes_of(index(*piece)) < name;
        let piece = index(*self.by_name.get(self.by_name.partition_point(before))?);
        (self.pieces.bytes_of(piece) == name).then_some(piece)
    }

    /// The methods of a class, with their names.
    pub(super) fn methods<'f>(&'f self, class: &'f str) -> impl Iterator<Item = (usize, &'f str)> {
        // Nothing that goes on with the name of the class sorts before its methods.
        let from = self.by_name.partition_point(|piece| self.pieces.of(index(*piece)) <= class);
        self.by_name[from..].iter().map_while(move |piece| {
            let piece = index(*piece);
            let rest = self.pieces.of(piece).strip_prefix(class)?;
            Some((piece, rest.strip_prefix('.')?))
        })
    }

    /// Puts the lines of the file for those of the text that was read of it.
    pub(super) fn in_lines(&mut self, lines: &[u32]) {
        let of = |line: &mut u32| {
            let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
            *line = lines.get(at).copied().unwrap_or(*line);
        };
        self.uses.all_mut().iter_mut().for_each(|one| of(&mut one.line));
        self.written.iter_mut().for_each(|(_, one)| of(&mut one.line));
        self.hints.iter_mut().for_each(|(_, one)| of(&mut one.line));
        self.apis.iter_mut().for_each(|(_, one)| of(&mut one.line));
        self.suggestions.iter_mut().for_each(|(_, one)| of(&mut one.line));
    }
}

/// Names that a module imports, with what they stand for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exports(Texts);

impl Exports {
    /// From pairs in the order of the names.
    pub(super) fn of(sorted: &[(String, String)]) -> Self {
        let mut texts = Texts::default();
        for (name, path) in sorted {
            texts.push(&[name]);
            // A module of the tree goes without the dot that the scopes give it.
            texts.push(&[path.strip_prefix('.').unwrap_or(path)]);
        }
        texts.settle();
        Self(texts)
    }

    /// What a name stands for.
    pub(super) fn of_name(&self, name: &str) -> Option<&str> {
        let (mut from, mut to) = (0, self.0.len() / 2);
        while from < to {
            let middle = from.midpoint(to);
            match self.0.bytes_of(2 * middle).cmp(name.as_bytes()) {
                Ordering::Less => from = middle + 1,
                Ordering::Greater => to = middle,
                Ordering::Equal => return Some(self.0.of(2 * middle + 1)),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_exports_by_name() {
        let pair = |name: &str, path: &str| (name.to_owned(), path.to_owned());
        let pairs = [pair("F", "torch.nn.functional"), pair("a", ".m.a"), pair("nn", "torch.nn")];
        let exports = Exports::of(&pairs);
        let found = ["F", "a", "nn", "", "b", "z"].map(|name| exports.of_name(name));
        let expected =
            [Some("torch.nn.functional"), Some("m.a"), Some("torch.nn"), None, None, None];
        assert_eq!(found, expected);
        assert_eq!(Exports::default().of_name("a"), None);
    }
}
