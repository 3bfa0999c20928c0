//! Operators, data types and hints that a reader extracts from one input.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::place::Place;
use super::source_notes::{Hint, Suggestion};

/// The maximum number of different operators kept per input. No model has this many.
pub(crate) const MOST_OPERATORS: usize = 20_000;
/// The maximum number of places kept per operator.
const MOST_PLACES: usize = 5;
/// The maximum length of an operator name.
pub(crate) const LONGEST_NAME: usize = 200;

/// An operator as an input names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Op {
    /// The namespace: `aten`, `npu`, `torchvision`, or the ONNX domain (`onnx` for the default
    /// domain).
    pub namespace: String,
    /// The name without overload: `add`, `Gelu`.
    pub name: String,
    /// The overload: `Tensor`, or empty for the unnamed overload; `None` if the input does not
    /// contain it.
    pub overload: Option<String>,
}

impl Op {
    /// Returns an operator of aten with an unknown overload.
    #[cfg(test)]
    pub(crate) fn aten(name: &str) -> Self {
        Self::named("aten", name)
    }

    /// Returns an operator with an unknown overload.
    pub(crate) fn named(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned(), overload: None }
    }

    /// Parses `aten::add.Tensor`, `aten::add` or `add.Tensor`. A name without a dot is the unnamed
    /// overload if `exact`, and otherwise any overload.
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

    /// Returns the overload as the tables write it, without namespace: `add.Tensor`, `gelu`.
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
    /// `torch.jit.save`: code in a zip archive.
    Torchscript,
    /// `torch.export.save`: a JSON graph in a zip archive.
    Export,
    /// An ONNX model.
    Onnx,
    /// A profiler trace in the Chrome format.
    Trace,
    /// Operator names, one per line.
    List,
    /// Tensors only.
    Safetensors,
    /// Tensors only, in an archive of `torch.save`.
    StateDict,
    /// A log in which torch_npu reports operators that run on the CPU.
    Log,
    /// `config.json` of a Hugging Face model.
    Config,
    /// Python sources: a file, or all sources of a directory.
    Python,
}

/// Limits of the extraction that a user must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// The format contains tensors and no operators.
    NoOperators,
    /// The format does not identify overloads.
    NoOverloads,
    /// Some code could not be followed. Its operators are counted at their place in the code.
    NotFollowed,
    /// Graphs are nested deeper than the limit, so operators of the inner ones are missing.
    TooDeep,
    /// The input has more operators than the limit, so the others are missing.
    TooMany,
    /// The operators are derived from an architecture; the input names none.
    Hints,
    /// The warning is printed once per operator and process.
    OncePerProcess,
    /// Some sources could not be parsed.
    NotParsed,
}

/// The number of uses of an operator and their places.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Use {
    /// The number of uses in the input.
    pub count: u64,
    /// The number of uses inside another operator of the input. A trace shows the components of an
    /// operator in the recorded run, which may differ on an NPU.
    #[serde(skip_serializing_if = "is_zero")]
    pub inside: u64,
    /// The first places, as the input names them. For sources: places that certainly run with the
    /// model, or else those that may.
    pub places: Vec<Place>,
    /// The number of uses that the input shows running on the CPU.
    #[serde(skip_serializing_if = "is_zero")]
    pub fell_back: u64,
    /// Total bytes of the input and output tensors, over all uses with known shapes: the minimum
    /// that a fallback copies.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// The data types of each tensor argument, if the input contains them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, BTreeSet<&'static str>>,
    /// The time in a trace in microseconds, including children.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "base::number::thousandths_if"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub micros: Option<f64>,
    /// The number of uses that only some arguments reach, or that only name the operator.
    #[serde(skip_serializing_if = "is_zero")]
    pub maybe: u64,
    /// The number of uses while the model is built or data is prepared.
    #[serde(skip_serializing_if = "is_zero")]
    pub setup: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The number of calls of an API in sources and their places.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calls {
    /// The number of calls.
    pub count: u64,
    /// The first places.
    pub places: Vec<Place>,
    /// Arguments with their values in the source, and the first places.
    pub given: BTreeMap<(String, String), Vec<Place>>,
}

/// The operators and properties of an input.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// The format of the input.
    pub format: Format,
    /// The PyTorch version that wrote the input, if the input contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torch: Option<String>,
    /// The operators. A report contains them with their classes.
    #[serde(skip)]
    pub uses: BTreeMap<Op, Use>,
    /// The opset of each ONNX domain.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub opsets: BTreeMap<String, i64>,
    /// The number of tensors of each data type, by PyTorch name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dtypes: BTreeMap<String, u64>,
    /// Other metadata of the input: the architecture, the quantization method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub says: BTreeMap<&'static str, String>,
    /// Limits of the extraction.
    pub notes: Vec<Note>,
    /// The number of sources read.
    #[serde(skip_serializing_if = "is_zero")]
    pub files: u64,
    /// Other constructs in sources that matter on an NPU, with their files.
    #[serde(skip)]
    pub hints: Vec<(Hint, String)>,
    /// APIs with limits in the torch_npu documents, and their calls.
    #[serde(skip)]
    pub apis: BTreeMap<&'static str, Calls>,
    /// Code that one torch_npu operator could replace, with its file.
    #[serde(skip)]
    pub suggestions: Vec<(Suggestion, String)>,
    /// Where files with suggestions would import torch_npu, if they do not yet: an offset in bytes.
    #[serde(skip)]
    pub imports: BTreeMap<String, usize>,
}

impl Note {
    /// Returns whether operators are missing, so that a statement about the complete input is
    /// impossible.
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

    /// Stores a metadata value of the input.
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
