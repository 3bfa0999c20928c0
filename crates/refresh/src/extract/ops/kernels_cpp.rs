//! `aclnn.tsv`, `host.tsv`: the aclnn functions that op-plugin kernels call, and the kernels that
//! compute on the host CPU.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

use super::columns::{self, Column};
use super::cpp::{self, Function, UNCONDITIONAL};
use super::registrations::Kernels;
use super::release::{numbers, order};
use super::{runs, unnamed};
use crate::context::Context;
use crate::extract::Content;
use crate::repository::Tree;

const SOURCE: &str = "op-plugin";
const FILES: &str = r"^op_plugin/ops/.*\.cpp$";

/// The oldest op-plugin branch whose kernels are read. Kernels that call aclnn were rare before it.
const FIRST_BRANCH: &str = "6.0.0";

/// Returns the registrations for the kernels of an op-plugin branch: those of the last release of
/// this line for the newest PyTorch. `None` if torch_npu has no such release.
fn registrations<'c>(columns: &'c [Column], branch: &str) -> Option<(&'c Column, &'c Kernels)> {
    let line = |name: &str| numbers(name).into_iter().take(2).collect::<Vec<_>>();
    // Betas, candidates and the main line are excluded.
    let released = columns.iter().filter(|column| order(&column.name).1 == order(branch).1);
    let same = released.filter(|column| line(&column.name) == line(branch));
    let found = same.filter_map(|column| Some((column, column.release()?)));
    found.max_by_key(|(column, _)| (numbers(&column.torch), order(&column.name)))
}

/// Functions by name, separately for kernels that call aclnn and for kernels that compile an
/// operator.
#[derive(Debug, Default)]
struct Sources {
    op_api: BTreeMap<String, Vec<Function>>,
    acl_op: BTreeMap<String, Vec<Function>>,
}

fn read(tree: &Tree<'_>) -> Result<Sources> {
    let mut sources = Sources::default();
    for path in tree.find(FILES)? {
        let target = if path.contains("/opapi/") {
            &mut sources.op_api
        } else if path.contains("/aclops/") {
            &mut sources.acl_op
        } else {
            continue;
        };
        let text = String::from_utf8_lossy(&tree.bytes(path)?).replace("\r\n", "\n");
        for (name, functions) in cpp::functions(&text) {
            target.entry(name).or_default().extend(functions);
        }
    }
    let (api, acl) = (sources.op_api.len(), sources.acl_op.len());
    ensure!(api >= 250 && acl >= 250, "{}: {api} and {acl} functions, expected 250", tree.origin());
    Ok(sources)
}

/// Returns the C++ function of an overload.
fn function_of(overload: &str) -> String {
    const OUTPUTS: [&str; 8] =
        ["out", "grad_input", "L", "eigenvalues", "result", "values", "dim_values", "X"];
    let (base, name) = overload.split_once('.').unwrap_or((overload, ""));
    let out = name.ends_with("out") || OUTPUTS.contains(&name) || name == "output";
    format!("{base}{}", if out { "_out" } else { "" })
}

/// The aclnn functions that each overload calls.
pub(super) type Calls = BTreeMap<String, BTreeSet<String>>;

/// Returns the functions that the code generator calls without C++, by overload.
fn generated(columns: &[Column]) -> BTreeMap<&str, &str> {
    let mut sorted: Vec<&Column> = columns.iter().collect();
    sorted.sort_by_cached_key(|column| (order(&column.name), numbers(&column.torch)));
    let mut found = BTreeMap::new();
    for kernels in sorted.into_iter().filter_map(Column::release) {
        for (name, kernel) in kernels {
            if let Some(exec) = kernel.exec.as_deref() {
                found.insert(name.as_str(), exec);
            }
        }
    }
    found
}

/// Returns the main-line column for the newest PyTorch version with a release or beta.
fn newest(columns: &[Column]) -> Option<&Kernels> {
    let published = columns.iter().filter(|column| column.release().is_some());
    let published = published.filter(|column| column.name != "master");
    let torch = published.max_by_key(|column| numbers(&column.torch))?.torch.as_str();
    let main = columns.iter().find(|column| column.torch == torch && column.name == "master");
    main?.release()
}

