//! Archives of `torch.export.save`: the graph is JSON in one entry.
//!
//! Up to torch 2.7 the entry is `serialized_exported_program.json`, since 2.8
//! `<name>/models/<model>.json`, one per model (torch/_export/serde/schema.py and
//! torch/export/pt2_archive). Both have the same nodes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::archive::Archive;
use super::bounded;
use super::model::{Format, LONGEST_NAME, Model, Note, Op, Use};
use super::unreadable::{Unreadable, damaged};

/// The maximum depth of nested graphs (the branches of `torch.cond`) that are followed.
const DEPTH: usize = 16;
/// The maximum number of JSON values in one graph. A node has about 40, so this is enough for
/// 100,000 nodes. Each value may take a hundred bytes of memory.
const MOST_VALUES: u64 = 4_000_000;
/// The maximum number of arguments of one operator that are kept.
const MOST_ARGUMENTS: usize = 64;

#[derive(Deserialize)]
struct Program {
    graph_module: GraphModule,
    #[serde(default)]
    torch_version: Option<String>,
}

#[derive(Deserialize)]
struct GraphModule {
    graph: Graph,
}

#[derive(Deserialize)]
struct Graph {
    nodes: Vec<Node>,
    #[serde(default)]
    tensor_values: BTreeMap<String, Tensor>,
}

#[derive(Deserialize)]
struct Node {
    target: String,
    #[serde(default)]
    inputs: Vec<Input>,
    #[serde(default)]
    outputs: Vec<Argument>,
    #[serde(default)]
    metadata: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    name: String,
    arg: Option<Argument>,
}

/// Of the many kinds of arguments, only graphs and tensors are read.
#[derive(Deserialize)]
struct Argument {
    #[serde(default, rename = "as_graph")]
    graph: Option<GraphModule>,
    #[serde(default, rename = "as_tensor")]
    one: Option<Name>,
    #[serde(default, rename = "as_tensors")]
    several: Option<Vec<Name>>,
}

impl Argument {
    fn tensors(&self) -> impl Iterator<Item = &str> {
        let several = self.several.iter().flatten();
        self.one.iter().chain(several).map(|tensor| tensor.name.as_str())
    }
}

/// A tensor by its name in the graph.
#[derive(Deserialize)]
struct Name {
    #[serde(default)]
    name: String,
}

/// A tensor. The schema of torch 2.1 keeps the type elsewhere; it is left out then.
#[derive(Deserialize)]
struct Tensor {
    #[serde(default)]
    dtype: Option<Value>,
    #[serde(default)]
    sizes: Option<Vec<Value>>,
}

impl Tensor {
    fn dtype(&self) -> Option<&'static str> {
        self.dtype.as_ref().and_then(dtype)
    }

    /// Returns the size in bytes. A dynamic size counts with its value at export.
    fn bytes(&self) -> Option<u64> {
        let width = match self.dtype()? {
            "bool" | "uint8" | "int8" | "float8_e4m3fn" | "float8_e5m2" => 1_u64,
            "int16" | "uint16" | "float16" | "bfloat16" => 2,
            "int64" | "float64" | "complex64" => 8,
            "complex128" => 16,
            _ => 4,
        };
        let size = |size: &Value| {
            let hint = || size.get("as_expr")?.get("hint")?.get("as_int")?.as_u64();
            size.get("as_int").and_then(Value::as_u64).or_else(hint)
        };
        self.sizes.as_ref()?.iter().try_fold(width, |all, each| all.checked_mul(size(each)?))
    }
}

/// The enumeration `ScalarType` of torch/_export/serde/schema.py, starting at 1.
const DTYPES: [&str; 13] = [
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex32",
    "complex64",
    "complex128",
    "bool",
    "bfloat16",
];

/// Returns the data type of a number of that enumeration.
fn dtype(value: &Value) -> Option<&'static str> {
    match usize::try_from(value.as_u64()?).ok()? {
        28 => Some("uint16"),
        29 => Some("float8_e4m3fn"),
        30 => Some("float8_e5m2"),
        number => DTYPES.get(number.checked_sub(1)?).copied(),
    }
}

pub(super) fn read(archive: &mut Archive<'_>, graphs: &[String]) -> Result<Model, Unreadable> {
    let mut model = Model::new(Format::Export);
    for name in graphs {
        let bytes = archive.entry(name)?;
        bounded::check_value_count(&bytes, MOST_VALUES, &format!("entry `{name}`"))?;
        let program: Program = serde_json::from_slice(&finite(bytes)).map_err(|error| {
            damaged(data::faults::NoExportedProgram { name, why: &error }.value())
        })?;
        model.torch = program.torch_version.or(model.torch);
        walk(&program.graph_module.graph, &mut model, DEPTH);
    }
    Ok(model)
}

/// Python writes `Infinity`, `-Infinity` and `NaN`, which are not valid JSON. They are replaced by
/// zeros of the same length, because no number of a graph is used.
fn finite(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while let Some(step) = memchr::memchr3(b'"', b'I', b'N', &bytes[at..]) {
        at += step;
        if bytes[at] == b'"' {
            at += 1;
            at += bounded::string_length(&bytes[at..]);
            continue;
        }
        let words: [&[u8]; 2] = [b"Infinity", b"NaN"];
        let word = words.into_iter().find(|word| bytes[at..].starts_with(word));
        if let Some(word) = word {
            bytes[at] = b'0';
            bytes[at + 1..at + word.len()].fill(b' ');
        }
        at += word.map_or(1, <[u8]>::len);
    }
    bytes
}

