//! Compares the files of `torch_npu` with the RECORD of the installation, and with the published
//! wheel or the manifest of the user. Also lists files in its directories that belong to no
//! package.
//!
//! For the other packages that NPU programs load, compares code and libraries with RECORD.

mod compare;
mod damage;
#[cfg(test)]
mod tests;
mod unlisted;
mod upstream;

use std::collections::{BTreeMap, BTreeSet};

use super::Options;
use crate::manifest::record;
use crate::sysroot::{ReadError, Sysroot};
use base::hash::Sha256;
use compare::{Comparison, Target, targets};
use data::faults;
use data::record_digest;
use facts::{Dist, Integrity, Link, PackageIntegrity, Python};

/// The distribution whose files are examined.
const PACKAGE: &str = "torch-npu";
/// Further packages that are examined, regardless of the libraries that they link.
const OTHERS: [&str; 4] = ["mindspore", "torch", "triton-ascend", "vllm-ascend"];
/// Maximum number of bytes read from an `INSTALLER`.
const INSTALLER_LIMIT: u64 = 100;
/// Maximum number of files listed in the facts, next to the total.
const MAX_LISTED: usize = 50;

/// Comparisons that do not depend on the libraries that a package links.
#[derive(Default)]
pub(super) struct Begun {
    own: Vec<PackageIntegrity>,
    /// The known other packages, by the path of their `.dist-info`.
    known: BTreeMap<String, PackageIntegrity>,
}

/// Compares the files of every installed `torch_npu`, and of the other packages that are always
/// compared. This can run in parallel with the resolution of libraries.
pub(super) fn begin(sysroot: &Sysroot, python: &Python, options: &Options) -> Begun {
    let own = python.all_dists(PACKAGE).filter(|dist| dist.editable.is_none());
    let known = others(sysroot, python, |dist| OTHERS.contains(&dist.name.as_str()));
    Begun {
        own: own.map(|dist| examine(sysroot, dist, options)).collect(),
        known: known
            .into_iter()
            .map(|dist| (dist.path.clone(), compare_code(sysroot, dist, options)))
            .collect(),
    }
}

/// Compares the packages that belong to the stack only because of the libraries that they link.
pub(super) fn finish(
    sysroot: &Sysroot,
    python: &Python,
    link: &Link,
    options: &Options,
    begun: Begun,
) -> Integrity {
    let Begun { own, mut known } = begun;
    let is_linked = |dist: &Dist| {
        let module = format!("{}/{}/", dist.site_dir, dist.name.replace('-', "_"));
        link.objects.iter().any(|object| object.path.starts_with(&module))
    };
    let others = others(sysroot, python, |dist| known.contains_key(&dist.path) || is_linked(dist));
    let compared = others.into_iter().map(|dist| {
        known.remove(&dist.path).unwrap_or_else(|| compare_code(sysroot, dist, options))
    });
    Integrity {
        packages: own.into_iter().chain(compared).collect(),
        stray_pth: unlisted::stray_pth(sysroot, python),
    }
}

/// The packages other than `torch_npu` that NPU programs load and that are `wanted`. Packages
/// called triton share a directory, which another collector covers. conda moves libraries after
/// RECORD was written, so its packages are omitted.
fn others<'a>(
    sysroot: &Sysroot,
    python: &'a Python,
    wanted: impl Fn(&Dist) -> bool,
) -> Vec<&'a Dist> {
    let tritons = python.dists.iter().filter(|dist| dist.name.contains("triton")).count();
    let is_of_conda = |dist: &Dist| {
        let installer = sysroot.read(&format!("{}/INSTALLER", dist.path), INSTALLER_LIMIT);
        installer.is_ok_and(|name| name.trim_ascii() == b"conda")
    };
    let mut seen = BTreeSet::new();
    let installed = python.dists.iter().filter(|dist| {
        // Python imports the first one on the path.
        seen.insert(dist.name.as_str())
            && dist.name != PACKAGE
            && dist.editable.is_none()
            && (tritons < 2 || !dist.name.contains("triton"))
            && wanted(dist)
            && !is_of_conda(dist)
    });
    installed.collect()
}

