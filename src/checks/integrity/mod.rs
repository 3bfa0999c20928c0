//! Checks of the family `tnpu` about the files themselves: RECORD, the published wheel, unlisted
//! files. Also the files of other packages: `PY-RECORD`.

pub(super) mod others;
#[cfg(test)]
mod tests;

use data::{
    KnownWheels, Outcome, RawFinding, Reason,
    findings::{py_dup, tnpu_elf, tnpu_manifest, tnpu_record, tnpu_unlisted},
    ui,
};
use std::collections::BTreeSet;

use super::check::Area;
use super::{Check, Context, Family};
use base::report::Evidence;
use facts::{FileDifference, PackageIntegrity, PthCode};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::TorchNpu, tnpu_record::ID, record),
    Check::new(Family::TorchNpu, tnpu_manifest::ID, manifest)
        .concludes_from(&[Area::Packages, Area::Record]),
    Check::new(Family::TorchNpu, tnpu_unlisted::ID, unlisted),
];

/// The distribution of which every file is compared.
const PACKAGE: &str = "torch-npu";
/// Maximum number of files in a finding.
const MAX_SHOWN: usize = 10;

/// The installation that `import torch_npu` loads. If one directory has several dist-infos, it is
/// the one that describes the files best; the others are stale, which PY-DUP reports.
fn installed<'a>(ctx: &Context<'a>) -> Result<&'a PackageIntegrity, Outcome> {
    let packages = || ctx.facts.integrity.packages.iter().filter(|package| package.name == PACKAGE);
    let Some(first) = packages().next() else {
        return Err(match ctx.facts.python.dist(PACKAGE) {
            Some(_) => Outcome::NotChecked(Reason::Editable { what: "torch_npu".to_owned() }),
            None => Outcome::NotApplicable(Reason::NoTorchNpu),
        });
    };
    let fit = |package: &&PackageIntegrity| (package.record.is_none(), package.differing_total);
    packages()
        .filter(|package| package.site_dir == first.site_dir)
        .min_by_key(fit)
        .ok_or(Outcome::NotApplicable(Reason::NoTorchNpu))
}

/// Returns the reason as `Err` if no hashes were computed.
fn hashed(package: &PackageIntegrity) -> Result<(), Outcome> {
    match package.hash_skipped.as_deref() {
        Some("no_hash") => Err(Outcome::NotChecked(Reason::NoHash)),
        Some("partial") => Err(Outcome::NotChecked(Reason::Partial)),
        Some(_) => Err(Outcome::NotChecked(Reason::NoFile { what: record_path(package) })),
        None => Ok(()),
    }
}

/// Returns whether a wheel was installed whose RECORD is missing. Installations by setuptools never
/// have one.
fn has_lost_record(package: &PackageIntegrity) -> bool {
    package.record.is_none() && package.dist_info.ends_with(".dist-info")
}

fn record_path(package: &PackageIntegrity) -> String {
    package.record.clone().unwrap_or_else(|| format!("{}/RECORD", package.dist_info))
}

fn record(ctx: &Context<'_>) -> Outcome {
    let package = match installed(ctx) {
        Ok(package) => package,
        Err(outcome) => return outcome,
    };
    let (version, python) = (&package.version, python(ctx));
    let mut found = Vec::new();
    if package.record.is_none() {
        return if has_lost_record(package) {
            Outcome::Blocked(Reason::NoRecordOf { what: record_path(package) })
        } else {
            Outcome::NotChecked(Reason::NoFile { what: record_path(package) })
        };
    }
    let (metadata, code): (Vec<_>, Vec<_>) =
        package.differing.iter().partition(|difference| difference.path.contains(".dist-info/"));
    let (unreadable, changed): (Vec<_>, Vec<_>) =
        code.into_iter().partition(|difference| difference.kind == "unreadable");
    if let Some(first) = changed.first() {
        let all_missing = changed.iter().all(|difference| difference.kind == "missing");
        let others = package.differing_total as usize - package.differing.len();
        let total = changed.len() + others;
        let (path, python) = (&first.path, &python);
        let finding = match (all_missing, total) {
            (true, count) => {
                let record = record_path(package);
                tnpu_record::Missing { count, path, python, record, version }.error()
            }
            (false, 1) => tnpu_record::ChangedOne { path, python, version }.error(),
            (false, count) => tnpu_record::Changed { count, path, python, version }.error(),
        };
        let mut because = vec![py_dup::ID];
        if explained_by_elf(ctx, &changed, others) {
            because.push(tnpu_elf::ID);
        }
        found.push(with_files(finding.because(&because), &changed, package));
    }
    let (harmless, other): (Vec<_>, Vec<_>) = metadata.into_iter().partition(|difference| {
        difference.path.ends_with("/METADATA") && difference.kind != "missing"
    });
    if let Some(first) = other.first() {
        let finding =
            tnpu_record::DistInfo { version, python: &python, path: &first.path }.warning();
        found.push(with_files(finding.because(&[py_dup::ID]), &other, package));
    }
    if let Some(first) = unreadable.first() {
        let reason = Reason::Unreadable { what: first.path.clone() };
        return Outcome::from_partial(found, Some(reason));
    }
    if found.is_empty() {
        if let Err(outcome) = hashed(package) {
            return outcome;
        }
        // SCAN-FORMAT names the rows; their files were not compared.
        if !package.bad_rows.is_empty() || package.record_cut {
            return Outcome::NotChecked(Reason::Unreadable { what: record_path(package) });
        }
    }
    if !harmless.is_empty() {
        let finding = tnpu_record::Metadata { version }.info();
        found.push(with_files(finding, &harmless, package));
    }
    if package.without_hash > 0 {
        found.push(
            tnpu_record::WithoutHash { version, count: package.without_hash }
                .info()
                .evidence(Evidence::file(record_path(package))),
        );
    }
    found.into()
}

