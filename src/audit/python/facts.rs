//! What one source file says, without its text and tree: what it uses, and what it refers to.

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

/// An operator that stands in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UseAt {
    pub op: Op,
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
    /// Dotted names that it refers to, and whether only while a model is built.
    pub refs: Vec<(String, Role)>,
    /// Names of methods that it calls on what is not known.
    pub calls: Vec<String>,
}

impl Facts {
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
    /// Names that the module imports, with what they stand for.
    pub exports: Vec<(String, String)>,
    /// Modules of which all names are imported.
    pub stars: Vec<String>,
    /// Where `import torch_npu` goes, if it is not there: behind the first import of torch, in bytes.
    pub import_at: Option<usize>,
    /// Some cells of the notebook do not parse.
    pub partly: bool,
}
