//! Every format, and the numbers for Prometheus with a third-party parser.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::site::{reports, run, written};

fn cluster() -> (tempfile::TempDir, String) {
    let all = reports(6, |number, report| {
        if number == 4 {
            report["fingerprint"]["driver"] = json!("24.1.rc2");
            report["facts"]["net"]["hccn"]["addresses"]["0"] = json!("10.20.1.1");
        }
    });
    let (dir, path) = written(&all);
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

#[test]
fn json_fits_the_schema() {
    let (_dir, path) = cluster();
    let (_, schema, _) = run(&["explain", "--report-schema"]);
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (_, text, _) = run(&["fleet", "merge", &path, "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn people_see_what_stands_out() {
    let (_dir, path) = cluster();
    for (format, signs) in [
        ("text", &["error[FLEET-ADDRESS]", "node[001,004]", "24.1.rc2", "fleet merge -v"][..]),
        ("markdown", &["FLEET-ADDRESS", "24.1.rc2"]),
        ("html", &["FLEET-ADDRESS", "24.1.rc2", "Content-Security-Policy"]),
        ("line", &["FLEET-ADDRESS: node[001,004] share"]),
    ] {
        let (code, text, _) = run(&["fleet", "merge", &path, "--format", format]);
        assert_eq!(code, 1, "{format}");
        for sign in signs {
            assert!(text.contains(sign), "{format} lacks {sign}: {text}");
        }
    }
    let (_, text, _) = run(&["fleet", "merge", &path, "--lang", "zh"]);
    assert!(text.contains("多台机器") && text.contains("主机"), "{text}");
}

#[test]
fn the_file_of_metrics_is_replaced_as_a_whole() {
    let (dir, path) = cluster();
    let file = dir.path().join("fleet.prom");
    let name = file.to_str().unwrap();
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (code, text, _) = run(&["fleet", "merge", &path, "--metrics-file", name]);
    assert_eq!(code, 1);
    assert!(text.contains("error[FLEET-ADDRESS]"), "the report is written too");
    let metrics = std::fs::read_to_string(&file).unwrap();
    assert!(metrics.ends_with("# EOF\n") && metrics.contains("state=\"clean\"} 6"), "{metrics}");
    // An existing file keeps its mode.
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "a temporary file is left: {left:?}");
    assert_eq!(run(&["fleet", "merge", &path, "--metrics-file", "/nonexistent/x.prom"]).0, 2);
}

/// Returns a Python with the client of Prometheus, installed from the package registry.
fn python() -> Command {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prometheus");
    if !place.join("prometheus_client").is_dir() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(&place);
        let output = pip.arg("prometheus_client").output().expect("cannot start python3");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", place);
    python
}

#[test]
#[ignore = "needs the Python package prometheus_client"]
fn prometheus_reads_the_numbers() {
    let (dir, path) = cluster();
    let machine = tempfile::tempdir().unwrap();
    let check = machine.path().to_str().unwrap();
    for (name, args) in [
        ("fleet", &["fleet", "merge", &path, "--format", "openmetrics"][..]),
        ("check", &["check", "--sysroot", check, "--format", "openmetrics"]),
    ] {
        let (_, text, errors) = run(args);
        let file = dir.path().join(format!("{name}.prom"));
        std::fs::write(&file, &text).unwrap();
        let script = "import sys\n\
            from prometheus_client.openmetrics import parser as new\n\
            from prometheus_client import parser as old\n\
            text = open(sys.argv[1]).read()\n\
            names = sorted(family.name for family in new.text_string_to_metric_families(text))\n\
            assert names == sorted(family.name for family in old.text_string_to_metric_families(text))\n\
            print(' '.join(names))";
        let output = python().args(["-c", script]).arg(&file).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {said}\n{text}{errors}");
        let names = String::from_utf8(output.stdout).unwrap();
        assert!(names.contains("ascend_doctor_findings"), "{names}");
        assert_eq!(names.contains("ascend_doctor_fleet_hosts"), name == "fleet", "{names}");
    }
}
