//! `tables.tsv`, `kernels.tsv`, `custom.tsv`: the kernels of each release and wheel.
//!
//! Releases are read from the registration files in the sources. A wheel with a recorded dispatcher
//! has the recorded kernels. Every other final wheel of the index is read from its registration
//! files, unless it is built from a release.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

use super::recorded::{self, Recording};
use super::registrations::{self, Kernels};
use super::release::{self, numbers, order};
use super::wheel_files::{self, Wheel};
use super::{KERNEL_COLUMNS, TABLE_COLUMNS, native, runs, unnamed};
use crate::context::Context;
use crate::extract::Content;

const OP_PLUGIN: &str = "op-plugin";
const COMPATIBILITY: &str = "COMPATIBILITY.md";
pub(super) const TABLES: &str = "ops/tables.tsv";
pub(super) const KERNELS: &str = "ops/kernels.tsv";
pub(super) const CUSTOM: &str = "ops/custom.tsv";
const OWN: &str = "torch_npu/csrc/aten/npu_native_functions.yaml";

/// All columns, and the kernels in each of them.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) all: Vec<Column>,
    recording: Recording,
    /// Rows of the compatibility table: release and PyTorch version, wheel, CANN version.
    compatibility: Vec<Pairing>,
    /// `OWNER/NAME@COMMIT` of torch_npu and op-plugin at the head of their default branches.
    origins: [String; 2],
}

/// One release or wheel.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) torch: String,
    pub(super) name: String,
    pub(super) day: String,
    /// op-plugin commit.
    pub(super) op_plugin: String,
    pub(super) origin: Origin,
}

/// The source of the kernels of a column.
#[derive(Debug)]
pub(super) enum Origin {
    /// The registration files in the sources of a release.
    Release(Arc<Kernels>),
    /// The recorded dispatcher of a wheel.
    Dispatcher,
    /// The registration files in a wheel.
    Files(Box<Wheel>),
}

impl Column {
    /// Returns the registrations of a release; `None` for a wheel.
    pub(super) fn release(&self) -> Option<&Kernels> {
        match &self.origin {
            Origin::Release(kernels) => Some(kernels),
            _ => None,
        }
    }

