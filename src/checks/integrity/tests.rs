//! Tests of the checks with handwritten facts.

use super::*;
use crate::Profile;
use base::report::Severity;
use data::Outcome;
use facts::{Dist, ElfDefect, Facts, LinkedObject, PthCode, Upstream};

const SITE: &str = "/v/lib/python3.11/site-packages";

fn package() -> PackageIntegrity {
    PackageIntegrity {
        name: "torch-npu".to_owned(),
        version: "2.9.0".to_owned(),
        dist_info: format!("{SITE}/torch_npu-2.9.0.dist-info"),
        site_dir: SITE.to_owned(),
        record: Some(format!("{SITE}/torch_npu-2.9.0.dist-info/RECORD")),
        rows: 10,
        hashed: 9,
        upstream: Upstream {
            verdict: "match".to_owned(),
            manifest: "built-in".to_owned(),
            ..Upstream::default()
        },
        ..PackageIntegrity::default()
    }
}

fn differing(kind: &str, path: &str) -> FileDifference {
    FileDifference {
        path: format!("{SITE}/{path}"),
        kind: kind.to_owned(),
        expected: "12".to_owned(),
        found: "5".to_owned(),
        line: Some(7),
    }
}

fn with_differences(files: &[(&str, &str)]) -> PackageIntegrity {
    let differing: Vec<_> = files.iter().map(|(kind, path)| differing(kind, path)).collect();
    let differing_total = u32::try_from(differing.len()).unwrap();
    PackageIntegrity { differing, differing_total, ..package() }
}

fn facts(packages: Vec<PackageIntegrity>) -> Facts {
    let mut facts = Facts::default();
    facts.integrity.packages = packages;
    facts
}

fn run(check: fn(&Context<'_>) -> Outcome, facts: &Facts) -> Outcome {
    check(&Context::of(facts, Profile::General))
}

/// Message and severity of the findings, and the IDs that may explain each.
fn found(outcome: Outcome) -> Vec<(&'static str, Severity, Vec<&'static str>)> {
    match outcome {
        Outcome::Found(found) => found
            .into_iter()
            .map(|found| {
                (
                    found.message,
                    found.severity,
                    found.because.iter().map(|id| id.as_str()).collect(),
                )
            })
            .collect(),
        other => panic!("nothing found: {other:?}"),
    }
}

fn reason(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::NotChecked(reason) | Outcome::NotApplicable(reason) | Outcome::Blocked(reason) => {
            reason.key()
        }
        other => panic!("a verdict: {other:?}"),
    }
}

#[test]
fn without_torch_npu_there_is_nothing_to_say() {
    let mut facts = Facts::default();
    for check in CHECKS {
        assert_eq!(reason(&run(check.run, &facts)), "no_torch_npu");
    }
    // An editable installation has no files that RECORD could list.
    facts.python.dists = vec![Dist { name: "torch-npu".to_owned(), ..Dist::default() }];
    for check in CHECKS {
        assert_eq!(reason(&run(check.run, &facts)), "editable");
    }
}

#[test]
fn an_untouched_installation_passes() {
    let facts = facts(vec![package()]);
    for check in CHECKS {
        assert_eq!(run(check.run, &facts), Outcome::Passed, "{}", check.id);
    }
}

#[test]
fn a_changed_file_is_an_error_and_metadata_alone_is_not() {
    let changed = facts(vec![with_differences(&[("hash", "torch_npu/a.py")])]);
    assert_eq!(found(run(record, &changed))[0].0, "changed_one");
    assert_eq!(found(run(record, &changed))[0].1, Severity::Error);
    let metadata = ("size", "torch_npu-2.9.0.dist-info/METADATA");
    let harmless = facts(vec![with_differences(&[metadata])]);
    assert_eq!(found(run(record, &harmless)), [("metadata", Severity::Info, vec![])]);
    let entry_points = ("hash", "torch_npu-2.9.0.dist-info/entry_points.txt");
    let other = facts(vec![with_differences(&[entry_points])]);
    assert_eq!(found(run(record, &other))[0].1, Severity::Warning);
}

#[test]
fn missing_files_are_a_partial_installation() {
    let half = [("missing", "torch_npu/a.py"), ("missing", "torch_npu/b.py")];
    assert_eq!(found(run(record, &facts(vec![with_differences(&half)])))[0].0, "missing");
}

