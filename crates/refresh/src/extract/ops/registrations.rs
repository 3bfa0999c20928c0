//! The registration files of torch_npu and op-plugin: the overloads with an NPU kernel.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, anyhow, ensure};
use audit::ops::installed::yaml::{self, Node, Value};

use crate::repository::Tree;

/// Kernels by overload name.
pub(super) type Kernels = BTreeMap<String, Kernel>;

/// How a kernel reaches the device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kernel {
    /// N: calls aclnn. L: compiles an operator of the graph engine. T: is part of torch_npu itself.
    /// Q: supports only quantized tensors.
    flags: BTreeSet<char>,
    /// Whether it is an operator of torch_npu instead of PyTorch.
    pub(super) custom: bool,
    section: String,
    /// The aclnn function that the code generator calls.
    pub(super) exec: Option<String>,
}

impl Kernel {
    /// Returns the flags `NLT` if there is a kernel for dense tensors.
    pub(super) fn dense(&self) -> Option<String> {
        if self.flags.contains(&'Q') { None } else { self.any() }
    }

    /// Returns whether it is a kernel for tensors of any kind.
    pub(super) fn is_any(&self) -> bool {
        !self.flags.is_empty()
    }

    /// Returns the flags `NLT` for tensors of any kind.
    pub(super) fn any(&self) -> Option<String> {
        let flags: String = "NLT".chars().filter(|flag| self.flags.contains(flag)).collect();
        (!flags.is_empty()).then_some(flags)
    }
}

/// Returns the sections of a registration file in order, with their entries.
fn sections(text: &str) -> Result<Vec<(String, Node)>> {
    let root = yaml::read(text).map_err(|error| anyhow!(error))?.context("the file is empty")?;
    let root = root.map().map_err(|error| anyhow!(error))?;
    let mut sections: Vec<(String, Node)> = root.into_iter().collect();
    sections.sort_by_key(|(_, node)| node.place);
    Ok(sections)
}

/// Parses an entry: its schema and its fields.
fn entry(node: Node) -> Result<(String, BTreeMap<String, Node>)> {
    let place = node.place;
    match node.value {
        Value::Text(schema, _) => Ok((schema, BTreeMap::new())),
        Value::Map(mut fields) => {
            let schema = fields.remove("func").map(Node::text);
            let schema = schema.with_context(|| place.fail("missing field `func`"))?;
            Ok((schema.map_err(|error| anyhow!(error))?, fields))
        }
        _ => Err(anyhow!(place.fail("an entry is a name, or a map with `func`"))),
    }
}

fn name_of(schema: &str) -> String {
    schema.split('(').next().unwrap_or(schema).trim().to_owned()
}

