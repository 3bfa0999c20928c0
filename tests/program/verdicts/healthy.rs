//! Healthy machines and complete healthy logs have a verdict: the budget of inconclusive results on
//! them is 0.

use std::path::Path;

use crate::support::recipe;
use crate::support::scan::Bench;

#[test]
fn healthy_machines_have_a_verdict() {
    let (mut bench, mut seen, mut open) = (Bench::new(), 0, Vec::new());
    for (name, recipe) in recipe::all().iter().filter(|(name, _)| name.starts_with("ok-")) {
        let args: Vec<&str> = recipe.expect.args.iter().map(String::as_str).collect();
        let scan = bench.scan(recipe.build(), &args);
        seen += 1;
        if scan.report["verdict"] != "pass" || scan.code != 0 {
            open.push(format!("{name}: {}", scan.report["headline"]["en"]));
        }
    }
    assert!(seen >= 15, "{seen}");
    assert!(open.is_empty(), "{open:#?}");
}

#[test]
fn complete_healthy_logs_have_a_verdict() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let marks = std::fs::read_to_string(root.join("data/errors/end_marks.toml")).unwrap();
    let marks: toml::Table = toml::from_str(&marks).unwrap();
    let run =
        std::fs::read_to_string(root.join("tests/fixtures/logs/healthy/training.log")).unwrap();
    let serving = root.join("tests/fixtures/logs/healthy/serving.log");
    let mut logs = vec![std::fs::read_to_string(serving).unwrap()];
    for mark in marks["mark"].as_array().unwrap() {
        logs.push(format!("{run}\n{}\n", mark["example"].as_str().unwrap()));
    }
    assert!(logs.len() >= 7, "{}", logs.len());
    let dir = tempfile::tempdir().unwrap();
    for text in &logs {
        let path = dir.path().join("run.log");
        std::fs::write(&path, text).unwrap();
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
        let output = program.args(["translate-error", "--json"]).arg(&path).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let last = text.lines().last().unwrap();
        assert_eq!(report["verdict"], "pass", "{last}: {:#}", report["coverage"]);
        assert_eq!(output.status.code(), Some(0), "{last}");
    }
}
