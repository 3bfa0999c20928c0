//! Files of `torch_npu`: against the RECORD of the installation, and against the published wheel
//! or the manifest that the user gave. Also what lies there and belongs to nothing.

mod compare;
#[cfg(test)]
mod tests;
mod unlisted;
mod upstream;

use super::Options;
use crate::manifest::record;
use crate::sysroot::{ReadError, Sysroot};
use base::hash::Sha256;
use compare::{Comparison, targets};
use data::faults;
use data::record_digest;
use facts::{Dist, Integrity, PackageIntegrity, Python};

/// The distribution whose files are examined.
const PACKAGE: &str = "torch-npu";
/// The most files that are listed one by one in the facts; the total is given beside them.
const MAX_LISTED: usize = 50;

/// Compares the files of every installed `torch_npu`.
pub(super) fn collect(sysroot: &Sysroot, python: &Python, options: &Options) -> Integrity {
    Integrity {
        packages: python
            .all_dists(PACKAGE)
            .filter(|dist| dist.editable.is_none())
            .map(|dist| examine(sysroot, dist, options))
            .collect(),
        stray_pth: unlisted::stray_pth(sysroot, python),
    }
}

fn examine(sysroot: &Sysroot, dist: &Dist, options: &Options) -> PackageIntegrity {
    let mut facts = PackageIntegrity {
        name: dist.name.clone(),
        version: dist.version.clone(),
        dist_info: dist.path.clone(),
        site_dir: dist.site_dir.clone(),
        ..PackageIntegrity::default()
    };
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
    facts.rows = count(targets.len());
    facts.without_hash = count(targets.iter().filter(|target| target.is_unhashed()).count());

    let progress = &options.progress;
    let compared = Comparison::new(sysroot, targets, options.hash.then_some(progress));
    facts.hashed = compared.hashed;
    facts.bytes = compared.bytes;
    facts.hash_skipped = match (options.hash, compared.partial) {
        (false, _) => Some("no_hash".to_owned()),
        (true, true) => Some("partial".to_owned()),
        (true, false) => None,
    };
    (facts.differing, facts.differing_total) = listed(compared.differences());
    // A row that was not looked at may list what the others do not.
    if !facts.record_cut {
        (facts.unlisted, facts.unlisted_total) =
            listed(unlisted::unlisted(sysroot, &dist.site_dir, &compared));
    }
    facts.upstream = upstream::compare(sysroot, dist, options, &compared, digest);
    facts
}

/// The first few, and how many there are.
fn listed<T>(mut all: Vec<T>) -> (Vec<T>, u32) {
    let total = count(all.len());
    all.truncate(MAX_LISTED);
    (all, total)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
