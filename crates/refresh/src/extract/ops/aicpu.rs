//! `aicpu.tsv`: kernels that reach a CANN operator on AI CPU, the scalar cores of the device.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use anyhow::{Result, ensure};
use regex::Regex;

use super::{kernels_cpp, unnamed};
use crate::context::Context;
use crate::extract::Content;

/// CANN operator repositories. If two define an operator with the same name, the later one counts.
const SOURCES: [&str; 4] =
    ["hicann-ops-math", "hicann-ops-nn", "hicann-ops-cv", "hicann-ops-transformer"];
const FILES: &str = r"/op_api/[^/]*\.cpp$";

/// Operators that only convert tensors for another operator.
const PLUMBING: [&str; 13] = [
    "BroadcastTo",
    "Cast",
    "Contiguous",
    "Fill",
    "ReFormat",
    "Reshape",
    "SqueezeNd",
    "TransData",
    "TransDataSpecial",
    "Transpose",
    "UnsqueezeNd",
    "ViewCopy",
    "ZerosLike",
];
/// Operators that many functions call in addition to their main one. Their path on AI CPU is
/// irrelevant for the function.
const COMMON: [&str; 25] = [
    "Contiguous",
    "ViewCopy",
    "Cast",
    "Transpose",
    "Reshape",
    "TransData",
    "Fill",
    "ZerosLike",
    "OnesLike",
    "Tile",
    "Slice",
    "BroadcastTo",
    "Concat",
    "ConcatD",
    "Pad",
    "Expand",
    "ReFormat",
    "UnsqueezeNd",
    "SqueezeNd",
    "Select",
    "Mul",
    "Muls",
    "Adds",
    "Add",
    "Sub",
];
const DTYPES: [(&str, &str); 16] = [
    ("DT_FLOAT", "fp32"),
    ("DT_FLOAT16", "fp16"),
    ("DT_BF16", "bf16"),
    ("DT_DOUBLE", "fp64"),
    ("DT_INT8", "int8"),
    ("DT_INT16", "int16"),
    ("DT_INT32", "int32"),
    ("DT_INT64", "int64"),
    ("DT_UINT8", "uint8"),
    ("DT_UINT16", "uint16"),
    ("DT_UINT32", "uint32"),
    ("DT_UINT64", "uint64"),
    ("DT_BOOL", "bool"),
    ("DT_COMPLEX64", "complex64"),
    ("DT_COMPLEX128", "complex128"),
    ("DT_COMPLEX32", "complex32"),
];

/// An operator with a path on AI CPU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Operator {
    /// Whether it also has one on AI Core.
    core: bool,
    /// Lists of data types by the name of the list.
    lists: BTreeMap<String, Vec<String>>,
}

