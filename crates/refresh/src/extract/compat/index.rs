//! `index.tsv`: the versions of each package on the index, by Python version and architecture.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use pep440_rs::Version;

use super::versions::numbers;
use crate::context::Context;
use crate::extract::Content;
use crate::table::{Place, SourcedRows};

/// The packages, and the minimum number of versions that the index must list.
const PACKAGES: &[(&str, usize)] =
    &[("torch-npu", 60), ("triton-ascend", 3), ("vllm-ascend", 45), ("mindspore", 9)];
const COLUMNS: &[&str] = &["package", "version", "python", "arch", "sdist"];

/// The files of one version.
#[derive(Debug, Default)]
struct Published {
    pythons: BTreeSet<String>,
    archs: BTreeSet<&'static str>,
    sdist: bool,
}

pub(super) fn extract(context: &Context) -> Result<Content> {
    let mut rows = SourcedRows::new(COLUMNS);
    for (package, least) in PACKAGES {
        let mut versions: BTreeMap<Version, Published> = BTreeMap::new();
        for file in context.packages.files(package)? {
            if !file.yanked
                && let Some((version, file)) = read_name(package, &file.name)
            {
                let entry = versions.entry(version).or_default();
                entry.pythons.extend(file.pythons);
                entry.archs.extend(file.archs);
                entry.sdist |= file.sdist;
            }
        }
        let count = versions.len();
        ensure!(count >= *least, "the index has {count} versions of {package}");
        for (version, entry) in versions.iter().rev() {
            let mut pythons: Vec<&String> = entry.pythons.iter().collect();
            pythons.sort_by_key(|python| numbers(python));
            let pythons = pythons.into_iter().cloned().collect::<Vec<_>>().join(",");
            let archs = entry.archs.iter().copied().collect::<Vec<_>>().join(",");
            let sdist = if entry.sdist { "yes" } else { "" };
            let cells = [package, &*version.to_string(), &pythons, &archs, sdist];
            rows.push(cells, Place::file(format!("package index: {package}")));
        }
    }
    Ok(rows.into_table().into())
}

/// Parses version, Python and architecture from the name of a Linux wheel or a source archive.
fn read_name(package: &str, name: &str) -> Option<(Version, Published)> {
    let wanted = package.replace('-', "_");
    let mut file = Published::default();
    if let Some(stem) = name.strip_suffix(".tar.gz") {
        let (found, version) = stem.rsplit_once('-')?;
        file.sdist = true;
        return (found.replace('-', "_") == wanted).then_some((version.parse().ok()?, file));
    }
    let parts: Vec<&str> = name.strip_suffix(".whl")?.split('-').collect();
    let (found, version) = (parts.first()?, parts.get(1)?);
    let [python, _, platform] = parts.get(parts.len().checked_sub(3)?..)? else { return None };
    if *found != wanted || platform.contains("win") || platform.contains("macos") {
        return None;
    }
    for tag in python.split('.') {
        let digits = tag.strip_prefix("cp").or(tag.strip_prefix("py"))?;
        let (major, minor) = digits.split_at_checked(1)?;
        file.pythons.insert(if minor.is_empty() {
            major.to_owned()
        } else {
            format!("{major}.{minor}")
        });
    }
    for arch in ["aarch64", "x86_64"] {
        if platform.ends_with(arch) || *platform == "any" {
            file.archs.insert(arch);
        }
    }
    Some((version.parse().ok()?, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_python_and_architecture() {
        let read = |package, name| {
            read_name(package, name).map(|(version, file)| {
                let pythons: Vec<String> = file.pythons.into_iter().collect();
                let archs: Vec<&str> = file.archs.into_iter().collect();
                (version.to_string(), pythons.join(","), archs.join(","), file.sdist)
            })
        };
        let row = |version: &str, python: &str, arch: &str, sdist| {
            Some((version.to_owned(), python.to_owned(), arch.to_owned(), sdist))
        };
        assert_eq!(
            read("torch-npu", "torch_npu-2.14.0-cp311-cp311-manylinux_2_28_x86_64.whl"),
            row("2.14.0", "3.11", "x86_64", false)
        );
        assert_eq!(
            read("mindspore", "mindspore-2.9.0-cp310-none-any.whl"),
            row("2.9.0", "3.10", "aarch64,x86_64", false)
        );
        assert_eq!(
            read("vllm-ascend", "vllm_ascend-0.30.0rc2.tar.gz"),
            row("0.30.0rc2", "", "", true)
        );
        assert_eq!(read("mindspore", "mindspore-2.9.0-cp310-cp310-win_amd64.whl"), None);
        assert_eq!(read("torch-npu", "x.zip"), None);
    }
}
