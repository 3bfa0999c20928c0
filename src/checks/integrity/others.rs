//! `PY-RECORD`: modules and libraries of packages other than `torch_npu`.
//!
//! A library with the right size but different bytes is damaged, because tools that modify
//! libraries change their size. A library of a different size may have been stripped or patched,
//! and a module may have been edited on purpose, so these are only warnings.

use std::collections::BTreeSet;

use data::{
    Outcome, RawFinding, Reason,
    findings::{py_dup, py_record, tnpu_elf},
};
use facts::{FileDifference, PackageIntegrity};

use super::{Context, PACKAGE, has_lost_record, hashed, record_path, with_files};

pub(crate) fn check(ctx: &Context<'_>) -> Outcome {
    let others = ctx.facts.integrity.packages.iter().filter(|package| package.name != PACKAGE);
    let others: Vec<&PackageIntegrity> = others.collect();
    if others.is_empty() {
        return Outcome::NotApplicable(Reason::NoRecord);
    }
    let found: Vec<RawFinding> = others.iter().flat_map(|package| judge(ctx, package)).collect();
    if let Some(reason) = others.iter().find_map(|package| unexamined(package)) {
        return Outcome::from_partial(found, Some(reason));
    }
    if found.is_empty() {
        for package in others {
            if let Err(outcome) = hashed(package) {
                return outcome;
            }
            if package.record_cut {
                return Outcome::NotChecked(Reason::Unreadable { what: record_path(package) });
            }
        }
    }
    found.into()
}

/// The reason why the comparison could have missed a defect of the package.
fn unexamined(package: &PackageIntegrity) -> Option<Reason> {
    if has_lost_record(package) {
        return Some(Reason::NoRecordOf { what: record_path(package) });
    }
    let unreadable = package.differing.iter().find(|file| file.kind == "unreadable")?;
    Some(Reason::Unreadable { what: unreadable.path.clone() })
}

/// Compares the files of a package, without those that other checks report: missing files (PY-DUP)
/// and defective libraries (TNPU-ELF).
fn judge(ctx: &Context<'_>, package: &PackageIntegrity) -> Vec<RawFinding> {
    let defective: BTreeSet<&str> = (ctx.facts.link.objects.iter())
        .filter(|object| object.defect.is_some())
        .map(|object| object.path.as_str())
        .collect();
    let changed = package.differing.iter().filter(|file| {
        !matches!(file.kind.as_str(), "missing" | "unreadable")
            && !defective.contains(file.path.as_str())
    });
    let (libraries, modules): (Vec<&FileDifference>, Vec<_>) =
        changed.partition(|file| !file.path.ends_with(".py"));
    let (damaged, resized): (Vec<_>, Vec<_>) =
        libraries.into_iter().partition(|file| file.kind != "size" || file.found == "0");
    let interpreter = ctx.facts.python.command();
    let (name, version) = (&package.name, &package.version);
    let mut found = Vec::new();
    let mut add = |finding: RawFinding, files: &[&FileDifference]| {
        found.push(with_files(finding.because(&[py_dup::ID, tnpu_elf::ID]), files, package));
    };
    if let Some(FileDifference { path, .. }) = damaged.first() {
        add(py_record::Damaged { interpreter, name, path, version }.error(), &damaged);
    }
    if let Some(FileDifference { path, .. }) = resized.first() {
        let count = resized.len();
        let finding = py_record::Resized { count, interpreter, name, path, version };
        add(finding.warning(), &resized);
    }
    // An empty module has lost its content. Edited modules have content, and parse.
    let is_lost = |file: &&FileDifference| match file.kind.as_str() {
        "cut" | "nul" | "syntax" => true,
        kind => kind == "size" && file.found == "0",
    };
    let (emptied, edited): (Vec<_>, Vec<_>) = modules.into_iter().partition(is_lost);
    if let Some(FileDifference { path, .. }) = emptied.first() {
        add(py_record::Damaged { interpreter, name, path, version }.error(), &emptied);
    }
    if let Some(FileDifference { path, .. }) = edited.first() {
        let count = edited.len();
        add(py_record::Edited { count, interpreter, name, path, version }.warning(), &edited);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};

    fn judged(files: &[(&str, &str, &str)]) -> Vec<String> {
        let mut facts = facts_with(python("3.11"), vec![dist("mindspore", "2.7.0")]);
        let differing = files.iter().map(|(path, kind, found)| FileDifference {
            path: format!("/s/mindspore/{path}"),
            kind: (*kind).to_owned(),
            found: (*found).to_owned(),
            ..FileDifference::default()
        });
        facts.integrity.packages.push(PackageIntegrity {
            name: "mindspore".to_owned(),
            version: "2.7.0".to_owned(),
            record: Some("/s/mindspore-2.7.0.dist-info/RECORD".to_owned()),
            differing: differing.collect(),
            ..PackageIntegrity::default()
        });
        ids(check(&Context::of(&facts, Profile::General)))
    }

    #[test]
    fn a_package_that_lost_its_record_was_not_examined() {
        let mut facts = facts_with(python("3.11"), vec![dist("mindspore", "2.7.0")]);
        facts.integrity.packages.push(PackageIntegrity {
            name: "mindspore".to_owned(),
            version: "2.7.0".to_owned(),
            dist_info: "/s/mindspore-2.7.0.dist-info".to_owned(),
            hash_skipped: Some("no_record".to_owned()),
            ..PackageIntegrity::default()
        });
        let outcome = |facts: &facts::Facts| check(&Context::of(facts, Profile::General));
        assert_eq!(ids(outcome(&facts)), ["blocked: no_record_of"]);
        // Installations by setuptools never have a RECORD.
        facts.integrity.packages[0].dist_info = "/s/mindspore-2.7.0.egg-info".to_owned();
        let what = "/s/mindspore-2.7.0.egg-info/RECORD".to_owned();
        assert_eq!(outcome(&facts), Outcome::NotChecked(Reason::NoFile { what }));
    }

    #[test]
    fn what_is_damaged_is_an_error_and_what_was_edited_is_told() {
        assert_eq!(judged(&[]), [""; 0]);
        assert_eq!(judged(&[("lib/a.so", "hash", "x")]), ["error PY-RECORD damaged"]);
        assert_eq!(judged(&[("lib/a.so.2", "type", "x")]), ["error PY-RECORD damaged"]);
        assert_eq!(judged(&[("lib/a.so", "size", "9")]), ["warning PY-RECORD resized"]);
        assert_eq!(judged(&[("a.py", "size", "9")]), ["warning PY-RECORD edited"]);
        assert_eq!(judged(&[("a.py", "hash", "x")]), ["warning PY-RECORD edited"]);
        assert_eq!(judged(&[("a.py", "size", "0")]), ["error PY-RECORD damaged"]);
        assert_eq!(judged(&[("a.py", "nul", "x")]), ["error PY-RECORD damaged"]);
        assert_eq!(judged(&[("a.py", "syntax", "3")]), ["error PY-RECORD damaged"]);
        assert_eq!(judged(&[("lib/a.so", "size", "0")]), ["error PY-RECORD damaged"]);
        assert_eq!(judged(&[("lib/a.so", "broken", "9")]), ["error PY-RECORD damaged"]);
        // PY-DUP reports missing files.
        assert_eq!(judged(&[("lib/a.so", "missing", "")]), [""; 0]);
        assert_eq!(judged(&[("lib/a.so", "unreadable", "")]).len(), 1);
    }
}
