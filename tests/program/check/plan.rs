//! `check --plan`: every error has a step, no step occurs twice, and the selected versions are
//! compatible.

use std::collections::BTreeSet;

use serde_json::Value;

use super::contract::{machine, run};
use crate::support::recipe;
use crate::support::scan::{Bench, Scan};
use crate::support::tree::Tree;

/// Whether the selection of versions resolves the findings of a check.
fn is_about_versions(scan: &Scan, id: &str) -> bool {
    let plan = &scan.report["plan"];
    ["tested", "untested"].iter().any(|member| {
        plan[*member].as_array().unwrap().iter().any(|check| check == id || check["id"] == id)
    })
}

fn steps(scan: &Scan) -> &Vec<Value> {
    scan.report["plan"]["steps"].as_array().unwrap()
}

#[test]
fn every_error_of_every_machine_has_an_answer() {
    let mut bench = Bench::new();
    let mut wrong = Vec::new();
    for (name, recipe) in recipe::all() {
        let args: Vec<&str> = recipe.expect.args.iter().map(String::as_str).collect();
        let args: Vec<&str> = args.into_iter().chain(["--plan"]).collect();
        let scan = bench.scan(recipe.build(), &args);
        let answered: BTreeSet<&str> = steps(&scan)
            .iter()
            .flat_map(|step| step["findings"].as_array().unwrap())
            .chain(scan.report["plan"]["remaining"].as_array().unwrap().iter().map(|it| &it["id"]))
            .map(|id| id.as_str().unwrap())
            .collect();
        for id in scan.ids("error") {
            if !answered.contains(id.as_str()) && !is_about_versions(&scan, &id) {
                wrong.push(format!("{name}: nothing answers {id}"));
            }
        }
        // The order is that of the phases, and no step is repeated.
        let order = [
            None,
            Some("host"),
            Some("container"),
            Some("cann"),
            Some("files"),
            Some("python"),
            Some("packages"),
            Some("environment"),
        ];
        let at = |step: &Value| order.iter().position(|name| *name == step["phase"].as_str());
        let phases: Vec<Option<usize>> = steps(&scan).iter().map(at).collect();
        if phases.contains(&None) || !phases.is_sorted() {
            wrong.push(format!("{name}: the order is {phases:?}"));
        }
        let runs: Vec<&str> = steps(&scan).iter().filter_map(|step| step["run"].as_str()).collect();
        if runs.iter().collect::<BTreeSet<_>>().len() != runs.len() {
            wrong.push(format!("{name}: a step stands twice: {runs:?}"));
        }
        if scan.ids("error").is_empty() && !steps(&scan).is_empty() {
            wrong.push(format!("{name}: steps without an error: {runs:?}"));
        }
        // Remaining errors contradict the selection.
        let left = scan.report["plan"]["remaining"].as_array().unwrap();
        if left.iter().any(|found| found["severity"] == "error") {
            wrong.push(format!("{name}: {left:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The command lines of a plan.
fn commands(name: &str, change: impl FnOnce(&mut Tree), args: &[&str]) -> Vec<String> {
    let mut tree = machine(name);
    change(&mut tree);
    let scan = Bench::new().scan(tree, &[args, &["--plan"]].concat());
    let runs = steps(&scan).iter().filter_map(|step| step["run"].as_str());
    runs.map(str::to_owned).collect()
}

#[test]
fn versions_are_chosen_together() {
    // The torch of the pinned torch_npu is installed with it.
    let commands_of = |name| commands(name, |_| {}, &[]);
    let python = "/usr/local/python3.11.14/bin/python3 -m pip install";
    assert_eq!(
        commands_of("vllm-ascend-other-torch"),
        [
            format!("{python} torch==2.7.1"),
            format!("{python} torch_npu==2.7.1 pyyaml setuptools 'numpy<2'"),
        ]
    );
    // Installing vLLM also installs another torch: both are corrected afterwards.
    let pair = commands_of("f16-vllm-pair");
    assert_eq!(pair.len(), 3, "{pair:?}");
    assert!(pair[0].ends_with("vllm==0.11.0"), "{pair:?}");
    assert!(pair[1].ends_with("torch==2.7.1") && pair[2].ends_with("torch_npu==2.7.1"), "{pair:?}");
    // A container cannot change its driver, so CANN is changed, with all of its parts and the
    // packages that need it.
    let older = commands_of("f13-driver-too-old");
    assert!(older.iter().any(|run| run.contains("toolkit_8.5.2")), "{older:?}");
    assert!(older.iter().any(|run| run.contains("nnal_8.5.2")), "{older:?}");
    assert!(!older.iter().any(|run| run.contains("driver")), "{older:?}");
    // Only the operators of the wrong chip are replaced.
    assert_eq!(
        commands_of("f11-wrong-chip"),
        ["bash Atlas-A3-cann-kernels_8.3.RC1_linux-aarch64.run --install"]
    );
    // Missing packages of the goal are selected for the installed torch and CANN.
    let serving = commands("ok-host-910b", |_| {}, &["--profile", "vllm"]);
    let at = |word: &str| serving.iter().position(|run| run.contains(word));
    assert!(at(" vllm==").is_some() && at(" vllm==") < at(" vllm-ascend=="), "{serving:?}");
    // A new environment has nothing to reinstall.
    let fresh = commands_of("f20-python-unsupported");
    assert!(fresh[0].starts_with("python3.11 -m venv"), "{fresh:?}");
    assert!(fresh.iter().all(|run| !run.contains("--force-reinstall")), "{fresh:?}");
}

#[test]
fn scripts_read_well() {
    for name in ["f16-vllm-pair", "f13-driver-too-old", "f05-driver-not-mounted", "ok-host-910b"] {
        let dir = tempfile::tempdir().unwrap();
        machine(name).write(dir.path());
        let root = dir.path().to_str().unwrap();
        for lang in ["en", "zh"] {
            let args = ["--lang", lang, "check", "--plan", "--sysroot", root];
            let (code, text, errors) = run(&args);
            assert_eq!((code, errors.as_str()), (i32::from(!name.starts_with("ok")), ""));
            insta::assert_snapshot!(format!("plan_{name}_{lang}"), text);
            // It is a valid script in any case.
            let script = dir.path().join("plan.sh");
            std::fs::write(&script, &text).unwrap();
            let parsed = std::process::Command::new("bash").arg("-n").arg(&script).output();
            assert!(parsed.unwrap().status.success(), "{text}");
        }
    }
}

#[test]
fn only_text_and_json_hold_a_plan() {
    let (code, _, errors) = run(&["--format", "sarif", "check", "--plan", "--sysroot", "/"]);
    assert_eq!(code, 2, "{errors}");
    let (code, _, errors) = run(&["check", "--plan", "--query", "host"]);
    assert_eq!(code, 2, "{errors}");
}
