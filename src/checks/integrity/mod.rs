//! Checks of the family `tnpu` that speak about the files themselves: RECORD, the published
//! wheel, files that belong to nothing.

#[cfg(test)]
mod tests;

use data::sentence;
use std::collections::BTreeSet;

use super::check::Area;
use super::{Check, Context, Family};
use base::report::{Evidence, Outcome, RawFinding};
use data::KnownWheels;
use facts::{FileDifference, PackageIntegrity, PthCode};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::TorchNpu, "TNPU-RECORD", record),
    Check::new(Family::TorchNpu, "TNPU-MANIFEST", manifest)
        .concludes_from(&[Area::Packages, Area::Record]),
    Check::new(Family::TorchNpu, "TNPU-UNLISTED", unlisted),
];

/// The most files that a finding shows.
const MAX_SHOWN: usize = 10;

/// The installation that `import torch_npu` loads. Of several dist-infos in one directory it is
/// the one that describes the files best; the others are stale, which PY-DUP says.
fn installed<'a>(ctx: &Context<'a>) -> Result<&'a PackageIntegrity, Outcome> {
    let packages = &ctx.facts.integrity.packages;
    let Some(first) = packages.first() else {
        return Err(match ctx.facts.python.dist("torch-npu") {
            Some(_) => Outcome::not_checked("editable", "torch_npu"),
            None => Outcome::not_applicable("no_torch_npu"),
        });
    };
    let fit = |package: &&PackageIntegrity| (package.record.is_none(), package.differing_total);
    packages
        .iter()
        .filter(|package| package.site_dir == first.site_dir)
        .min_by_key(fit)
        .ok_or_else(|| Outcome::not_applicable("no_torch_npu"))
}

/// `Err` with the reason, if there was no hashing.
fn hashed(package: &PackageIntegrity) -> Result<(), Outcome> {
    match package.hash_skipped.as_deref() {
        Some("no_hash") => Err(Outcome::not_checked("no_hash", "")),
        Some("partial") => Err(Outcome::not_checked("partial", "")),
        Some(_) => Err(Outcome::not_checked("no_file", record_path(package))),
        None => Ok(()),
    }
}

fn record_path(package: &PackageIntegrity) -> String {
    package.record.clone().unwrap_or_else(|| format!("{}/RECORD", package.dist_info))
}

fn record(ctx: &Context<'_>) -> Outcome {
    let package = match installed(ctx) {
        Ok(package) => package,
        Err(outcome) => return outcome,
    };
    let finding = |found: RawFinding| {
        found
            .arg("version", &package.version)
            .arg("python", python(ctx))
            .arg("record", record_path(package))
    };
    let mut found = Vec::new();
    if package.record.is_none() {
        if !package.dist_info.ends_with(".dist-info") {
            return Outcome::not_checked("no_file", record_path(package));
        }
        let evidence = Evidence::file(record_path(package));
        return vec![
            finding(RawFinding::warning("TNPU-RECORD", "no_record"))
                .evidence(evidence)
                .because(&["PY-DUP"]),
        ]
        .into();
    }
    let (metadata, code): (Vec<_>, Vec<_>) =
        package.differing.iter().partition(|difference| difference.path.contains(".dist-info/"));
    let (unreadable, changed): (Vec<_>, Vec<_>) =
        code.into_iter().partition(|difference| difference.kind == "unreadable");
    if let Some(first) = changed.first() {
        let all_missing = changed.iter().all(|difference| difference.kind == "missing");
        let others = package.differing_total as usize - package.differing.len();
        let total = changed.len() + others;
        let key = match (all_missing, total) {
            (true, _) => "missing",
            (false, 1) => "changed_one",
            (false, _) => "changed",
        };
        let mut because = vec!["PY-DUP"];
        if explained_by_elf(ctx, &changed, others) {
            because.push("TNPU-ELF");
        }
        let finding = finding(RawFinding::error("TNPU-RECORD", key))
            .arg("count", total.to_string())
            .arg("path", &first.path)
            .because(&because);
        found.push(with_files(finding, &changed, package));
    }
    let (harmless, other): (Vec<_>, Vec<_>) = metadata.into_iter().partition(|difference| {
        difference.path.ends_with("/METADATA") && difference.kind != "missing"
    });
    if let Some(first) = other.first() {
        let finding =
            finding(RawFinding::warning("TNPU-RECORD", "dist_info")).arg("path", &first.path);
        found.push(with_files(finding.because(&["PY-DUP"]), &other, package));
    }
    if found.is_empty() {
        if let Some(first) = unreadable.first() {
            return Outcome::blocked("unreadable", &first.path);
        }
        if let Err(outcome) = hashed(package) {
            return outcome;
        }
        // SCAN-FORMAT names the rows; what they should have said was not compared.
        if !package.bad_rows.is_empty() || package.record_cut {
            return Outcome::not_checked("unreadable", record_path(package));
        }
    }
    if let Some(first) = harmless.first() {
        let finding = finding(RawFinding::info("TNPU-RECORD", "metadata")).arg("path", &first.path);
        found.push(with_files(finding, &harmless, package));
    }
    if package.without_hash > 0 {
        found.push(
            finding(RawFinding::info("TNPU-RECORD", "without_hash"))
                .arg("count", package.without_hash.to_string())
                .evidence(Evidence::file(record_path(package))),
        );
    }
    found.into()
}

/// Whether all files that differ are libraries of which TNPU-ELF says what is wrong with them.
fn explained_by_elf(ctx: &Context<'_>, changed: &[&FileDifference], others: usize) -> bool {
    let defective: BTreeSet<&str> = ctx
        .facts
        .link
        .objects
        .iter()
        .filter(|object| object.defect.is_some())
        .map(|object| object.path.as_str())
        .collect();
    others == 0 && changed.iter().all(|difference| defective.contains(difference.path.as_str()))
}

