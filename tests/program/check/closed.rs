//! Directories without access: files in them are not missing.

use std::path::Path;

use serde_json::Value;
use walkdir::WalkDir;

use super::contract::machine;
use crate::support::unprivileged::{Place, mode};

/// Runs `check` as an unprivileged user.
fn check(place: &Place, root: &Path, args: &[&str]) -> (i32, Value) {
    let mut command = place.program();
    let output =
        command.args(["check", "--json", "--sysroot"]).arg(root).args(args).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"));
    (output.status.code().unwrap(), report)
}

/// `ID title` of the findings, except those about unreadable files.
fn found(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|one| one["id"] != "SCAN-READ")
        .map(|one| format!("{} {}", one["id"], one["title"]["en"]))
        .collect()
}

fn closed(report: &Value) -> usize {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().filter(|one| one["id"] == "SCAN-READ").count()
}

/// The required links that are not examined.
fn unexamined(report: &Value) -> Vec<&str> {
    let links = report["coverage"].as_array().unwrap().iter();
    let open = links.filter(|link| link["need"] == "required" && link["state"] == "not_examined");
    open.map(|link| link["id"].as_str().unwrap()).collect()
}

/// One directory after the other is closed: there are no new findings, and if a rule is blocked,
/// the result is inconclusive.
#[test]
fn what_is_behind_a_closed_directory_is_not_missing() {
    let dir = tempfile::tempdir().unwrap();
    machine("ok-vllm-container").write(dir.path());
    mode(dir.path(), 0o755);
    let place = Place::new();
    let (status, before) = check(&place, dir.path(), &[]);
    assert_eq!(status, 0, "{before:#}");
    let before = found(&before);
    let directories = WalkDir::new(dir.path()).min_depth(1).into_iter().map(Result::unwrap);
    let directories = directories.filter(|entry| entry.file_type().is_dir());
    let mut hidden = 0;
    for entry in directories.map(walkdir::DirEntry::into_path).collect::<Vec<_>>() {
        mode(&entry, 0o000);
        let (status, report) = check(&place, dir.path(), &[]);
        mode(&entry, 0o755);
        let new: Vec<_> = found(&report).into_iter().filter(|one| !before.contains(one)).collect();
        assert_eq!(new, [""; 0], "{}", entry.display());
        let closed = closed(&report);
        assert!(closed <= 1, "one cause is one finding: {}: {report:#}", entry.display());
        let open = unexamined(&report);
        assert_eq!(status, if open.is_empty() { 0 } else { 3 }, "{}: {open:?}", entry.display());
        hidden += closed;
    }
    assert!(hidden > 50, "{hidden}");
}

/// A gate with a single check does not pass if that check is blocked.
#[test]
fn a_check_that_was_asked_for_alone_does_not_pass() {
    let dir = tempfile::tempdir().unwrap();
    machine("ok-vllm-container").write(dir.path());
    mode(dir.path(), 0o755);
    let cann = dir.path().join("usr/local/Ascend/cann-8.5.1");
    mode(&cann, 0o000);
    let place = Place::new();
    let only = ["CANN-FOUND", "CANN-ENV", "CANN-OPS", "SCAN-READ"];
    let status = only.map(|only| check(&place, dir.path(), &["--only", only]).0);
    let other = check(&place, dir.path(), &["--only", "HOST-GLIBC"]).0;
    mode(&cann, 0o755);
    assert_eq!(status, [3; 4]);
    assert_eq!(other, 0, "what has nothing to do with it has its verdict");
}

/// A recording lists what it could not access, so that its evaluation elsewhere gives the same
/// result as on the machine.
#[test]
fn a_recording_keeps_what_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    machine("ok-vllm-container").write(dir.path());
    mode(dir.path(), 0o755);
    let site = "usr/local/python3.11.14/lib/python3.11/site-packages";
    let place = Place::new();
    for closed in [
        "usr/local/Ascend/cann-8.5.1".to_owned(),
        "usr/local/Ascend/cann-8.5.1/aarch64-linux/lib64".to_owned(),
        "usr/local/Ascend/driver/lib64".to_owned(),
        format!("{site}/torch_npu"),
        format!("{site}/attrs-25.1.0.dist-info"),
        format!("{site}/vllm_ascend/__init__.py"),
        "usr".to_owned(),
    ] {
        let recording = tempfile::tempdir().unwrap();
        mode(recording.path(), 0o777);
        let into = recording.path().join("machine");
        let path = dir.path().join(&closed);
        let before = std::fs::metadata(&path).unwrap().permissions();
        mode(&path, 0o000);
        let there = check(&place, dir.path(), &["--record", into.to_str().unwrap()]);
        std::fs::set_permissions(&path, before).unwrap();
        let elsewhere = check(&place, &into, &[]);
        assert_eq!(elsewhere.0, there.0, "{closed}");
        assert_eq!(elsewhere.1["findings"], there.1["findings"], "{closed}");
        assert_eq!(elsewhere.1["coverage"], there.1["coverage"], "{closed}");
    }
}
