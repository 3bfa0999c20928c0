//! The confidence of a diagnosis, and the evidence that would raise it.

use super::*;
use crate::KnownFacts;
use crate::log::scan::{Limits, scan};

#[test]
fn confidence_grows_with_the_evidence_and_with_the_distance_to_the_next() {
    let percent = |score, next| (compute_confidence(score, next) * 100.0).round().to_string();
    assert_eq!(percent(85, 60), "100");
    assert_eq!(percent(85, 85), "75", "as much speaks for another");
    assert_eq!(percent(85, 75), "85");
    assert_eq!(percent(120, 0), "100", "no more than certain");
    assert_eq!(percent(GUESS, 0), "39");
    assert_eq!(percent(GUESS - 1, 0), "20", "a guess, even if nothing else is there");
    assert_eq!(percent(0, 0), "15");
    assert_eq!(percent(-40, 0), "15");
}

fn lacking(cause: &str, files: &[(&str, &str)], silent: &[u32]) -> Vec<String> {
    let files: Vec<FileReport> = files
        .iter()
        .map(|(name, text)| scan(name, &mut text.as_bytes(), Limits::default()))
        .collect();
    let suspect = Suspect {
        cause: cause.to_owned(),
        role: Role::Root,
        confidence: 0.5,
        culprit: FaultLocation::default(),
        evidence: Vec::new(),
        values: BTreeMap::new(),
        first: None,
        count: 1,
        consequences: Vec::new(),
        known: KnownFacts::new(),
        score: 50,
        gravity: crate::log::gravity::Gravity::Failure,
    };
    let missing =
        find_missing_evidence(&suspect, &known::list_evidence_at_hand(&files, silent), silent);
    for one in &missing {
        let ranks = if one.evidence.contains("all_ranks") { silent } else { &[] };
        assert_eq!(one.ranks, ranks, "{}", one.evidence);
    }
    missing.into_iter().map(|one| one.evidence).collect()
}

#[test]
fn what_is_there_is_not_asked_for() {
    const KERNEL: &str = "aicore.kernel_exception";
    const ERROR: &str =
        "[ERROR] RUNTIME(1,python):2026-01-01-00:00:00.000.000 [a.cc:1] error code is 507035\n";
    let all = ["plog", "device_log", "traceback"];
    assert_eq!(lacking(KERNEL, &[("train.log", "")], &[]), all);
    assert_eq!(lacking(KERNEL, &[("train.log", ERROR)], &[]), all[1..]);
    assert_eq!(lacking(KERNEL, &[("plog/plog-1_1.log", "")], &[]), all[1..]);
    assert_eq!(lacking(KERNEL, &[("device-0/device-1_1.log", "")], &[]), ["plog", "traceback"]);
    let traceback = "Traceback (most recent call last):\nRuntimeError: NPU out of memory\n";
    assert_eq!(lacking(KERNEL, &[("train.log", traceback)], &[]), all[..2]);
    assert_eq!(lacking("no.cause", &[], &[]), [""; 0]);
}

#[test]
fn all_ranks_are_more_than_one_file_and_nobody_silent() {
    const WAITED: &str = "framework.store_timeout";
    let asked = |files: &[(&str, &str)], silent: &[u32]| {
        let lacking = lacking(WAITED, files, silent);
        ["plog_all_ranks", "all_ranks_stdout"].map(|one| lacking.iter().any(|lack| lack == one))
    };
    let plogs = [("plog-1", ""), ("plog-2", "")];
    assert_eq!(asked(&plogs[..1], &[]), [true, true]);
    assert_eq!(asked(&plogs, &[]), [false, false]);
    assert_eq!(asked(&plogs, &[3]), [true, true]);
    assert_eq!(asked(&[("rank0.log", ""), ("rank1.log", "")], &[]), [true, false]);
}

#[test]
fn messages_of_the_kernel_have_two_names() {
    const NONE: &str = "driver.no_device";
    let asked = |name| lacking(NONE, &[(name, "")], &[]).contains(&"dmesg".to_owned());
    assert!(asked("train.log") && !asked("dmesg.txt") && !asked("var/log/messages"));
}
