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
    /// When the model runs, if it is selected: a registry names it, and nothing calls it.
    Named,
    /// While the model is built or data is prepared, usually on the host.
    Setup,
}

impl Role {
    /// Returns the earliest role of something with such a reference. A class that is named while a
    /// model is built runs with the model.
    pub(super) fn of_reference(self, class: bool) -> Self {
        if class && self != Self::Named { Self::Run } else { self }
    }
}

/// A call in a source, or another construct that calls operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UseAt {
    /// The operators.
    pub reach: OperatorSet,
    /// The method, if only its name is known: a class of the tree may have a method of this name.
    pub method: Option<Method>,
    pub line: u32,
    /// Whether only some arguments reach it, or it is only named.
    pub maybe: bool,
    /// Whether it is part of the backward pass.
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

/// A call of an API with limits in the torch_npu documents that is known to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiAt {
    /// Its name in the documents.
    pub api: &'static str,
    pub line: u32,
    pub role: Role,
    /// Arguments that some documents limit, with the values in the source.
    pub given: Vec<(String, String)>,
}

/// A reference of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ref {
    /// The number of the path among the paths of the file.
    pub path: u32,
    /// The role of the reference: for example only while a model is built, or without a call.
    pub role: Role,
}

/// The facts of one file. A file consists of pieces: functions, methods, class bodies, variables,
/// and the rest of the module. Each piece is reached as a unit and is identified by its number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The dotted name of the module.
    pub module: String,
    /// The displayed path.
    pub path: Arc<str>,
    /// The names of the pieces: `""` for the rest of the module, `f`, `C`, `C.m`.
    pub pieces: Texts,
    pub uses: Lists<UseAt>,
    /// References without duplicates.
    pub refs: Lists<Ref>,
    /// Names of methods called on values of unknown kind, without duplicates.
    pub calls: Lists<String>,
    /// Facts that only few files have, each with the number of its piece, in order.
    pub written: Vec<(u32, WrittenAt)>,
    pub hints: Vec<(u32, Hint)>,
    pub suggestions: Vec<(u32, Suggestion)>,
    pub apis: Vec<(u32, ApiAt)>,
    /// The references of the file, each once: dotted names, and `:name` for names of the file
    /// itself.
    pub paths: Texts,
    /// The numbers of the pieces, sorted by name.
    pub by_name: Vec<u32>,
    /// Methods of the file that share a name with tensor methods.
    pub shadows: Vec<Method>,
    pub exports: Exports,
    /// Modules with a wildcard import.
    pub stars: Vec<String>,
    /// Where to insert a missing `import torch_npu`: after the first import of torch, in bytes.
    pub import_at: Option<usize>,
    /// Whether some cells of the notebook could not be parsed.
    pub partly: bool,
}

impl Facts {
    /// Returns whether a piece is a class or belongs to one, by its name.
    pub(super) fn is_class(&self, piece: usize) -> bool {
        self.pieces.of(piece).starts_with(|c: char| c.is_ascii_uppercase())
    }

    /// Returns the first piece with a name.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        let name = name.as_bytes();
        let before = |piece: &u32| self.pieces.bytes_of(index(*piece)) < name;
        let piece = index(*self.by_name.get(self.by_name.partition_point(before))?);
        (self.pieces.bytes_of(piece) == name).then_some(piece)
    }

    /// Returns the methods of a class, with their names.
    pub(super) fn methods<'f>(&'f self, class: &'f str) -> impl Iterator<Item = (usize, &'f str)> {
        // No longer name that starts with the class name sorts before its methods.
        let from = self.by_name.partition_point(|piece| self.pieces.of(index(*piece)) <= class);
        self.by_name[from..].iter().map_while(move |piece| {
            let piece = index(*piece);
            let rest = self.pieces.of(piece).strip_prefix(class)?;
            Some((piece, rest.strip_prefix('.')?))
        })
    }

    /// Replaces line numbers of the extracted text by those of the file.
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

/// Imported names of a module, with the paths that they refer to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exports(Texts);

impl Exports {
    /// Creates the exports from pairs sorted by name.
    pub(super) fn of(sorted: &[(String, String)]) -> Self {
        let mut texts = Texts::default();
        for (name, path) in sorted {
            texts.push(&[name]);
            // The scopes put a dot before modules of the tree, which is removed here.
            texts.push(&[path.strip_prefix('.').unwrap_or(path)]);
        }
        texts.settle();
        Self(texts)
    }

    /// Returns the path that a name refers to.
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
