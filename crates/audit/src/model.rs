//! Operators, data types and hints that a reader extracts from one input.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::place::Place;
use super::source_notes::{Hint, Suggestion};

/// Different operators that are kept of one input. No model has as many.
pub(crate) const MOST_OPERATORS: usize = 20_000;
/// Places that are kept of each operator.
const MOST_PLACES: usize = 5;
/// The longest name that is taken for an operator.
pub(crate) const LONGEST_NAME: usize = 200;

/// An operator as an input names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Op {
    /// The namespace: `aten`, `npu`, `torchvision`, or the domain of ONNX (`onnx` for its own).
    pub namespace: String,
    /// The name without overload: `add`, `Gelu`.
    pub name: String,
    /// The overload: `Tensor`; empty for the one without a name; nothing where the input does not
    /// say which.
    pub overload: Option<String>,
}

impl Op {
    /// An operator of aten of which the overload is not known.
    #[cfg(test)]
    pub(crate) fn aten(name: &str) -> Self {
        Self::named("aten", name)
    }

    /// An operator of which the overload is not known.
    pub(crate) fn named(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned(), overload: None }
    }

    /// `aten::add.Tensor`, `aten::add` or `add.Tensor` as an operator. Whether a name without a dot
    /// is the overload without a name, or any, depends on where it stands: `exact`.
    pub(crate) fn parse(text: &str, exact: bool) -> Option<Self> {
        let (namespace, rest) = text.split_once("::").unwrap_or(("aten", text));
        let (name, overload) = match rest.split_once('.') {
            Some((name, overload)) => (name, Some(overload)),
            None => (rest, None),
        };
        let word = |text: &str| {
            !text.is_empty()
                && text.len() <= LONGEST_NAME
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        (word(namespace) && word(name) && overload.is_none_or(word)).then(|| Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            overload: match overload {
                Some("default") => Some(String::new()),
                Some(overload) => Some(overload.to_owned()),
                None => exact.then(String::new),
            },
        })
    }

    /// The overload as the tables write it, without namespace: `add.Tensor`, `gelu`.
    pub fn schema(&self) -> String {
        match self.overload.as_deref() {
            None | Some("") => self.name.clone(),
            Some(overload) => format!("{}.{overload}", self.name),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.namespace, self.schema())
    }
}

/// The format of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// `torch.jit.save`: code in a zip.
    Torchscript,
    /// `torch.export.save`: a graph in JSON in a zip.
    Export,
    /// An ONNX model.
    Onnx,
    /// A trace of the profiler in the form of Chrome.
    Trace,
    /// Names of operators, one in a line.
    List,
    /// Tensors alone.
    Safetensors,
    /// Tensors alone, in an archive of `torch.save`.
    StateDict,
    /// A log in which torch_npu says what it computes on the CPU.
    Log,
    /// `config.json` of a Hugging Face model.
    Config,
    /// Python sources: a file, or all those of a directory.
    Python,
}

/// What a user has to know about how far an input was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// There are tensors and no operators in this format.
    NoOperators,
    /// The format does not say which overload is meant.
    NoOverloads,
    /// Some code could not be followed; its operators are counted where it stands.
    NotFollowed,
    /// Graphs lie deeper in each other than is followed: their operators are missing.
    TooDeep,
    /// More operators than are kept: the others are missing.
    TooMany,
    /// The operators follow from an architecture; the input names none.
    Hints,
    /// A warning is printed once for each operator and process.
    OncePerProcess,
    /// Some sources do not parse.
    NotParsed,
}