    fn of_wheel(torch: String, name: String, day: String, origin: Origin) -> Self {
        Self { torch, name, day, op_plugin: String::new(), origin }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Pairing {
    wheel: String,
    torch: String,
    release: String,
    cann: String,
}

/// Reads all releases and the recording, once.
pub(super) fn read(context: &Context) -> Result<Arc<Columns>> {
    context.shared("operator columns", || {
        let op_plugin = context.repository(OP_PLUGIN)?;
        let head = context.tree(OP_PLUGIN)?;
        let main_line = |master: &crate::repository::Tree<'_>| {
            let tree = op_plugin.tree("master", &master.submodule("third_party/op-plugin")?)?;
            let text = tree.text("op_plugin/config/op_plugin_functions.yaml")?;
            let versions = registrations::versions_of(&text)?;
            Ok(versions
                .into_iter()
                .map(|version| version.trim_start_matches('v').to_owned())
                .collect())
        };
        let mut all = Vec::new();
        for release in release::all(context, main_line)? {
            let commit = release.tree.submodule("third_party/op-plugin")?;
            let tree = op_plugin.tree(&release.name, &commit)?;
            let version: Vec<String> =
                numbers(&release.torch).iter().take(2).map(u32::to_string).collect();
            let version = format!("v{}", version.join("."));
            let (path, every) = registrations::file_of(&tree, &version)?;
            let found = registrations::op_plugin(&tree.text(&path)?, &version, every)
                .with_context(|| tree.place(&path))?;
            ensure!(
                found.len() >= 500,
                "{} registers {} kernels for {version}, expected 500",
                tree.place(&path),
                found.len()
            );
            let own = if release.tree.has(OWN)? {
                registrations::torch_npu(&release.tree.text(OWN)?)
                    .with_context(|| release.tree.place(OWN))?
            } else {
                Kernels::new()
            };
            all.push(Column {
                day: context.repository(release::SOURCE)?.day(&release.tree.commit)?,
                op_plugin: commit,
                origin: Origin::Release(Arc::new(registrations::merge(own, found))),
                torch: release.torch,
                name: release.name,
            });
        }
        let master = context.tree(release::SOURCE)?;
        let compatibility = compatibility(&master.text(COMPATIBILITY)?);
        ensure!(
            compatibility.len() >= 59,
            "{} has {} rows, expected 59",
            master.place(COMPATIBILITY),
            compatibility.len()
        );
        let recording = recorded::read(context)?;
        let released = compatibility.iter().filter(|row| {
            all.iter().any(|column| column.torch == row.torch && column.name == row.release)
        });
        let mut known: BTreeSet<&str> = released.map(|row| row.wheel.as_str()).collect();
        known.extend(recording.wheels.iter().map(String::as_str));
        let versions = native::versions(context)?;
        let mut wheels = Vec::new();
        for wheel in &recording.wheels {
            let torch = recorded::torch_of(wheel);
            wheels.push(Column::of_wheel(torch, wheel.clone(), String::new(), Origin::Dispatcher));
        }
        for wheel in wheel_files::all(context, &known)? {
            let (name, day) = (wheel.version.clone(), wheel.day.clone());
            let torch = native::overloads_of(&versions, &recorded::torch_of(&name));
            let torch = torch.with_context(|| format!("{name}: no overloads of its PyTorch"))?;
            wheels.push(Column::of_wheel(torch, name, day, Origin::Files(Box::new(wheel))));
        }
        // After the releases for the same PyTorch version.
        let place = |column: &Column| {
            let release = column.release().is_some();
            let name = if release { Vec::new() } else { numbers(&column.name) };
            (numbers(&column.torch), !release, name)
        };
        all.extend(wheels);
        all.sort_by_cached_key(place);
        Ok(Columns { all, recording, compatibility, origins: [master.origin(), head.origin()] })
    })
}

/// Returns the rows of the tables that list wheel, branch, PyTorch and CANN.
fn compatibility(text: &str) -> Vec<Pairing> {
    let mut found = Vec::new();
    let mut columns: Option<[usize; 3]> = None;
    for line in text.lines() {
        let Some(row) = line.trim().strip_prefix('|') else {
            columns = None;
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let position = |words: &[&str]| {
            cells.iter().position(|cell| words.iter().any(|word| cell.contains(word)))
        };
        let heads = (
            position(&["安装包版本", "Extension版本"]),
            position(&["分支"]),
            position(&["CANN版本"]),
        );
        if let (Some(wheel), Some(branch), Some(cann)) = heads {
            columns = Some([wheel, branch, cann]);
            continue;
        }
        let Some(columns) = columns else { continue };
        let [Some(wheel), Some(branch), Some(cann)] = columns.map(|at| cells.get(at)) else {
            continue;
        };
        let Some((torch, release)) = branch.strip_prefix('v').and_then(|name| name.split_once('-'))
        else {
            continue;
        };
        if wheel.starts_with(|c: char| c.is_ascii_digit()) {
            found.push(Pairing {
                wheel: (*wheel).to_owned(),
                torch: torch.to_owned(),
                release: release.to_owned(),
                cann: cann.trim_start_matches("CANN").trim().to_owned(),
            });
        }
    }
    found
}

fn sources(columns: &Columns) -> String {
    let [torch_npu, op_plugin] = &columns.origins;
    format!(
        "source 0: {torch_npu}:{OWN}\n\
         source 1: {op_plugin}:op_plugin/config/op_plugin_functions.yaml\n\
         source 2: ops/recorded/wheel_dispatch.tsv\n\
         source 3: wheels of torch_npu:{}",
        wheel_files::MEMBERS
    )
}

fn words(values: BTreeSet<&str>) -> String {
    if values.is_empty() { "-".to_owned() } else { Vec::from_iter(values).join(" ") }
}

fn given(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}

/// Extracts `tables.tsv`.
pub(super) fn tables(context: &Context) -> Result<Content> {
    let columns = read(context)?;
    let mut rows = Vec::new();
    for (at, column) in columns.all.iter().enumerate() {
        let same = columns
            .compatibility
            .iter()
            .filter(|row| row.torch == column.torch && row.release == column.name);
        let (wheels, cann): (BTreeSet<&str>, BTreeSet<&str>) =
            same.map(|row| (row.wheel.as_str(), row.cann.as_str())).unzip();
        let (kind, wheel) = match &column.origin {
            Origin::Release(_) => ("release", None),
            Origin::Dispatcher => ("wheel", Some(&column.name)),
            Origin::Files(_) => (wheel_files::KIND, Some(&column.name)),
        };
        rows.push(vec![
            at.to_string(),
            kind.to_owned(),
            column.torch.clone(),
            column.name.clone(),
            wheel.cloned().unwrap_or_else(|| words(wheels)),
            words(cann),
            given(&column.day),
            given(column.op_plugin.get(..12).unwrap_or_default()),
        ]);
    }
    let remarks = format!(
        "The operator tables: one for each release of torch_npu (kind release, from the registration\n\
         files of torch_npu and op-plugin at its tag), for each wheel whose dispatcher was read (kind\n\
         wheel), and for each other final wheel that no release names (kind files, from the registration\n\
         files in the wheel).\n\
         {}\n\
         source 4: {}:{COMPATIBILITY}\n\
         Columns: number, kind, torch, release or wheel, wheels of that release, CANN paired with them\n\
         ({COMPATIBILITY}), date (of a wheel: when it was built), commit of op-plugin.",
        sources(&columns),
        columns.origins[0]
    );
    Ok(unnamed(&TABLE_COLUMNS, &remarks, rows).into())
}

/// Returns the values of an overload over all columns: of releases by `registered`, of wheels by
/// `recorded`.
fn row(
    columns: &Columns,
    name: &str,
    registered: impl Fn(&Kernels) -> Option<String>,
    listed: impl Fn(&Wheel) -> Option<String>,
    recorded: &BTreeMap<String, Vec<Option<String>>>,
    flags_of_release: bool,
) -> Option<Vec<String>> {
    let values: Vec<Option<String>> = columns
        .all
        .iter()
        .map(|column| {
            match &column.origin {
                Origin::Release(kernels) => return registered(kernels),
                Origin::Files(wheel) => return listed(wheel),
                Origin::Dispatcher => {}
            }
            let wheel = columns.recording.wheels.iter().position(|known| *known == column.name)?;
            let class = recorded.get(name)?.get(wheel)?.as_deref()?;
            if class != "K" {
                return None;
            }
            // The kernel type is that of the last release for the same PyTorch that has the kernel.
            let mut same: Vec<&Column> =
                columns.all.iter().filter(|known| known.torch == column.torch).collect();
            same.sort_by_cached_key(|known| order(&known.name));
            let mut releases = same.iter().rev().filter_map(|known| known.release());
            let flags = releases.find_map(&registered);
            Some(flags.filter(|_| flags_of_release).unwrap_or_else(|| "K".to_owned()))
        })
        .collect();
    let cell = runs::runs(&values);
    (!cell.is_empty()).then(|| vec![name.to_owned(), cell])
}

fn names<'c>(
    columns: &'c Columns,
    custom: bool,
    recorded: &'c BTreeMap<String, Vec<Option<String>>>,
) -> BTreeSet<&'c str> {
    let mut names: BTreeSet<&str> = recorded.keys().map(String::as_str).collect();
    for column in &columns.all {
        match &column.origin {
            Origin::Release(kernels) => {
                let wanted = kernels.iter().filter(|(_, kernel)| kernel.custom == custom);
                names.extend(wanted.map(|(name, _)| name.as_str()));
            }
            Origin::Files(wheel) if custom => {
                names.extend(wheel.kernels.custom.iter().map(String::as_str));
            }
            Origin::Files(wheel) => names.extend(wheel.kernels.aten.keys().map(String::as_str)),
            Origin::Dispatcher => {}
        }
    }
    names
}

