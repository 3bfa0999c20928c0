//! Clusters of ranks as `scripts/gen_cluster_logs.py` makes them: what was planted is found.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::examined;

/// The kinds of failures that the script plants.
const KINDS: [&str; 6] = ["kernel", "link", "memory", "slow", "script", "absent"];

/// Makes a cluster below `folder`.
fn made(folder: &Path, ranks: u32, kind: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/gen_cluster_logs.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(folder).args(["--kind", kind, "--lines", "10"]);
    let status = command.args(["--ranks", &ranks.to_string()]).status();
    let status = status.expect("cannot start python3");
    assert!(status.success(), "{kind}");
    let planted = std::fs::read_to_string(folder.join("planted.json")).unwrap();
    serde_json::from_str(&planted).unwrap()
}

#[test]
fn the_planted_cause_and_rank_are_found() {
    for (ranks, kinds) in [(8, &KINDS[..]), (64, &["kernel", "absent"])] {
        for kind in kinds {
            let dir = tempfile::tempdir().unwrap();
            let planted = made(dir.path(), ranks, kind);
            let found = examined(dir.path());
            let first = &found.causes[0];
            let wanted = planted["causes"].as_array().unwrap();
            assert!(
                wanted.iter().any(|cause| *cause == first.cause.as_str()),
                "{kind} of {ranks}: {:?}",
                found.ranking
            );
            let culprit = planted["culprit"].as_u64().unwrap();
            let named: Vec<u64> = first.culprit.ranks.iter().copied().map(u64::from).collect();
            assert_eq!(named, [culprit], "{kind} of {ranks}: {:?}", first.culprit);
        }
    }
}
