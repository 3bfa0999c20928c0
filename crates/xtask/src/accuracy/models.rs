//! `audit-ops` on model files whose operators were listed by PyTorch or ONNX.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use super::measurement::Measurement;
use super::probe::Probe;

/// Kinds of models: the measurement, and the start of `kind` in the ground truth.
const KINDS: [(Kind, &str, &str); 4] = [
    (Kind::Script, "operators of TorchScript", "torchscript"),
    (Kind::Export, "operators of torch.export", "torch.export"),
    (Kind::Onnx, "operators of ONNX", "onnx"),
    (Kind::Trace, "operators of traces", "chrome-trace"),
];

/// Operators of TorchScript that run on numbers, strings and lists, or only read the shape of a
/// tensor. No device executes them, so the program does not list them.
const HOST: [&str; 21] = [
    "aten::Int.Tensor",
    "aten::__contains__.int_list",
    "aten::__getitem__.t",
    "aten::__is__",
    "aten::__isnot__",
    "aten::__not__",
    "aten::add.int",
    "aten::dim",
    "aten::eq.int",
    "aten::eq.int_list",
    "aten::eq.str",
    "aten::format",
    "aten::gt.int",
    "aten::len.t",
    "aten::list.t",
    "aten::mul.int",
    "aten::ne.int",
    "aten::ne.int_list",
    "aten::size",
    "aten::sub.int",
    "aten::warn",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Script,
    Export,
    Onnx,
    Trace,
}

/// The files of one model.
#[derive(Debug, Deserialize)]
struct Model {
    files: BTreeMap<String, Truth>,
}

/// The content of one file.
#[derive(Debug, Deserialize)]
pub(super) struct Truth {
    kind: String,
    /// Operators with their number of uses; absent for weight files.
    ops: Option<BTreeMap<String, u64>>,
}

type Counts = BTreeMap<String, u64>;

/// Measures how many files have exactly the listed operators, one measurement for each kind.
pub(super) fn measure(probe: &Probe, dir: &Path) -> Result<Vec<Measurement>> {
    let mut files: Vec<(Kind, String, Counts)> = Vec::new();
    for name in super::file_names(dir)? {
        if !name.starts_with("ground_truth") {
            continue;
        }
        let truth: BTreeMap<String, Model> = super::read_json(&dir.join(&name))?;
        for (file, truth) in truth.into_values().flat_map(|model| model.files) {
            let Some(ops) = truth.ops else { continue };
            let kind = KINDS.iter().find(|(_, _, start)| truth.kind.starts_with(start));
            let Some((kind, ..)) = kind else { bail!("`{name}`: unknown kind `{}`", truth.kind) };
            let mut wanted = expected(*kind, &ops);
            if *kind == Kind::Trace {
                let outermost = outermost(&super::read_json(&dir.join(&file))?);
                wanted.retain(|name, _| outermost.contains(name));
            }
            files.push((*kind, file, wanted));
        }
    }
    ensure!(!files.is_empty(), "no ground truth of operators in `{}`", dir.display());
    let misses: Vec<_> = files
        .par_iter()
        .map(|(kind, file, wanted)| {
            let found = operators(probe, *kind, &dir.join(file))?;
            Ok(match found {
                Ok(found) => differences(*kind, wanted, &found),
                Err(error) => Some(error),
            }
            .map(|why| format!("{file}: {why}")))
        })
        .collect::<Result<_>>()?;
    Ok(KINDS
        .iter()
        .map(|(kind, name, _)| {
            let of_kind = files.iter().zip(&misses).filter(|((other, ..), _)| other == kind);
            Measurement::of(name, of_kind.map(|(_, miss)| miss.clone()))
        })
        .collect())
}

/// Returns the operators by the names that the program uses.
pub(super) fn expected(kind: Kind, ops: &Counts) -> Counts {
    let mut counts = Counts::new();
    for (name, count) in ops {
        // Python built-ins (`<built-in function getitem>`) are not operators.
        if name.starts_with('<') {
            continue;
        }
        let name = match kind {
            Kind::Script if HOST.contains(&name.as_str()) || name.starts_with("prim::") => continue,
            // TorchScript does not name overloads.
            Kind::Script => name.split('.').next().unwrap_or(name).to_owned(),
            _ if name.starts_with("with_effects") => format!("higher_order::{name}"),
            _ => name.clone(),
        };
        *counts.entry(name).or_default() += count;
    }
    counts
}

/// An event of a trace.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Event {
    name: String,
    cat: String,
    tid: Value,
    ts: f64,
    dur: f64,
}

/// Returns the operators of a trace that were called outside of any other operator at least once.
/// The program lists only these, while PyTorch's summary lists all.
pub(super) fn outermost(trace: &Value) -> BTreeSet<String> {
    let events = trace["traceEvents"].as_array().into_iter().flatten();
    let mut operators: Vec<Event> = events
        .filter_map(|event| Event::deserialize(event).ok())
        .filter(|event| event.cat == "cpu_op")
        .collect();
    operators.sort_by(|one, other| one.ts.total_cmp(&other.ts).then(other.dur.total_cmp(&one.dur)));
    // The end of the last outermost operator of each thread.
    let mut ends: BTreeMap<String, f64> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for event in operators {
        let end = ends.entry(event.tid.to_string()).or_insert(f64::NEG_INFINITY);
        if event.ts >= *end {
            *end = event.ts + event.dur;
            names.insert(event.name);
        }
    }
    names
}

/// Returns the operators that the program lists for a file.
fn operators(probe: &Probe, kind: Kind, path: &Path) -> Result<Result<Counts, String>> {
    super::ensure_readable(path)?;
    let path = path.to_str().context("the path of a model is not UTF-8")?;
    let report = probe.json(&["audit-ops", path, "--json", "--fail-on", "never"])?;
    Ok(report.and_then(|report| {
        listed(kind, &report).ok_or_else(|| "the report lists no operators".to_owned())
    }))
}

/// Returns the operators of a report on one file.
pub(super) fn listed(kind: Kind, report: &Value) -> Option<Counts> {
    let mut counts = Counts::new();
    let [input] = report["inputs"].as_array()?.as_slice() else { return None };
    for row in input["operators"].as_array()? {
        let name = row["op"].as_str()?;
        // The ground truth of ONNX has no prefix.
        let name = if kind == Kind::Onnx { name.trim_start_matches("onnx::") } else { name };
        *counts.entry(name.to_owned()).or_default() += row["count"].as_u64()?;
    }
    Some(counts)
}

/// Describes the first differences; `None` if there are none.
pub(super) fn differences(kind: Kind, wanted: &Counts, found: &Counts) -> Option<String> {
    let names: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
    let wrong: Vec<String> = names
        .into_iter()
        .filter_map(|name| {
            let (is, should) = (found.get(name), wanted.get(name));
            let equal = match kind {
                // The program counts an operator within one of the same name once. PyTorch's
                // summary does so only if it is the only operator within it.
                Kind::Trace => is.is_some() && is <= should,
                _ => is == should,
            };
            (!equal).then(|| {
                let number = |count: Option<&u64>| count.copied().unwrap_or_default();
                format!("{name}: {} uses, expected {}", number(is), number(should))
            })
        })
        .collect();
    let first = wrong.iter().take(3).cloned().collect::<Vec<_>>().join("; ");
    (!wrong.is_empty()).then(|| format!("{} operators differ: {first}", wrong.len()))
}