/// Returns the common stem of the variants of an operator (in place, with `out`).
fn stem(overload: &str) -> &str {
    overload.split('.').next().unwrap_or(overload).trim_end_matches('_')
}

/// Returns the calls of all main-line kernels.
pub(super) fn calls(context: &Context) -> Result<Arc<Calls>> {
    context.shared("aclnn calls", || {
        let columns = columns::read(context)?;
        let sources = read(&context.tree(SOURCE)?)?;
        let generated = generated(&columns.all);
        let mut calls = Calls::new();
        let kernels = newest(&columns.all).context("the main line registers no kernels")?;
        for (name, _) in kernels.iter().filter(|(_, kernel)| !kernel.custom && kernel.is_any()) {
            let mut found: BTreeSet<String> = BTreeSet::new();
            let own = generated.get(name.as_str()).filter(|exec| exec.starts_with("aclnn"));
            found.extend(own.map(|exec| (*exec).to_owned()));
            for function in sources.op_api.get(&function_of(name)).into_iter().flatten() {
                found.extend(function.aclnn.iter().cloned());
            }
            if found.is_empty() {
                let same = generated
                    .iter()
                    .filter(|(other, exec)| stem(other) == stem(name) && exec.starts_with("aclnn"));
                found.extend(same.map(|(_, exec)| (*exec).to_owned()));
            }
            if !found.is_empty() {
                calls.insert(name.clone(), found);
            }
        }
        Ok(calls)
    })
}

/// Extracts `aclnn.tsv`.
pub(super) fn aclnn(context: &Context) -> Result<Content> {
    let tree = context.tree(SOURCE)?;
    let rows = calls(context)?
        .iter()
        .map(|(name, found)| {
            vec![name.clone(), found.iter().map(String::as_str).collect::<Vec<_>>().join(" ")]
        })
        .collect();
    let remarks = format!(
        "The aclnn functions that the NPU kernel of an overload of aten calls.\n\
         source 0: {0}:op_plugin/ops\n\
         source 1: {0}:op_plugin/config/op_plugin_functions.yaml\n\
         Columns: overload, functions.",
        tree.origin()
    );
    Ok(unnamed(&["overload", "functions"], &remarks, rows).into())
}

/// Returns when the kernel of an overload computes on the host.
fn host_kind(name: &str, flags: &str, sources: &Sources) -> Option<&'static str> {
    let function = function_of(name);
    let conditions = |functions: &BTreeMap<String, Vec<Function>>| -> Vec<String> {
        functions.get(&function).into_iter().flatten().flat_map(|one| one.cpu.clone()).collect()
    };
    let kind = |conditions: &[String]| {
        let always = conditions.iter().all(|condition| condition == UNCONDITIONAL);
        if always { "always" } else { "sometimes" }
    };
    let (api, acl) = (conditions(&sources.op_api), conditions(&sources.acl_op));
    match (flags.contains('N'), flags.contains('L')) {
        (true, _) if !api.is_empty() => Some(kind(&api)),
        (true, _) if !acl.is_empty() => Some("legacy"),
        (false, true) if !acl.is_empty() => Some(kind(&acl)),
        _ => None,
    }
}