fn texts(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::Text(text, _) => text.split(',').map(str::trim).collect(),
        Value::List(all) => all.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a field contains a version: `all_version`, `[v2.1, newest]` (a range), `[v2.1]`,
/// `v2.1, v2.2`.
fn names_version(field: Option<&Node>, version: &str, all: &[String]) -> bool {
    let Some(field) = field else { return false };
    let words = texts(field);
    match (&field.value, words.as_slice()) {
        (_, ["all_version" | "True" | "true"]) => all.iter().any(|known| known == version),
        (Value::List(_), [first, last]) => {
            let position = |wanted: &str| all.iter().position(|known| known == wanted);
            let end = all.len().saturating_sub(1);
            let last = if *last == "newest" { end } else { position(last).unwrap_or(end) };
            let wanted = position(version);
            wanted.is_some_and(|at| (position(first).unwrap_or(0)..=last).contains(&at))
        }
        (_, words) => words.contains(&version),
    }
}

fn is_set(field: Option<&Node>) -> bool {
    field.is_some_and(|node| match &node.value {
        Value::Null => false,
        Value::Text(text, _) => !matches!(text.as_str(), "" | "False" | "false"),
        Value::List(all) => !all.is_empty(),
        Value::Map(all) => !all.is_empty(),
    })
}

/// Returns the versions listed in an op-plugin file for all versions.
pub(super) fn versions_of(text: &str) -> Result<Vec<String>> {
    let all = sections(text)?;
    let versions = all.iter().find(|(name, _)| name == "all_version");
    Ok(versions
        .map(|(_, node)| texts(node).into_iter().map(str::to_owned).collect())
        .unwrap_or_default())
}

/// Returns the op-plugin registrations for a PyTorch version (`v2.7`), from a file for all versions
/// (`every`) or for only this version.
pub(super) fn op_plugin(text: &str, version: &str, every: bool) -> Result<Kernels> {
    let all = if every { versions_of(text)? } else { Vec::new() };
    let mut kernels = Kernels::new();
    for (section, node) in sections(text)? {
        // These sections list operators that the vendor runs on the CPU or does not support.
        let no_kernels = ["all_version", "tocpu", "unsupported"].contains(&section.as_str());
        let quantized_later = section == "quant" && ["v1.11", "v2.0", "v2.1"].contains(&version);
        let Value::List(list) = node.value else { continue };
        if no_kernels || quantized_later {
            continue;
        }
        for node in list {
            let (schema, fields) = entry(node)?;
            let mut flags = BTreeSet::new();
            if every {
                for (field, flag) in [("acl_op", 'L'), ("op_api", 'N'), ("sparse", 'S')] {
                    if names_version(fields.get(field), version, &all) {
                        flags.insert(flag);
                    }
                }
                if flags.is_empty() {
                    continue;
                }
            } else {
                let namespaces = fields.get("impl_ns").map_or_else(|| vec!["acl_op"], texts);
                if namespaces.contains(&"acl_op") {
                    flags.insert('L');
                }
                if namespaces.contains(&"op_api") || is_set(fields.get("op_api")) {
                    flags.insert('N');
                }
            }
            let exec = fields.get("gen_opapi").and_then(|node| match &node.value {
                Value::Map(fields) => fields
                    .get("exec")
                    .and_then(|exec| texts(exec).first().map(|&name| name.to_owned())),
                _ => None,
            });
            let custom = section == "custom" || section == "custom_autograd";
            let name = name_of(&schema);
            let found = Kernel { flags, custom, section: section.clone(), exec };
            match kernels.get_mut(&name) {
                Some(known) if known.section != section => {
                    known.flags.extend(&found.flags);
                    if found.exec.is_some() {
                        known.exec = found.exec;
                    }
                }
                _ => drop(kernels.insert(name, found)),
            }
        }
    }
    Ok(kernels)
}

/// Returns the registrations of torch_npu itself.
pub(super) fn torch_npu(text: &str) -> Result<Kernels> {
    let mut sections: BTreeMap<String, Node> = sections(text)?.into_iter().collect();
    let mut kernels = Kernels::new();
    for section in ["supported", "custom", "symint", "quant", "autograd", "custom_autograd"] {
        let Some(node) = sections.remove(section).and_then(Node::there) else { continue };
        for node in node.list().map_err(|error| anyhow!(error))? {
            let (schema, fields) = entry(node)?;
            let mut flags = BTreeSet::from(['T']);
            if is_set(fields.get("op_api")) {
                flags.insert('N');
            }
            let custom = section == "custom" || section == "custom_autograd";
            let found = Kernel { flags, custom, section: section.to_owned(), exec: None };
            kernels.insert(name_of(&schema), found);
        }
    }
    Ok(kernels)
}

/// Merges the registrations of torch_npu and op-plugin.
pub(super) fn merge(own: Kernels, op_plugin: Kernels) -> Kernels {
    let mut merged = Kernels::new();
    for (name, kernel) in own.into_iter().chain(op_plugin) {
        let quantized = kernel.section == "quant";
        let known = merged.entry(name).or_insert_with(|| Kernel {
            custom: kernel.custom,
            section: kernel.section.clone(),
            ..Kernel::default()
        });
        known.flags.extend(&kernel.flags);
        if quantized {
            known.flags.insert('Q');
        }
        if kernel.section == "custom" {
            known.custom = true;
        }
        if kernel.exec.is_some() {
            known.exec = kernel.exec;
        }
    }
    merged
}

/// Returns the op-plugin file for a PyTorch version, and whether it covers all versions.
pub(super) fn file_of(tree: &Tree<'_>, version: &str) -> Result<(String, bool)> {
    const EVERY: &str = "op_plugin/config/op_plugin_functions.yaml";
    if tree.has(EVERY)? {
        let first = tree.text(EVERY)?;
        // The list of versions is one line, so the complete file need not be parsed.
        let line = first.lines().find_map(|line| line.strip_prefix("all_version:"));
        let listed = line.map(|line| {
            line.trim().trim_matches(['[', ']']).split(',').any(|word| word.trim() == version)
        });
        if listed == Some(true) {
            return Ok((EVERY.to_owned(), true));
        }
    }
    let number = version.trim_start_matches('v');
    let (major, minor) = number.split_once('.').context("a version has two parts")?;
    let path = format!("op_plugin/config/v{major}r{minor}/op_plugin_functions.yaml");
    ensure!(
        tree.has(&path)?,
        "{} registers nothing for PyTorch {number}: no {path}, and {EVERY} does not list it",
        tree.origin()
    );
    Ok((path, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kernels: &Kernels) -> Vec<String> {
        kernels
            .iter()
            .map(|(name, kernel)| {
                let kind = if kernel.custom { "npu" } else { "aten" };
                format!("{kind}:{name}:{}", kernel.dense().unwrap_or_default())
            })
            .collect()
    }

    #[test]
    fn versions_are_named_in_four_ways() {
        let text = "all_version: [v2.1, v2.2, v2.3]\nofficial:\n  - func: a(Tensor x) -> Tensor\n    acl_op: all_version\n    op_api: [v2.2, newest]\n  - func: b.out(Tensor x) -> Tensor\n    op_api: v2.1, v2.3\n  - func: c(Tensor x) -> Tensor\n    op_api: [v2.3]\n  - func: d(Tensor x) -> Tensor\n    sparse: all_version\ncustom:\n  - func: npu_x(Tensor x) -> Tensor\n    op_api: [v2.1, v2.2]\n    gen_opapi:\n      exec: aclnnX, x\nsymint:\n  - func: npu_x(Tensor x) -> Tensor\n    acl_op: all_version\ntocpu:\n  - e\n";
        assert_eq!(versions_of(text).unwrap(), ["v2.1", "v2.2", "v2.3"]);
        let first = op_plugin(text, "v2.1", true).unwrap();
        assert_eq!(shown(&first), ["aten:a:L", "aten:b.out:N", "aten:d:", "npu:npu_x:NL"]);
        assert_eq!(first["npu_x"].exec.as_deref(), Some("aclnnX"));
        let last = op_plugin(text, "v2.3", true).unwrap();
        assert_eq!(
            shown(&last),
            ["aten:a:NL", "aten:b.out:N", "aten:c:N", "aten:d:", "aten:npu_x:L"]
        );
    }

    #[test]
    fn older_files_name_the_implementation() {
        let text = "official:\n  - func: a(Tensor x) -> Tensor\n    impl_ns: acl_op, op_api\n  - b(Tensor x) -> Tensor\n  - func: c(Tensor x) -> Tensor\n    impl_ns: op_api\nquant:\n  - func: q(Tensor x) -> Tensor\n";
        let found = op_plugin(text, "v1.11", false).unwrap();
        assert_eq!(shown(&found), ["aten:a:NL", "aten:b:L", "aten:c:N"]);
        let later = merge(Kernels::new(), op_plugin(text, "v2.2", false).unwrap());
        assert_eq!(shown(&later), ["aten:a:NL", "aten:b:L", "aten:c:N", "aten:q:"]);
    }

    #[test]
    fn own_kernels_are_merged() {
        let own = "backend: NPU\nsupported:\n  - as_strided\n  - func: clone\n    op_api: True\ncustom:\n  - func: my_op(Tensor self) -> Tensor\n";
        let other = "custom:\n  - func: as_strided(Tensor x) -> Tensor\n    impl_ns: op_api\n";
        let merged = merge(torch_npu(own).unwrap(), op_plugin(other, "v2.2", false).unwrap());
        assert_eq!(shown(&merged), ["npu:as_strided:NT", "aten:clone:NT", "npu:my_op:T"]);
    }

    #[test]
    fn other_formats_are_errors() {
        assert!(torch_npu("supported: 3\n").is_err());
        assert!(op_plugin("official:\n  - x: y\n", "v2.1", false).is_err());
        assert!(op_plugin("", "v2.1", true).is_err());
    }
}