/// Returns whether all files that differ are libraries whose defects TNPU-ELF reports.
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
    let built_in = upstream.manifest == "built-in";
    let (version, python, manifest) = (&package.version, python(ctx), &upstream.manifest);
    let evidence = Evidence::data(&source).value(&wheel);
    let differs = |path: &str| {
        let found = if built_in {
            tnpu_manifest::Differs { version, python: &python, path }.error()
        } else {
            tnpu_manifest::DiffersManifest { version, wheel: &wheel, manifest, path }.error()
        };
        found.evidence(evidence.clone())
    };
    match upstream.verdict.as_str() {
        "match" => Outcome::Passed,
        "unknown_version" => Outcome::NotChecked(Reason::NotUpstream {
            what: format!("torch_npu {}", package.version),
        }),
        "other_version" => {
            let found = tnpu_manifest::OtherVersion { version, wheel: &wheel, manifest }.error();
            vec![found.evidence(evidence)].into()
        }
        "other_build" => {
            let files: Vec<&FileDifference> = upstream.differing.iter().collect();
            vec![with_files(
                tnpu_manifest::OtherBuild { version }.info().evidence(evidence),
                &files,
                package,
            )]
            .into()
        }
        "differs" => {
            // TNPU-RECORD reports files that also differ from RECORD: one cause, one finding.
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
                (Some(first), _) => with_files(differs(&first.path), &unsaid, package),
                (None, Some(first)) => {
                    with_files(differs(&first.path), &all, package).because(&[tnpu_record::ID])
                }
                (None, None) => {
                    let found = if built_in {
                        tnpu_manifest::Record { python, version }.error()
                    } else {
                        tnpu_manifest::RecordManifest { manifest, version, wheel }.error()
                    };
                    found.evidence(evidence).evidence(record)
                }
            };
            vec![found].into()
        }
        _ => hashed(package).err().unwrap_or_else(|| {
            Outcome::NotChecked(Reason::NotUpstream {
                what: format!("torch_npu {}", package.version),
            })
        }),
    }
}

fn unlisted(ctx: &Context<'_>) -> Outcome {
    let package = match installed(ctx) {
        Ok(package) => package,
        Err(outcome) => return outcome,
    };
    if package.record.is_none() {
        return Outcome::NotChecked(Reason::NoFile { what: record_path(package) });
    }
    if package.record_cut {
        return Outcome::NotChecked(Reason::Unreadable { what: record_path(package) });
    }
    // PY-DUP reports files that a second dist-info of the same directory lists.
    let strays: Vec<&String> = package
        .unlisted
        .iter()
        .filter(|path| {
            ctx.facts
                .integrity
                .packages
                .iter()
                .filter(|other| {
                    other.name == PACKAGE
                        && other.site_dir == package.site_dir
                        && other.record.is_some()
                })
                .all(|other| other.unlisted.contains(path))
        })
        .collect();
    let mut found = Vec::new();
    if let Some(first) = strays.first() {
        let count = strays.len() + (package.unlisted_total as usize - package.unlisted.len());
        let (path, version, python) = (*first, &package.version, python(ctx));
        let mut finding = if count == 1 {
            tnpu_unlisted::File { path, python, version }.warning()
        } else {
            tnpu_unlisted::Files { count, path, python, version }.warning()
        };
        for path in strays.iter().take(MAX_SHOWN) {
            finding = finding.evidence(Evidence::file(*path));
        }
        found.push(finding);
    }
    for PthCode { path, code, line } in &ctx.facts.integrity.stray_pth {
        found.push(
            tnpu_unlisted::Pth { line: code, path }
                .warning()
                .evidence(Evidence::file(path).line_if(*line).value(code)),
        );
    }
    found.into()
}

/// The interpreter, for commands that the user may paste.
fn python(ctx: &Context<'_>) -> String {
    ctx.facts.python.command().to_owned()
}

/// Adds the first files as evidence, with expected and actual values.
fn with_files(
    mut found: RawFinding,
    files: &[&FileDifference],
    package: &PackageIntegrity,
) -> RawFinding {
    for file in files.iter().take(MAX_SHOWN) {
        let seen = Evidence::file(&file.path);
        let (found_there, expected) = (&file.found, &file.expected);
        found = found.evidence(match file.kind.as_str() {
            "missing" => seen.says(ui::SEEN_MISSING.text()),
            "syntax" => seen.line(found_there.parse().unwrap_or(1)).says(ui::SEEN_SYNTAX.text()),
            "broken" | "cut" | "size" => {
                seen.says(ui::SeenSize { found: found_there, expected }.text())
            }
            "hash" | "nul" => seen.says(ui::SeenHash { found: found_there, expected }.text()),
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