/// Compares loaded and imported files with RECORD: modules and shared libraries.
fn compare_code(sysroot: &Sysroot, dist: &Dist, options: &Options) -> PackageIntegrity {
    let mut facts = about(dist);
    let path = format!("{}/RECORD", dist.path);
    let Ok(bytes) = sysroot.read(&path, record::RECORD_LIMIT) else {
        // The collector of the distributions reports the reason.
        facts.hash_skipped = Some("no_record".to_owned());
        return facts;
    };
    let record = record::parse(&bytes);
    drop(bytes);
    facts.record = Some(path);
    facts.record_cut = record.truncated;
    let (mut targets, outside) = targets(&dist.site_dir, record.rows);
    targets.retain(|target| is_code(&target.path));
    facts.outside = outside;
    compare(sysroot, &mut facts, targets, options);
    for file in &mut facts.differing {
        if matches!(file.kind.as_str(), "hash" | "size") {
            damage::examine(sysroot, file);
        }
    }
    "not_checked".clone_into(&mut facts.upstream.verdict);
    facts
}

/// Returns whether an interpreter or the dynamic linker reads this file. `libx.so.2` counts too.
fn is_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".py") || name.ends_with(".so") || name.contains(".so.")
}

fn about(dist: &Dist) -> PackageIntegrity {
    PackageIntegrity {
        name: dist.name.clone(),
        version: dist.version.clone(),
        dist_info: dist.path.clone(),
        site_dir: dist.site_dir.clone(),
        ..PackageIntegrity::default()
    }
}

/// Compares the files, and fills in the results.
fn compare(
    sysroot: &Sysroot,
    facts: &mut PackageIntegrity,
    targets: Vec<Target>,
    options: &Options,
) -> Comparison {
    facts.rows = count(targets.len());
    facts.without_hash = count(targets.iter().filter(|target| target.is_unhashed()).count());
    let compared = Comparison::new(sysroot, targets, options.hash.then_some(&options.progress));
    facts.hashed = compared.hashed;
    facts.bytes = compared.bytes;
    facts.hash_skipped = match (options.hash, compared.partial) {
        (false, _) => Some("no_hash".to_owned()),
        (true, true) => Some("partial".to_owned()),
        (true, false) => None,
    };
    (facts.differing, facts.differing_total) = listed(compared.differences());
    compared
}

fn examine(sysroot: &Sysroot, dist: &Dist, options: &Options) -> PackageIntegrity {
    let mut facts = about(dist);
    let path = format!("{}/RECORD", dist.path);
    let bytes = match sysroot.read(&path, record::RECORD_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) => {
            if !matches!(error, ReadError::NotFound | ReadError::NotDirectory) {
                sysroot.read_problem(&path, &error);
            }
            facts.hash_skipped = Some("no_record".to_owned());
            let compared = Comparison::default();
            facts.upstream = upstream::compare(sysroot, dist, options, &compared, None);
            return facts;
        }
    };
    let record = record::parse(&bytes);
    if record.rows.is_empty() && record.bad.is_empty() {
        sysroot.problem(&path, facts::ProblemKind::Malformed, &faults::ManifestEmpty.value());
    }
    drop(bytes);
    facts.record_cut = record.truncated;
    if record.rows.len() >= record::MAX_ROWS && record.truncated {
        let detail = faults::OnlyFirstRows { n: record::MAX_ROWS }.value();
        sysroot.problem(&path, facts::ProblemKind::TooLarge, &detail);
    }
    let digest = (record.bad.is_empty() && !record.truncated).then(|| {
        let rows = record.rows.iter();
        record_digest(rows.map(|row| (row.path.as_str(), row.sha256, row.size)))
    });
    facts.record_digest = digest.as_ref().map(Sha256::hex);
    facts.record = Some(path);
    facts.bad_rows = record.bad.into_iter().map(|(line, why)| (line, why.en)).collect();
    let (targets, outside) = targets(&dist.site_dir, record.rows);
    facts.outside = outside;
    let compared = compare(sysroot, &mut facts, targets, options);
    // An omitted row may list a file that no other row lists.
    if !facts.record_cut {
        (facts.unlisted, facts.unlisted_total) =
            listed(unlisted::unlisted(sysroot, &dist.site_dir, &compared));
    }
    facts.upstream = upstream::compare(sysroot, dist, options, &compared, digest);
    facts
}

/// The first entries, and the total number.
fn listed<T>(mut all: Vec<T>) -> (Vec<T>, u32) {
    let total = count(all.len());
    all.truncate(MAX_LISTED);
    (all, total)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