impl Operator {
    /// Returns the data types with a path on AI Core. There are lists for each chip, and only their
    /// names distinguish AI Core from AI CPU.
    fn core_types(&self) -> impl Iterator<Item = &String> {
        self.lists.iter().filter(|(name, _)| !name.contains("AICPU")).flat_map(|(_, types)| types)
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of sources")
}

/// Returns the operators that a file defines with a path on AI CPU.
fn operators(text: &str) -> Vec<(String, Operator)> {
    static LIST: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?s)(\w*(?:SUPPORT|DTYPE)\w*LIST\w*)\s*=\s*\{(.*?)\};"));
    static TYPE: LazyLock<Regex> = LazyLock::new(|| pattern(r"DT_\w+"));
    static FUNCTION: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?m)^(?:const )?aclTensor\s*\*\s*(\w+)\("));
    if !text.contains("ADD_TO_LAUNCHER_LIST_AICPU") {
        return Vec::new();
    }
    let mut operator =
        Operator { core: text.contains("ADD_TO_LAUNCHER_LIST_AICORE"), lists: BTreeMap::new() };
    for list in LIST.captures_iter(text) {
        let types: Vec<String> = TYPE
            .find_iter(&list[2])
            .map(|found| {
                let known = DTYPES.iter().find(|(name, _)| *name == found.as_str());
                known.map_or(found.as_str(), |(_, name)| name).to_owned()
            })
            .collect();
        if !types.is_empty() {
            operator.lists.insert(list[1].to_owned(), types);
        }
    }
    // Helpers of one of the two paths.
    let helper = |name: &str| {
        ["AiCpu", "AiCore", "AICPU", "AICORE", "Aicpu", "Aicore"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    let names = FUNCTION.captures_iter(text).map(|found| found[1].to_owned());
    names.filter(|name| !helper(name)).map(|name| (name, operator.clone())).collect()
}

/// Returns the aclnn functions in a file, and the operators that the file calls.
fn calls(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    static FUNCTION: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\b(aclnn[A-Z]\w*?)GetWorkspaceSize\s*\("));
    static CALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"l0op::(\w+)\s*\("));
    let all = |pattern: &Regex| {
        pattern.captures_iter(text).map(|found| found[1].to_owned()).collect::<BTreeSet<_>>()
    };
    (all(&FUNCTION), all(&CALL))
}

/// Returns the cell of an overload that calls the aclnn functions `functions`; `None` if AI Core
/// runs it for all data types, or if the sources are inconclusive.
fn cell(
    functions: &BTreeSet<String>,
    called: &BTreeMap<String, BTreeSet<String>>,
    operators: &BTreeMap<String, Operator>,
) -> Option<String> {
    let called: Vec<&BTreeSet<String>> =
        functions.iter().map(|name| called.get(name)).collect::<Option<_>>()?;
    let called: BTreeSet<&str> = called.into_iter().flatten().map(String::as_str).collect();
    let core: BTreeSet<&str> = called
        .iter()
        .copied()
        .filter(|name| !PLUMBING.contains(name) && !name.starts_with("Is"))
        .collect();
    let paths: BTreeSet<&str> = called
        .into_iter()
        .filter(|name| operators.contains_key(*name) && !COMMON.contains(name))
        .collect();
    // With several operators, another one may run on AI Core.
    let name = (core.len() == 1 && paths == core).then(|| core.into_iter().next())??;
    let operator = operators.get(name)?;
    if !operator.core {
        return Some("only".to_owned());
    }
    let types: BTreeSet<&str> = operator.core_types().map(String::as_str).collect();
    // An operator without fp32 support converts its input first.
    types.contains("fp32").then(|| types.into_iter().collect::<Vec<_>>().join(","))
}

/// Extracts `aicpu.tsv`.
pub(super) fn extract(context: &Context) -> Result<Content> {
    let mut known: BTreeMap<String, Operator> = BTreeMap::new();
    let mut called: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut places = Vec::new();
    for (at, source) in SOURCES.into_iter().enumerate() {
        let tree = context.tree(source)?;
        places.push(format!("source {at}: {}:**/op_api/*.cpp", tree.origin()));
        for path in tree.find(FILES)? {
            if path.starts_with("experimental") || path.contains("/tests/") {
                continue;
            }
            let text = String::from_utf8_lossy(&tree.bytes(path)?).into_owned();
            known.extend(operators(&text));
            if path.rsplit('/').next().is_some_and(|file| file.starts_with("aclnn_")) {
                let (functions, operators) = calls(&text);
                for function in functions {
                    called.entry(function).or_default().extend(operators.iter().cloned());
                }
            }
        }
    }
    ensure!(
        known.len() >= 150 && called.len() >= 700,
        "{} operators with a path on AI CPU and {} aclnn functions, expected 150 and 700",
        known.len(),
        called.len()
    );
    let rows = kernels_cpp::calls(context)?
        .iter()
        .filter_map(|(name, functions)| Some(vec![name.clone(), cell(functions, &called, &known)?]))
        .collect();
    let remarks = format!(
        "Overloads of aten whose kernel comes to one operator of CANN that runs on AI CPU, the scalar cores\n\
         of the device: always (only), or for data types that are not in the list.\n\
         {}\n\
         Columns: overload, only or the data types that AI Core has on some chip.",
        places.join("\n")
    );
    Ok(unnamed(&["overload", "types"], &remarks, rows).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "OP_TYPE_REGISTER(Erf);\nstatic const std::initializer_list<op::DataType> AICORE_DTYPE_SUPPORT_LIST = {\n    DataType::DT_FLOAT, DataType::DT_INT4};\nstatic const std::initializer_list<op::DataType> AICPU_DTYPE_SUPPORT_LIST = {DT_DOUBLE};\nconst aclTensor *ErfAiCpu(const aclTensor *x) {\n  ADD_TO_LAUNCHER_LIST_AICPU(Erf);\n  ADD_TO_LAUNCHER_LIST_AICORE(Erf);\n}\nconst aclTensor *Erf(const aclTensor *x) {\n";

    #[test]
    fn paths_of_operators_are_found() {
        let found: BTreeMap<String, Operator> = operators(FILE).into_iter().collect();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["Erf"]);
        let (functions, called) =
            calls("aclnnStatus aclnnErfGetWorkspaceSize(x) { l0op::Erf(x); l0op::Cast (x); }");
        let called = BTreeMap::from([("aclnnErf".to_owned(), called)]);
        assert_eq!(cell(&functions, &called, &found).as_deref(), Some("DT_INT4,fp32"));
        let mut only = found.clone();
        for operator in only.values_mut() {
            operator.core = false;
        }
        assert_eq!(cell(&functions, &called, &only).as_deref(), Some("only"));
        let other = BTreeSet::from(["aclnnOther".to_owned()]);
        assert_eq!(cell(&other, &called, &found), None);
        assert!(operators("const aclTensor *Add(x) {").is_empty());
    }
}
