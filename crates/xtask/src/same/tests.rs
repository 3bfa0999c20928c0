//! The comparison from program to verdict, with shell scripts as programs.

use std::os::unix::fs::PermissionsExt as _;

use super::case::args;
use super::compare::Change;
use super::judge::Verdict;
use super::*;

const LIMITS: Limits = Limits { time: Duration::from_secs(30), bytes: 1 << 20 };

/// The program that is compared with variants of itself.
const SCRIPT: &str = r#"#!/bin/sh
case "$1" in
    --version) echo "ascend-doctor 0.1.0" ;;
    check) echo "Every NPU has a device node"; exit 1 ;;
    convert) sed -i 's/cuda/npu/' tree/a.py; echo "ascend-doctor 0.1.0: converted" ;;
    random) echo "run $$" ;;
    wait) sleep 20 ;;
    *) echo "error: unknown command $1" >&2; exit 2 ;;
esac
"#;

fn write_program(dir: &Path, name: &str, script: &str) -> Program {
    let path = dir.join(name);
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Another test may have the file open for writing in a process that it is starting.
    for _ in 0..50 {
        match Program::new(&path, LIMITS) {
            Err(error) if format!("{error:#}").contains("busy") => {
                std::thread::sleep(Duration::from_millis(20));
            }
            program => return program.unwrap(),
        }
    }
    panic!("{} stays busy", path.display());
}

fn cases() -> Vec<Case> {
    vec![
        Case::new("check/a/text").step(args!["check"]),
        Case::new("convert/a/in-place").file("tree/a.py", "x.cuda()\n").step(args!["convert"]),
        Case::new("random/pid").step(args!["random"]),
        Case::new("usage/unknown").step(args!["zebra"]).refused(),
        Case::new("usage/unmarked").step(args!["zebra"]),
    ]
}

/// Compares the script with a changed one.
fn compare_with(changed: &str, allow: &AllowList) -> Vec<Outcome> {
    let dir = tempfile::tempdir().unwrap();
    let old = write_program(dir.path(), "old", SCRIPT);
    let new = write_program(dir.path(), "new", changed);
    let normalizers = [
        Normalizer::new(&old.version, &new.version).unwrap(),
        Normalizer::new(&new.version, &old.version).unwrap(),
    ];
    let (old, new, shared_inputs) = (&old, &new, dir.path());
    let scope = Scope::Everything;
    let judge = Judge { old, new, allow, normalizers, shared_inputs, scope };
    run_cases(&cases(), &judge, &dir.path().join("cases")).unwrap()
}

fn verdicts(outcomes: &[Outcome]) -> Vec<&Verdict> {
    outcomes.iter().map(|outcome| &outcome.verdict).collect()
}

#[test]
fn a_program_does_not_differ_from_itself() {
    let outcomes = compare_with(SCRIPT, &AllowList::default());
    let (equal, unstable) = (&Verdict::Equal, &Verdict::Unstable);
    assert_eq!(verdicts(&outcomes), [equal, equal, unstable, equal, equal]);
    assert_eq!(Counts::of(&outcomes).unexplained, 0);
    let refused: Vec<bool> = outcomes.iter().map(|outcome| outcome.refused).collect();
    assert_eq!(refused, [false, false, false, false, true]);
}

#[test]
fn a_changed_word_is_reported() {
    let outcomes = compare_with(&SCRIPT.replace("Every NPU", "Each NPU"), &AllowList::default());
    assert_eq!(outcomes[0].verdict, Verdict::Different);
    assert_eq!(Counts::of(&outcomes).unexplained, 1);
    let report = report::describe_differences(&outcomes, Bounds { lines: 20, diffs: 5 });
    let wanted = "different  check/a/text\n    stdout\n      @@ -1 +1 @@\n      \
                  -Every NPU has a device node\n      +Each NPU has a device node\n";
    assert!(report.starts_with(wanted), "{report}");
}

#[test]
fn changed_files_and_statuses_are_reported() {
    let changed = SCRIPT.replace("s/cuda/npu/", "s/cuda/xpu/").replace("exit 1", "exit 0");
    let outcomes = compare_with(&changed, &AllowList::default());
    let lines = |index: usize| -> Vec<&str> {
        outcomes[index].changes.iter().flat_map(Change::changed_lines).collect()
    };
    assert_eq!(lines(0), ["-exit status 1", "+exit status 0"]);
    assert_eq!(lines(1), ["-x.npu()", "+x.xpu()"]);
    assert_eq!(outcomes[1].changes[0].part, "file tree/a.py");
}

#[test]
fn a_new_version_is_no_difference() {
    let outcomes = compare_with(&SCRIPT.replace("0.1.0", "0.2.0"), &AllowList::default());
    assert_eq!(Counts::of(&outcomes).unexplained, 0);
    assert_eq!(outcomes[1].verdict, Verdict::Equal);
}

#[test]
fn intended_differences_do_not_fail_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("allow.toml");
    let entry = "[[difference]]\ncase = 'check/'\ntext = 'NPU has'\nreason = 'shorter'\n";
    std::fs::write(&path, entry).unwrap();
    let allow = AllowList::read(&path).unwrap();
    let outcomes = compare_with(&SCRIPT.replace("Every NPU", "Each NPU"), &allow);
    assert_eq!(outcomes[0].verdict, Verdict::Explained(vec!["shorter".to_owned()]));
    assert_eq!(Counts::of(&outcomes).unexplained, 0);
    assert!(allow.unused().is_empty());
}

#[test]
fn a_case_that_both_do_not_finish_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let program = write_program(dir.path(), "old", SCRIPT);
    let limits = Limits { time: Duration::from_millis(100), ..LIMITS };
    let program = program.with_limits(limits);
    let normalizers = [(); 2].map(|()| Normalizer::new("1", "1").unwrap());
    let (old, new, shared_inputs) = (&program, &program, dir.path());
    let allow = &AllowList::default();
    let scope = Scope::Everything;
    let judge = Judge { old, new, allow, normalizers, shared_inputs, scope };
    let case = Case::new("wait/long").step(args!["wait"]);
    let outcome = judge.judge(&case, &dir.path().join("case")).unwrap();
    assert_eq!(outcome.verdict, Verdict::TimedOut);
    let totals = report::describe_totals(&[outcome], &Summary::default());
    assert!(totals.contains("by both programs: 1\n  wait/long"), "{totals}");
}

#[test]
fn complete_diffs_are_written_to_files() {
    let outcomes = compare_with(&SCRIPT.replace("Every NPU", "Each NPU"), &AllowList::default());
    let dir = tempfile::tempdir().unwrap();
    report::write_diffs(&outcomes, dir.path()).unwrap();
    let diff = std::fs::read_to_string(dir.path().join("check-a-text.diff")).unwrap();
    assert!(diff.starts_with("--- stdout (old)\n+++ stdout (new)\n@@ -1 +1 @@\n"), "{diff}");
}