/// Extracts `kernels.tsv`.
pub(super) fn kernels(context: &Context) -> Result<Content> {
    let columns = read(context)?;
    let recorded = &columns.recording.aten;
    let rows = names(&columns, false, recorded)
        .into_iter()
        .filter_map(|name| {
            let registered =
                |kernels: &Kernels| kernels.get(name).filter(|kernel| !kernel.custom)?.dense();
            let listed = |wheel: &Wheel| wheel.kernels.aten.get(name).cloned();
            row(&columns, name, registered, listed, recorded, true)
        })
        .collect();
    let remarks = format!(
        "Overloads of aten with an NPU kernel for dense tensors, by table (tables.tsv).\n{}\n\
         Columns: overload, runs FIRST-LAST:FLAGS of table numbers. Flags: N calls aclnn (op_api), L\n\
         compiles an operator of the graph engine (acl_op), T is part of torch_npu itself, K a kernel of\n\
         which only the registration is known.",
        sources(&columns)
    );
    Ok(unnamed(&KERNEL_COLUMNS, &remarks, rows).into())
}

/// Extracts `custom.tsv`.
pub(super) fn custom(context: &Context) -> Result<Content> {
    let columns = read(context)?;
    let recorded = &columns.recording.npu;
    let rows = names(&columns, true, recorded)
        .into_iter()
        .filter_map(|name| {
            let registered =
                |kernels: &Kernels| kernels.get(name).filter(|kernel| kernel.custom)?.any();
            let listed =
                |wheel: &Wheel| wheel.kernels.custom.contains(name).then(|| "K".to_owned());
            row(&columns, name, registered, listed, recorded, false)
        })
        .collect();
    let remarks = format!(
        "Operators of torch_npu itself (torch.ops.npu.*, most of them also torch_npu.*), by table\n\
         (tables.tsv).\n{}\n\
         Columns: name without `npu::`, runs FIRST-LAST:FLAGS as in kernels.tsv.",
        sources(&columns)
    );
    Ok(unnamed(&KERNEL_COLUMNS, &remarks, rows).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_the_compatibility_table_are_found_by_their_titles() {
        let text = "| 组件 | 推荐版本 |\n|:--:|:--:|\n| CANN | 9.1.0 |\n\n\
                    | TorchNPU安装包版本 | GitCode分支 | PyTorch版本 | CANN版本 |\n|:-:|:-:|:-:|:-:|\n\
                    | 2.12.0 | v2.12.0-26.1.0 | 2.12.0 | CANN 9.1.0 |\n| 2.0.4.tr5 | 2.0.4.tr5 | 1.8 | CANN 5 |\n";
        let found = compatibility(text);
        assert_eq!(found.len(), 1);
        let expected = Pairing {
            wheel: "2.12.0".into(),
            torch: "2.12.0".into(),
            release: "26.1.0".into(),
            cann: "9.1.0".into(),
        };
        assert_eq!(found[0], expected);
    }
}