fn walk(graph: &Graph, model: &mut Model, depth: usize) {
    for tensor in graph.tensor_values.values() {
        if let Some(name) = tensor.dtype() {
            *model.dtypes.entry(name.to_owned()).or_default() += 1;
        }
    }
    for node in &graph.nodes {
        if let Some(op) = target(&node.target) {
            model.uses(op.clone(), 1, place(&node.metadata).as_deref());
            if let Some(used) = model.uses.get_mut(&op) {
                tensors(node, graph, used);
            }
        }
        for inner in node.inputs.iter().filter_map(|input| input.arg.as_ref()?.graph.as_ref()) {
            if depth == 0 {
                model.note(Note::TooDeep);
            } else {
                walk(&inner.graph, model, depth - 1);
            }
        }
    }
}

/// Records the data types and sizes of the inputs and outputs.
fn tensors(node: &Node, graph: &Graph, used: &mut Use) {
    let inputs = node.inputs.iter().filter_map(|input| Some((&input.name, input.arg.as_ref()?)));
    for (name, argument) in inputs {
        for tensor in argument.tensors().filter_map(|tensor| graph.tensor_values.get(tensor)) {
            used.bytes = used.bytes.saturating_add(tensor.bytes().unwrap_or_default());
            if let Some(dtype) = tensor.dtype()
                && !name.is_empty()
                && (used.types.len() < MOST_ARGUMENTS || used.types.contains_key(name))
            {
                let name = name.chars().take(LONGEST_NAME).collect();
                used.types.entry(name).or_default().insert(dtype);
            }
        }
    }
    for tensor in node.outputs.iter().flat_map(Argument::tensors) {
        let bytes = graph.tensor_values.get(tensor).and_then(Tensor::bytes);
        used.bytes = used.bytes.saturating_add(bytes.unwrap_or_default());
    }
}

/// Parses `torch.ops.aten.add.Tensor` as an operator; `None` for others such as
/// `_operator.getitem`.
fn target(text: &str) -> Option<Op> {
    let rest = text.strip_prefix("torch.ops.")?;
    let (namespace, rest) = rest.split_once('.')?;
    Op::parse(&format!("{namespace}::{rest}"), true)
}

/// Returns the source line of the model, or else its module, so that a user can find the place.
fn place(metadata: &BTreeMap<String, Value>) -> Option<String> {
    let text =
        |key: &str| metadata.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("stack_trace").and_then(frame).or_else(|| text("nn_module_stack").and_then(module))
}

/// Returns the innermost frame outside of PyTorch's files, as `file:line`.
fn frame(trace: &str) -> Option<String> {
    let frames = trace.lines().filter_map(|line| {
        let rest = line.trim().strip_prefix("File \"")?;
        let (file, rest) = rest.split_once('"')?;
        let number = rest.strip_prefix(", line ")?.split(',').next()?;
        number.parse::<u32>().ok().map(|number| (file, number))
    });
    let mut own = frames.filter(|(file, _)| !file.contains("/site-packages/torch/"));
    own.next_back().map(|(file, number)| format!("{file}:{number}"))
}

/// Returns the path of the innermost module:
/// `L__self__,,__main__.Net;L__self__emb,emb,torch…Embedding`.
fn module(stack: &str) -> Option<String> {
    let inner = stack.rsplit(';').next()?;
    inner.split(',').nth(1).filter(|path| !path.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_only_torch_operators() {
        assert_eq!(target("torch.ops.aten.linear.default").unwrap().schema(), "linear");
        assert_eq!(target("torch.ops.npu.npu_rms_norm.default").unwrap().namespace, "npu");
        assert_eq!(target("_operator.getitem"), None);
        assert_eq!(target("torch.ops.higher_order.cond").unwrap().namespace, "higher_order");
    }

    #[test]
    fn replaces_python_number_literals() {
        let text = br#"{"Infinity": [NaN, -Infinity, "say \"NaN\"", Infinity]}"#.to_vec();
        let value: Value = serde_json::from_slice(&finite(text)).unwrap();
        assert_eq!(value, serde_json::json!({"Infinity": [0, -0.0, "say \"NaN\"", 0]}));
        assert_eq!(finite(b"\"open \\".to_vec()), b"\"open \\");
    }

    #[test]
    fn place_is_the_source_line_of_the_model() {
        let trace = "File \"/m/net.py\", line 17, in forward\n    x = s.emb(i)\n  File \"/v/site-packages/torch/nn/modules/sparse.py\", line 192, in forward\n    return F.embedding(";
        assert_eq!(frame(trace).as_deref(), Some("/m/net.py:17"));
        assert_eq!(
            module("L__self__,,__main__.Net;L__self__emb,emb,torch.nn.Embedding").as_deref(),
            Some("emb")
        );
        assert_eq!(frame("nonsense"), None);
    }
}
