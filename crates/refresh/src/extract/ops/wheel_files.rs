//! Registrations in published wheels: the overloads in the registration files of a wheel.
//!
//! A wheel never changes, so a wheel in the tables is not read again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use anyhow::{Context as _, Result, anyhow, ensure};
use audit::ops::installed::Kernels;
use pep440_rs::Version;

use super::columns::{CUSTOM, KERNELS, TABLES};
use super::{KERNEL_COLUMNS, TABLE_COLUMNS, runs};
use crate::context::Context;
use crate::package::IndexFile;
use crate::refresh::own_table;
use crate::remote_zip::RemoteZip;

/// Kind of these tables in `tables.tsv`.
pub(super) const KIND: &str = "files";
/// Directory of the registration files in a wheel.
pub(super) const MEMBERS: &str = "torch_npu/csrc/aten/npu_native_functions*.yaml";
/// The files, and whether their plain entries are kernels of torch_npu itself.
const FILES: [(&str, bool); 2] = [
    ("torch_npu/csrc/aten/npu_native_functions.yaml", true),
    ("torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml", false),
];
/// The maximum size of a registration file.
const MAX_FILE: u64 = 16 << 20;

/// One wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wheel {
    pub(super) version: String,
    /// Day of the build.
    pub(super) day: String,
    pub(super) kernels: Kernels,
}

/// Returns the version in the name of a torch_npu wheel; `None` for a prerelease.
fn version_of(file: &IndexFile) -> Option<(Version, &str)> {
    let (package, rest) = file.name.strip_suffix(".whl")?.split_once('-')?;
    let text = rest.split('-').next().filter(|_| package == "torch_npu")?;
    let version: Version = text.parse().ok()?;
    (!file.yanked && !version.any_prerelease() && !version.is_local()).then_some((version, text))
}

/// Returns one wheel per version, because all interpreters and architectures have the same files.
fn versions(files: &[IndexFile]) -> BTreeMap<Version, (&str, &IndexFile)> {
    let mut found = BTreeMap::new();
    for file in files {
        if let Some((version, text)) = version_of(file) {
            found.entry(version).or_insert((text, file));
        }
    }
    found
}

/// Returns all final versions of the index that are not in `released`, oldest first.
pub(super) fn all(context: &Context, released: &BTreeSet<&str>) -> Result<Vec<Wheel>> {
    let mut known = known(context, &[KIND])?;
    known.retain(|wheel| !released.contains(wheel.version.as_str()));
    if context.pinned() {
        return Ok(known);
    }
    let files = context.packages.files("torch-npu")?;
    for (text, file) in versions(&files).into_values() {
        let listed = known.iter().any(|wheel| wheel.version == text);
        if !listed && !released.contains(text) {
            known.push(read(context, text, file).with_context(|| file.name.clone())?);
        }
    }
    Ok(known)
}

/// Reads the files of a wheel.
fn read(context: &Context, version: &str, file: &IndexFile) -> Result<Wheel> {
    let mut archive = RemoteZip::open(&context.packages, file)?;
    let mut kernels = Kernels::default();
    let mut day = String::new();
    for (name, own) in FILES {
        let member = archive.by_name(name).with_context(|| name.to_owned())?;
        if let Some(time) = member.last_modified() {
            day = format!("{}-{:02}-{:02}", time.year(), time.month(), time.day());
        }
        let mut text = String::new();
        member.take(MAX_FILE).read_to_string(&mut text).with_context(|| name.to_owned())?;
        kernels.add(&text, own).map_err(|error| anyhow!("{name}: {error}"))?;
    }
    kernels.aten.values_mut().for_each(|flags| *flags = ordered(flags));
    let (aten, custom) = (kernels.aten.len(), kernels.custom.len());
    ensure!(aten >= 500 && custom >= 50, "{aten} and {custom} kernels, expected 500 and 50");
    Ok(Wheel { version: version.to_owned(), day, kernels })
}

/// Returns the flags in the order of the tables; `K` if no other flag is known.
fn ordered(flags: &str) -> String {
    let known: String = "NLT".chars().filter(|flag| flags.contains(*flag)).collect();
    if known.is_empty() { "K".to_owned() } else { known }
}