fn manifest(ctx: &Context<'_>) -> Outcome {
    let package = match installed(ctx) {
        Ok(package) => package,
        Err(outcome) => return outcome,
    };
    let upstream = &package.upstream;
    let wheel = upstream.wheel.clone().unwrap_or_default();
    let source = if upstream.manifest == "built-in" {
        format!("known_wheels ({})", KnownWheels::builtin().as_of)
    } else {
        upstream.manifest.clone()
    };
    let (differs, record_differs) = if upstream.manifest == "built-in" {
        ("differs", "record")
    } else {
        ("differs_manifest", "record_manifest")
    };
    let finding = |found: RawFinding| {
        found
            .arg("version", &package.version)
            .arg("python", python(ctx))
            .arg("wheel", &wheel)
            .arg("manifest", &upstream.manifest)
            .evidence(Evidence::data(&source).value(&wheel))
    };
    match upstream.verdict.as_str() {
        "match" => Outcome::Passed,
        "unknown_version" => {
            Outcome::not_checked("not_upstream", format!("torch_npu {}", package.version))
        }
        "other_version" => {
            vec![finding(RawFinding::error("TNPU-MANIFEST", "other_version"))].into()
        }
        "other_build" => {
            let files: Vec<&FileDifference> = upstream.differing.iter().collect();
            vec![with_files(
                finding(RawFinding::info("TNPU-MANIFEST", "other_build")),
                &files,
                package,
            )]
            .into()
        }
        "differs" => {
            // What RECORD also says is said there: one cause, one finding.
            let known: BTreeSet<&str> =
                package.differing.iter().map(|difference| difference.path.as_str()).collect();
            let unsaid: Vec<&FileDifference> = upstream
                .differing
                .iter()
                .filter(|difference| !known.contains(difference.path.as_str()))
                .collect();
            let all: Vec<&FileDifference> = upstream.differing.iter().collect();
            let record = Evidence::file(record_path(package));
            let found = match (unsaid.first(), all.first()) {
                (Some(first), _) => {
                    let finding = finding(RawFinding::error("TNPU-MANIFEST", differs))
                        .arg("path", &first.path);
                    with_files(finding, &unsaid, package)
                }
                (None, Some(first)) => {
                    let finding = finding(RawFinding::error("TNPU-MANIFEST", differs))
                        .arg("path", &first.path);
                    with_files(finding, &all, package).because(&["TNPU-RECORD"])
                }
                (None, None) => finding(RawFinding::error("TNPU-MANIFEST", record_differs))
                    .arg("record", record_path(package))
                    .evidence(record),
            };
            vec![found].into()
        }
        _ => hashed(package).err().unwrap_or_else(|| {
            Outcome::not_checked("not_upstream", format!("torch_npu {}", package.version))
        }),
    }
}

fn unlisted(ctx: &Context<'_>) -> Outcome {
    let package = match installed(ctx) {
        Ok(package) => package,
        Err(outcome) => return outcome,
    };
    if package.record.is_none() {
        return Outcome::not_checked("no_file", record_path(package));
    }
    if package.record_cut {
        return Outcome::not_checked("unreadable", record_path(package));
    }
    // What a second dist-info of the same directory lists is PY-DUP's matter.
    let strays: Vec<&String> = package
        .unlisted
        .iter()
        .filter(|path| {
            ctx.facts
                .integrity
                .packages
                .iter()
                .filter(|other| other.site_dir == package.site_dir && other.record.is_some())
                .all(|other| other.unlisted.contains(path))
        })
        .collect();
    let mut found = Vec::new();
    if let Some(first) = strays.first() {
        let count = strays.len() + (package.unlisted_total as usize - package.unlisted.len());
        let key = if count == 1 { "file" } else { "files" };
        let mut finding = RawFinding::warning("TNPU-UNLISTED", key)
            .arg("count", count.to_string())
            .arg("path", *first)
            .arg("version", &package.version)
            .arg("python", python(ctx));
        for path in strays.iter().take(MAX_SHOWN) {
            finding = finding.evidence(Evidence::file(*path));
        }
        found.push(finding);
    }
    for PthCode { path, code, line } in &ctx.facts.integrity.stray_pth {
        found.push(
            RawFinding::warning("TNPU-UNLISTED", "pth")
                .arg("path", path)
                .arg("line", code)
                .evidence(Evidence::file(path).line_if(*line).value(code)),
        );
    }
    found.into()
}

/// The interpreter for commands that the user may paste.
fn python(ctx: &Context<'_>) -> String {
    ctx.facts.python.command().to_owned()
}

/// Adds the first files as evidence: what was expected and what was found.
fn with_files(
    mut found: RawFinding,
    files: &[&FileDifference],
    package: &PackageIntegrity,
) -> RawFinding {
    for file in files.iter().take(MAX_SHOWN) {
        let seen = Evidence::file(&file.path);
        let args = [("found", file.found.clone()), ("expected", file.expected.clone())];
        found = found.evidence(match file.kind.as_str() {
            "missing" => seen.says(sentence("seen_missing", &[])),
            "size" => seen.says(sentence("seen_size", &args)),
            "hash" => seen.says(sentence("seen_hash", &args)),
            _ => seen.value(&file.found),
        });
        if let Some(line) = file.line {
            let record = Evidence::file(record_path(package)).line(line);
            found =
                found.evidence(record.value_if(Some(&file.expected).filter(|it| !it.is_empty())));
        }
    }
    found
}
