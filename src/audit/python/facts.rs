//! What one source file says, without its text and tree: what it uses, and what it refers to.

use foldhash::HashMap;

use super::api;
use crate::audit::Op;

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

/// An operator by its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    /// As the tables name it: of aten without `aten::`.
    Known(&'static str),
    /// As a source writes it, `torch.ops.…`.
    Written(Box<Op>),
}

impl Operator {
    pub(super) fn op(&self) -> Op {
        match self {
            Self::Known(name) => {
                let (namespace, name) = name.split_once("::").unwrap_or(("aten", name));
                Op::named(namespace, name)
            }
            Self::Written(op) => (**op).clone(),
        }
    }
}

/// What a file refers to: each name once, by its number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paths {
    /// Dotted names; `:name` of the file itself.
    all: Vec<String>,
    /// The numbers of the dotted names, and of the names of the file itself.
    known: [HashMap<String, u32>; 2],
}

impl Paths {
    pub(super) fn dotted(&mut self, path: &str) -> u32 {
        self.number(0, path, str::to_owned)
    }

    pub(super) fn own(&mut self, name: &str) -> u32 {
        self.number(1, name, |name| [":", name].concat())
    }

    fn number(&mut self, kind: usize, name: &str, path: fn(&str) -> String) -> u32 {
        if let Some(number) = self.known[kind].get(name) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(path(name));
        self.known[kind].insert(name.to_owned(), number);
        number
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them, by their numbers.
    pub(super) fn all(&self) -> &[String] {
        &self.all
    }

    pub(super) fn of(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|at| self.all.get(at)).map_or("", String::as_str)
    }
}

/// An operator that stands in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UseAt {
    pub op: Operator,
    pub line: u32,
    /// It is reached by some arguments alone, or only named.
    pub maybe: bool,
    /// It is part of the backward pass.
    pub backward: bool,
    pub role: Role,
    /// The method by whose name alone it is known: a class of the tree may have one of this name.
    pub method: Option<&'static str>,
}

/// A call of an API that documents of torch_npu limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiAt {
    /// Its name there.
    pub api: &'static str,
    pub line: u32,
    pub role: Role,
    /// It is not known to run.
    pub maybe: bool,
    /// Arguments that some documents limit, with the values that are written there.
    pub given: Vec<(String, String)>,
}

/// Something else about a source that matters on an NPU.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hint {
    pub kind: HintKind,
    /// The name as it stands there.
    pub name: String,
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum HintKind {
    /// 64-bit floating point.
    Double,
    /// A complex data type.
    Complex,
    /// bfloat16.
    Bfloat16,
    /// 8-bit floating point.
    Float8,
    /// A library or option of quantization, by its name.
    Quantization,
    /// A backend of `torch.compile`, by its name.
    Backend,
}

/// An expression that an operator of `torch_npu` computes at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suggestion {
    /// The row of `data/ops/fusions.tsv`.
    pub rule: &'static str,
    pub line: u32,
    pub before: String,
    /// Where that stands: bytes of the text that was read.
    pub range: std::ops::Range<usize>,
    /// What takes its place, where that is plain.
    pub after: Option<String>,
}

/// A piece of a file that is reached as a whole: a function, a method, a class body, a variable,
/// or all the rest of the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unit {
    /// `""` for the rest of the module, `f`, `C`, `C.m`.
    pub name: String,
    pub uses: Vec<UseAt>,
    pub hints: Vec<Hint>,
    pub suggestions: Vec<Suggestion>,
    pub apis: Vec<ApiAt>,
    /// What it refers to, by numbers of [`Paths`], and whether only while a model is built.
    pub refs: Vec<(u32, Role)>,
    /// Names of methods that it calls on what is not known.
    pub calls: Vec<String>,
}

impl Unit {
    /// Whether its name is that of a class, or of something in one.
    pub(super) fn is_class(&self) -> bool {
        self.name.starts_with(|c: char| c.is_ascii_uppercase())
    }
}

impl Facts {
    /// What is left to do where all was walked: so that files do it side by side.
    pub(super) fn settle(&mut self) {
        self.paths.known = Default::default();
        for unit in &mut self.units {
            unit.refs.sort_unstable();
            unit.refs.dedup();
            unit.calls.sort_unstable();
            unit.calls.dedup();
            let method = unit.name.split_once('.').and_then(|(_, name)| api::name_of_method(name));
            self.shadows.extend(method);
        }
        let units = &self.units;
        self.by_name = (0..units.len()).collect();
        self.by_name.sort_unstable_by(|a, b| (&units[*a].name, a).cmp(&(&units[*b].name, b)));
    }

    /// The first piece of a name.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        let at = self.by_name.partition_point(|unit| *self.units[*unit].name < *name);
        self.by_name.get(at).copied().filter(|unit| self.units[*unit].name == name)
    }

    /// The methods of a class, with their names.
    pub(super) fn methods<'f>(&'f self, class: &'f str) -> impl Iterator<Item = (usize, &'f str)> {
        // Nothing that goes on with the name of the class sorts before its methods.
        let from = self.by_name.partition_point(|unit| *self.units[*unit].name <= *class);
        self.by_name[from..].iter().map_while(move |unit| {
            let rest = self.units[*unit].name.strip_prefix(class)?;
            Some((*unit, rest.strip_prefix('.')?))
        })
    }

    /// Puts the lines of the file for those of the text that was read of it.
    pub(super) fn in_lines(&mut self, lines: &[u32]) {
        let of = |line: &mut u32| {
            let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
            *line = lines.get(at).copied().unwrap_or(*line);
        };
        for unit in &mut self.units {
            unit.uses.iter_mut().for_each(|one| of(&mut one.line));
            unit.hints.iter_mut().for_each(|one| of(&mut one.line));
            unit.apis.iter_mut().for_each(|one| of(&mut one.line));
            unit.suggestions.iter_mut().for_each(|one| of(&mut one.line));
        }
    }
}

/// What one file says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The dotted name of the module.
    pub module: String,
    /// The path as it is shown.
    pub path: String,
    pub units: Vec<Unit>,
    /// The numbers of the pieces, by their names.
    pub by_name: Vec<usize>,
    /// Names of its methods that tensors have too.
    pub shadows: Vec<&'static str>,
    pub paths: Paths,
    /// Names that the module imports, with what they stand for.
    pub exports: Vec<(String, String)>,
    /// Modules of which all names are imported.
    pub stars: Vec<String>,
    /// Where `import torch_npu` goes, if it is not there: behind the first import of torch, in bytes.
    pub import_at: Option<usize>,
    /// Some cells of the notebook do not parse.
    pub partly: bool,
}
