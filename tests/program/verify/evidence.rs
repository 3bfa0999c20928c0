//! `--evidence`: a run in one redacted file, and its replay.

use super::simulator::{Installation, OLD, doctor};

fn run(args: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, serde_json::Value) {
    let mut command = doctor(OLD.path());
    command.args(["verify", "--format", "json"]).args(args).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), report)
}

/// The parts of a report that a reader acts on.
fn judgement(report: &serde_json::Value) -> Vec<serde_json::Value> {
    let findings = report["findings"].as_array().unwrap();
    let of = |finding: &serde_json::Value| {
        serde_json::json!([
            finding["id"],
            finding["message"],
            finding["severity"],
            finding["title"]
        ])
    };
    findings.iter().map(of).chain([report["identities"].clone()]).collect()
}

#[test]
fn a_recorded_run_is_judged_alike() {
    let dir = Installation::empty();
    let path = dir.path().join("evidence.jsonl");
    let file = path.to_str().unwrap();
    for (fault, rung) in [
        ("", "compute"),
        ("kernel#1:flip", "compute"),
        ("aclrtSetDevice#none:ret=507033", "runtime"),
        ("kernel#0:segv", "compute"),
        ("aclnnAdd:say=100", "compute"),
    ] {
        let variables = [
            ("ASCSIM_DEVICES", "2"),
            ("ASCSIM_FAULT", fault),
            ("HOME", "/home/somebody"),
            ("HCCL_IF_IP", "10.20.30.40"),
            ("ASCEND_SECRET_TOKEN", "token=abcdefghijklmnop0123456789"),
            ("UNRELATED", "not to be recorded"),
        ];
        let args =
            ["--rung", rung, "--dtype", "fp16", "--evidence", file, "--host", "machine-seven"];
        let (status, report) = run(&args, &variables);
        let text = std::fs::read_to_string(&path).unwrap();
        for secret in ["10.20.30.40", "abcdefghijklmnop", "not to be recorded", "machine-seven"] {
            assert!(!text.contains(secret), "{secret}: {fault}");
        }
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["schema"], "ascend-doctor/verify-evidence/1");
        let calls = lines.iter().filter(|line| line["event"] == "call").count();
        let returned: Vec<&serde_json::Value> =
            lines.iter().filter(|line| line["event"] == "returned").collect();
        assert!(calls >= returned.len() && !returned.is_empty(), "{calls} calls");
        assert!(returned.iter().all(|line| line["us"].is_u64()));
        if fault.contains("507033") {
            assert!(returned.iter().any(|line| line["code"] == 507_033));
        }
        let (again, replayed) = run(&["--replay", file], &[]);
        assert_eq!(again, status, "{fault}");
        assert_eq!(judgement(&replayed), judgement(&report), "{fault}");
    }
    // A truncated file is not evidence.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 100]).unwrap();
    let output = doctor(OLD.path()).args(["verify", "--replay", file]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