/// Extracts `host.tsv`.
pub(super) fn host(context: &Context) -> Result<Content> {
    let columns = columns::read(context)?;
    let mut branches = context.branches(SOURCE, r"^\d+\.\d+\.\d+$")?;
    branches.retain(|(branch, _)| order(branch) >= order(FIRST_BRANCH));
    branches.sort_by_cached_key(|(branch, _)| order(branch));
    let with_kernels = branches.iter().filter_map(|(branch, commit)| {
        let (column, kernels) = registrations(&columns.all, branch)?;
        Some((branch, commit, column, kernels))
    });
    let releases: Vec<(&String, &String, &Column, &Kernels)> = with_kernels.collect();
    ensure!(releases.len() >= 6, "{SOURCE}: {} releases, expected 6", releases.len());
    let mut found: BTreeMap<String, Vec<Option<&'static str>>> = BTreeMap::new();
    let mut places = Vec::new();
    for (at, (release, commit, column, kernels)) in releases.iter().enumerate() {
        let tree = context.branch(SOURCE, release, commit)?;
        let origin = tree.origin();
        places.push(format!(
            "source {at}: {origin}:op_plugin/ops (registrations of {} for {})",
            column.name, column.torch
        ));
        let sources = read(&tree)?;
        for (overload, kernel) in kernels.iter().filter(|(_, kernel)| !kernel.custom) {
            let flags = kernel.any().unwrap_or_default();
            if let Some(kind) = host_kind(overload, &flags, &sources) {
                found.entry(overload.clone()).or_insert_with(|| vec![None; releases.len()])[at] =
                    Some(kind);
            }
        }
    }
    let rows = found.into_iter().map(|(name, cells)| vec![name, runs::runs(&cells)]).collect();
    let releases: Vec<&str> = releases.iter().map(|(release, ..)| release.as_str()).collect();
    let remarks = format!(
        "Overloads of aten whose NPU kernel does its work, or a part of it, on the CPU of the host.\n\
         {}\n\
         Releases: {}\n\
         Columns: overload, runs FIRST-LAST:KIND of release numbers. Kinds: always; sometimes, under a\n\
         condition on dtype, shape or CANN; legacy, only where the aclnn function is missing in CANN, with\n\
         JIT compilation or with an internal format.",
        places.join("\n"),
        releases.join(" ")
    );
    Ok(unnamed(&["overload", "runs"], &remarks, rows).into())
}

#[cfg(test)]
mod tests {
    use super::super::columns::Origin;
    use super::*;

    #[test]
    fn branches_find_their_registrations() {
        let column = |torch: &str, name: &str| Column {
            torch: torch.to_owned(),
            name: name.to_owned(),
            day: String::new(),
            op_plugin: String::new(),
            origin: Origin::Release(Arc::default()),
        };
        let mut all = vec![
            column("2.4.0", "6.0.rc3"),
            column("2.4.0", "6.0.0"),
            column("2.4.0", "6.0.0.1"),
            column("2.9.0", "26.1.0"),
            column("2.10.0", "26.1.0"),
            column("2.10.0", "branch:26.1.0"),
            column("2.13.0", "26.2.0-beta.1"),
            column("2.13.0", "master"),
        ];
        let mut wheel = column("2.10.0", "26.1.0");
        wheel.origin = Origin::Dispatcher;
        all.push(wheel);
        let found = |branch: &str| {
            registrations(&all, branch)
                .map(|(column, _)| format!("{} {}", column.torch, column.name))
        };
        assert_eq!(found("6.0.0").as_deref(), Some("2.4.0 6.0.0.1"));
        assert_eq!(found("26.1.0").as_deref(), Some("2.10.0 branch:26.1.0"));
        assert_eq!(found("26.2.0"), None);
    }

    #[test]
    fn kinds_follow_the_path_that_runs() {
        let on_cpu = |condition: &str| {
            let cpu = vec![condition.to_owned()];
            BTreeMap::from([("sort_out".to_owned(), vec![Function { cpu, ..Function::default() }])])
        };
        let api = Sources { op_api: on_cpu("if (x)"), acl_op: on_cpu(UNCONDITIONAL) };
        assert_eq!(host_kind("sort.values_out", "NL", &api), Some("sometimes"));
        assert_eq!(host_kind("sort.values_out", "L", &api), Some("always"));
        let acl = Sources { acl_op: on_cpu(UNCONDITIONAL), ..Sources::default() };
        assert_eq!(host_kind("sort.out", "NL", &acl), Some("legacy"));
        assert_eq!(host_kind("sort.out", "T", &acl), None);
        assert_eq!(host_kind("sort", "NL", &acl), None);
    }
}