/// Where and how often an operator is used.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Use {
    /// How often the input names it.
    pub count: u64,
    /// How often of these inside another operator that the input names too: a trace shows what an
    /// operator is made of where it was recorded, which need not be the same on an NPU.
    #[serde(skip_serializing_if = "is_zero")]
    pub inside: u64,
    /// The first places, as the input names them. Of sources, those where it certainly runs with the
    /// model; where there is none, those where it may.
    pub places: Vec<Place>,
    /// How often the input itself shows that it was computed on the CPU.
    #[serde(skip_serializing_if = "is_zero")]
    pub fell_back: u64,
    /// Bytes of the tensors that go in and come out, of all uses whose shapes are known: what a
    /// fallback copies at least.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// The data types of each tensor argument, where the input says so.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, BTreeSet<&'static str>>,
    /// The time that a trace gives it, in microseconds, children included.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "base::number::thousandths_if"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub micros: Option<f64>,
    /// How often of these it is only reached with some arguments, or only named.
    #[serde(skip_serializing_if = "is_zero")]
    pub maybe: u64,
    /// How often of these it runs while the model is built or data is prepared.
    #[serde(skip_serializing_if = "is_zero")]
    pub setup: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Where and how often sources call an API.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calls {
    /// How often.
    pub count: u64,
    /// The first places.
    pub places: Vec<Place>,
    /// Arguments with the values that are written there, and the first places.
    pub given: BTreeMap<(String, String), Vec<Place>>,
}

/// The operators and properties of an input.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// What kind of file it is.
    pub format: Format,
    /// The version of PyTorch that wrote it, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torch: Option<String>,
    /// The operators. A report has them judged.
    #[serde(skip)]
    pub uses: BTreeMap<Op, Use>,
    /// The opset of each domain, of ONNX.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub opsets: BTreeMap<String, i64>,
    /// How many tensors there are of each data type, by the names of PyTorch.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dtypes: BTreeMap<String, u64>,
    /// What else it says of itself: the architecture, a method of quantization.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub says: BTreeMap<&'static str, String>,
    /// What was not understood.
    pub notes: Vec<Note>,
    /// How many sources were read.
    #[serde(skip_serializing_if = "is_zero")]
    pub files: u64,
    /// What else sources say that matters on an NPU, and in which file.
    #[serde(skip)]
    pub hints: Vec<(Hint, String)>,
    /// APIs that documents of torch_npu limit, and where they are called.
    #[serde(skip)]
    pub apis: BTreeMap<&'static str, Calls>,
    /// What an operator of torch_npu would compute at once, and in which file.
    #[serde(skip)]
    pub suggestions: Vec<(Suggestion, String)>,
    /// Where files with suggestions would import torch_npu, if they do not: an offset in bytes.
    #[serde(skip)]
    pub imports: BTreeMap<String, usize>,
}

impl Note {
    /// Whether something is missing, so that nothing can be said of the whole.
    pub fn is_gap(self) -> bool {
        matches!(self, Self::TooDeep | Self::TooMany)
    }
}

impl Model {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            torch: None,
            uses: BTreeMap::new(),
            opsets: BTreeMap::new(),
            dtypes: BTreeMap::new(),
            says: BTreeMap::new(),
            notes: Vec::new(),
            files: 0,
            hints: Vec::new(),
            apis: BTreeMap::new(),
            suggestions: Vec::new(),
            imports: BTreeMap::new(),
        }
    }

    /// Counts an operator.
    pub(crate) fn uses(&mut self, op: Op, count: u64, place: Option<&str>) {
        if self.uses.len() >= MOST_OPERATORS && !self.uses.contains_key(&op) {
            self.note(Note::TooMany);
            return;
        }
        let entry = self.uses.entry(op).or_default();
        entry.count = entry.count.saturating_add(count);
        if let Some(place) = place
            && entry.places.len() < MOST_PLACES
            && !entry.places.iter().any(|known| *known == *place)
        {
            entry.places.push(Place::Named(place.chars().take(400).collect()));
        }
    }

    /// Keeps what an input says of itself.
    pub(crate) fn say(&mut self, what: &'static str, text: &str) {
        self.says.insert(what, text.chars().take(LONGEST_NAME).collect());
    }

    pub(crate) fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_operator_names() {
        let op = Op::parse("aten::add.Tensor", true).unwrap();
        assert_eq!((op.to_string(), op.schema()), ("aten::add.Tensor".into(), "add.Tensor".into()));
        assert_eq!(Op::parse("gelu", true).unwrap().overload, Some(String::new()));
        assert_eq!(Op::parse("gelu", false).unwrap().overload, None);
        assert_eq!(Op::parse("aten::gelu.default", false).unwrap().schema(), "gelu");
        for no in ["", "aten::", "a b", "aten::add.", "x::y::z", "aten::add.Tensor.x", "a\u{1b}[1m"]
        {
            assert_eq!(Op::parse(no, true), None, "{no}");
        }
    }
}