#[test]
fn what_the_elf_check_says_is_not_said_twice() {
    let files = [("size", "torch_npu/lib/a.so")];
    let mut damaged = facts(vec![with_differences(&files)]);
    damaged.link.objects = vec![LinkedObject {
        path: format!("{SITE}/torch_npu/lib/a.so"),
        defect: Some(ElfDefect::Empty),
        ..LinkedObject::default()
    }];
    assert!(found(run(record, &damaged))[0].2.contains(&"TNPU-ELF"));
    let more = [("size", "torch_npu/lib/a.so"), ("hash", "torch_npu/b.py")];
    damaged.integrity.packages = vec![with_differences(&more)];
    assert!(!found(run(record, &damaged))[0].2.contains(&"TNPU-ELF"), "b.py is another matter");
}

#[test]
fn what_was_not_hashed_is_never_passed() {
    for (why, key) in [("no_hash", "no_hash"), ("partial", "partial")] {
        let mut skipped = package();
        skipped.hash_skipped = Some(why.to_owned());
        skipped.upstream.verdict = "not_checked".to_owned();
        let skipped = facts(vec![skipped]);
        assert_eq!(reason(&run(record, &skipped)), key);
        assert_eq!(reason(&run(manifest, &skipped)), key);
    }
    let unreadable = facts(vec![with_differences(&[("unreadable", "torch_npu/a.py")])]);
    assert!(matches!(run(record, &unreadable), Outcome::Blocked(_)));
    let mut bad_rows = package();
    bad_rows.bad_rows = vec![(3, "no columns".to_owned())];
    assert_eq!(reason(&run(record, &facts(vec![bad_rows]))), "unreadable");
}

#[test]
fn the_verdict_of_the_published_wheel() {
    let with = |verdict: &str, files: &[&str]| {
        let mut package = package();
        package.upstream.verdict = verdict.to_owned();
        package.upstream.differing = files.iter().map(|path| differing("hash", path)).collect();
        package
    };
    let unknown = run(manifest, &facts(vec![with("unknown_version", &[])]));
    assert_eq!(reason(&unknown), "not_upstream");
    let differs = found(run(manifest, &facts(vec![with("differs", &["torch_npu/lib/a.so"])])));
    assert_eq!(differs, [("differs", Severity::Error, vec![])]);
    let record_only = found(run(manifest, &facts(vec![with("differs", &[])])));
    assert_eq!(record_only, [("record", Severity::Error, vec![])]);
    let other = found(run(manifest, &facts(vec![with("other_build", &["torch_npu/lib/a.so"])])));
    assert_eq!(other, [("other_build", Severity::Info, vec![])]);
    // TNPU-RECORD reports a file that differs from RECORD, too.
    let mut both = with("differs", &["torch_npu/lib/a.so"]);
    both.differing = vec![differing("hash", "torch_npu/lib/a.so")];
    assert_eq!(found(run(manifest, &facts(vec![both])))[0].2, ["TNPU-RECORD"]);
}

#[test]
fn a_stale_dist_info_beside_a_good_one_is_no_damage() {
    let mut stale = with_differences(&[("hash", "torch_npu/a.py")]);
    stale.unlisted = vec![format!("{SITE}/torch_npu/new.py")];
    stale.unlisted_total = 1;
    let facts = facts(vec![stale, package()]);
    assert_eq!(run(record, &facts), Outcome::Passed);
    assert_eq!(run(unlisted, &facts), Outcome::Passed);
}

#[test]
fn a_cut_record_is_not_called_fine() {
    let facts = facts(vec![PackageIntegrity { record_cut: true, ..package() }]);
    for check in [record, unlisted] {
        assert!(matches!(run(check, &facts), Outcome::NotChecked(_)));
    }
}

#[test]
fn foreign_files_are_named() {
    let mut strange = package();
    strange.unlisted = vec![format!("{SITE}/torch_npu/x.so"), format!("{SITE}/torch_npu/y.py")];
    strange.unlisted_total = 2;
    let mut strange = facts(vec![strange]);
    strange.integrity.stray_pth =
        vec![PthCode { path: format!("{SITE}/x.pth"), code: "import x".to_owned(), line: Some(1) }];
    let messages: Vec<_> = found(run(unlisted, &strange)).iter().map(|found| found.0).collect();
    assert_eq!(messages, ["files", "pth"]);
}
