//! `onnx.tsv`: the ONNX operators that CANN maps to its operators.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::unnamed;
use crate::context::Context;
use crate::extract::Content;
use crate::refresh::own_table;

const SOURCES: [&str; 3] = ["hicann-ops-math", "hicann-ops-nn", "hicann-ops-cv"];
const FILES: &str = r"onnx_plugin.*\.(cpp|cc)$";
const MAP: &str = "ops/recorded/onnx_map.tsv";
/// Columns of the table. The column `from` names the kind of source.
pub(super) const COLUMNS: [&str; 6] = ["operator", "opsets", "cann", "from", "processors", "aicpu"];

/// The mapping of one operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Mapping {
    opsets: BTreeSet<u32>,
    cann: BTreeSet<String>,
}

/// Adds the operators that a plug-in registers:
/// `REGISTER_CUSTOM_OP("Abs")…OriginOpType({"ai.onnx::8::Abs"})`.
fn plugin(text: &str, found: &mut BTreeMap<String, Mapping>) -> Result<()> {
    let registration = Regex::new(r#"(?s)REGISTER_CUSTOM_OP\("(\w+)"\)(.*?);"#)?;
    let origin = Regex::new(r"([\w.]+)::(\d+)::(\w+)")?;
    for registered in registration.captures_iter(text) {
        for origin in origin.captures_iter(&registered[2]) {
            let name = format!("{}::{}", &origin[1], &origin[3]);
            let mapping = found.entry(name).or_default();
            mapping.cann.insert(registered[1].to_owned());
            mapping.opsets.insert(origin[2].parse().context("number of an opset")?);
        }
    }
    Ok(())
}

/// Parses the first and last number of a cell such as `8-18`.
fn span(cell: &str) -> Option<(u32, u32)> {
    let (low, high) = cell.split_once('-')?;
    Some((low.parse().ok()?, high.parse().ok()?))
}

/// Extracts `onnx.tsv`.
pub(super) fn extract(context: &Context) -> Result<Content> {
    let mut plugins: BTreeMap<String, Mapping> = BTreeMap::new();
    let mut places = Vec::new();
    for (at, source) in SOURCES.into_iter().enumerate() {
        let tree = context.tree(source)?;
        places.push(format!("source {at}: {}:**/*onnx_plugin*", tree.origin()));
        let before = plugins.len();
        for path in tree.find(FILES)? {
            plugin(&String::from_utf8_lossy(&tree.bytes(path)?), &mut plugins)
                .with_context(|| tree.place(path))?;
        }
        ensure!(plugins.len() > before, "the plug-ins of {} register nothing", tree.origin());
    }
    let map = own_table(context, MAP, &["operator", "opsets", "cann", "processors", "aicpu"])?;
    let mut mapped: BTreeMap<&str, &[String]> = BTreeMap::new();
    for row in &map.rows {
        mapped.insert(&row[0], row);
    }
    let names: BTreeSet<&str> =
        plugins.keys().map(String::as_str).chain(mapped.keys().copied()).collect();
    let mut rows = Vec::new();
    for name in names {
        let (plugin, map) = (plugins.get(name), mapped.get(name));
        let ends =
            plugin.and_then(|plugin| Some((*plugin.opsets.first()?, *plugin.opsets.last()?)));
        let stated = match map {
            Some(row) => {
                Some(span(&row[1]).with_context(|| format!("{MAP}: {name}: `{}`", row[1]))?)
            }
            None => None,
        };
        let spans = || ends.iter().chain(&stated);
        let (Some(low), Some(high)) =
            (spans().map(|span| span.0).min(), spans().map(|span| span.1).max())
        else {
            continue;
        };
        let cann = match (map, plugin) {
            (Some(row), _) => row[2].clone(),
            (None, Some(plugin)) => {
                plugin.cann.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            (None, None) => String::new(),
        };
        let stated = |column: usize| map.map_or("-", |row| row[column].as_str()).to_owned();
        rows.push(vec![
            name.strip_prefix("ai.onnx::").unwrap_or(name).to_owned(),
            format!("{low}-{high}"),
            if cann.is_empty() { "-".to_owned() } else { cann },
            if plugin.is_some() { "plugin" } else { "map" }.to_owned(),
            stated(3),
            stated(4),
        ]);
    }
    rows.sort();
    let remarks = format!(
        "Operators of ONNX that the parser of CANN (ATC, and the CANN execution provider of onnxruntime)\n\
         maps to an operator of its own: from the plug-ins of the operator repositories (plugin), from the\n\
         table of the msit analyser (map), and in the parser itself (parser).\n\
         {}\n\
         source {}: {MAP}\n\
         Columns: operator, opsets, CANN operators, source, processors, aicpu where an AI CPU kernel is named.",
        places.join("\n"),
        places.len()
    );
    Ok(unnamed(&COLUMNS, &remarks, rows).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrations_of_plugins_are_read() {
        let text = "REGISTER_CUSTOM_OP(\"PartitionedCall\")\n  .FrameworkType(ONNX)\n  .OriginOpType({ge::AscendString(\"ai.onnx::8::Celu\"),\n    ge::AscendString(\"ai.onnx::18::Celu\")})\n  .ImplyType(ImplyType::TVM);\nREGISTER_CUSTOM_OP(\"NPUX\").OriginOpType(\"npu::1::NPUX\");";
        let mut found = BTreeMap::new();
        plugin(text, &mut found).unwrap();
        let celu = &found["ai.onnx::Celu"];
        assert_eq!((celu.opsets.first(), celu.opsets.last()), (Some(&8), Some(&18)));
        assert!(found.contains_key("npu::NPUX"));
        assert_eq!(span("8-18"), Some((8, 18)));
        assert_eq!(span("8"), None);
    }
}