/// Returns the wheels of some kinds in the tables.
fn known(context: &Context, kinds: &[&str]) -> Result<Vec<Wheel>> {
    if context.own(TABLES)?.is_none() {
        return Ok(Vec::new());
    }
    let tables = own_table(context, TABLES, &TABLE_COLUMNS)?;
    let mut wheels: Vec<(usize, Wheel)> = Vec::new();
    for (at, row) in tables.rows.iter().enumerate() {
        if let [_, kind, _, version, _, _, day, ..] = &row[..]
            && kinds.contains(&kind.as_str())
        {
            let (version, day) = (version.clone(), day.clone());
            wheels.push((at, Wheel { version, day, kernels: Kernels::default() }));
        }
    }
    for file in [KERNELS, CUSTOM] {
        for row in own_table(context, file, &KERNEL_COLUMNS)?.rows {
            let [name, cell] = &row[..] else { continue };
            let values = runs::values(cell, tables.rows.len());
            let values = values.with_context(|| format!("{file}: {name}: `{cell}`"))?;
            for (at, wheel) in &mut wheels {
                match values.get(*at).cloned().flatten() {
                    Some(flags) if file == KERNELS => {
                        drop(wheel.kernels.aten.insert(name.clone(), flags));
                    }
                    Some(_) => drop(wheel.kernels.custom.insert(name.clone())),
                    None => {}
                }
            }
        }
    }
    Ok(wheels.into_iter().map(|(_, wheel)| wheel).collect())
}

/// Reads the files of a wheel again and lists the differences to its column. For a wheel with a
/// recorded dispatcher, these are the differences between files and dispatcher.
pub(super) fn verify(context: &Context, version: &str) -> Result<Vec<String>> {
    let known = known(context, &[KIND, "wheel"])?;
    let known = known.into_iter().find(|wheel| wheel.version == version);
    let table = known.with_context(|| format!("{TABLES} has no wheel {version}"))?.kernels;
    let files = context.packages.files("torch-npu")?;
    let found = versions(&files).into_values().find(|(text, _)| *text == version);
    let (_, file) = found.with_context(|| format!("the index has no wheel {version}"))?;
    let wheel = read(context, version, file).with_context(|| file.name.clone())?.kernels;
    let names = |kernels: &Kernels| -> BTreeSet<String> {
        let custom = kernels.custom.iter().map(|name| format!("npu::{name}"));
        kernels.aten.keys().cloned().chain(custom).collect()
    };
    let (table, wheel) = (names(&table), names(&wheel));
    let only = |name: &String| if table.contains(name) { "table" } else { "wheel" };
    let different = table.symmetric_difference(&wheel);
    Ok(different.map(|name| format!("{name}: only in the {}", only(name))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, yanked: bool) -> IndexFile {
        let (sha256, url) = (String::new(), String::new());
        IndexFile { name: name.to_owned(), sha256, url, yanked, requires_python: None }
    }

    #[test]
    fn every_final_version_is_read_once() {
        let files = [
            file("torch_npu-2.10.0-cp310-cp310-manylinux_2_28_aarch64.whl", false),
            file("torch_npu-2.10.0-cp310-cp310-manylinux_2_28_x86_64.whl", false),
            file("torch_npu-2.10.0.post10-cp310-cp310-manylinux_2_28_x86_64.whl", false),
            file("torch_npu-2.10.0.post2-cp310-cp310-manylinux_2_28_x86_64.whl", false),
            file("torch_npu-2.11.0rc1-cp310-cp310-manylinux_2_28_x86_64.whl", false),
            file("torch_npu-2.12.0-cp310-cp310-manylinux_2_28_x86_64.whl", true),
            file("torch_npu-2.13.0.tar.gz", false),
            file("torch-2.9.0-cp310-none-any.whl", false),
        ];
        let found = versions(&files);
        let shown: Vec<(&str, bool)> =
            found.values().map(|(text, file)| (*text, file.name.contains("aarch64"))).collect();
        assert_eq!(shown, [("2.10.0", true), ("2.10.0.post2", false), ("2.10.0.post10", false)]);
    }

    #[test]
    fn flags_are_those_of_the_tables() {
        for (flags, expected) in [("TN", "NT"), ("LKN", "NL"), ("K", "K"), ("", "K")] {
            assert_eq!(ordered(flags), expected);
        }
    }
}
