use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::host;
use super::measurement::Measurement;
use super::minimums::{Minimums, Row};
use super::models::{self, Kind};
use super::{Options, logs, report};

fn measured(name: &'static str, right: usize, total: usize) -> Measurement {
    let results = (0..total).map(|at| (at >= right).then(|| format!("sample {at}")));
    Measurement::of(name, results)
}

fn rows(table: &str, measurements: Vec<Measurement>) -> anyhow::Result<Vec<Row>> {
    Minimums::parse(table)?.compare(measurements)
}

#[test]
fn figure_below_its_minimum_fails() {
    for (right, total, passed, better) in [
        (9, 10, true, false),
        (8, 10, false, false),
        (10, 10, true, true),
        (18, 20, true, true),
        (17, 20, false, false),
        // A higher share, but fewer samples.
        (9, 9, false, false),
    ] {
        let rows = rows("# comment\na\t9\t10\n", vec![measured("a", right, total)]).unwrap();
        assert_eq!((rows[0].passed(), rows[0].is_better()), (passed, better), "{right} of {total}");
    }
}

#[test]
fn measurement_and_minimum_need_each_other() {
    let error = rows("a\t1\t1\n", vec![]).unwrap_err().to_string();
    assert!(error.contains("`a` has a recorded minimum and no measurement"), "{error}");
    let error = rows("", vec![measured("a", 1, 1)]).unwrap_err().to_string();
    assert!(error.contains("`a` has no recorded minimum"), "{error}");
    for table in ["a\t1\n", "a\t2\t1\n", "a\tx\t1\n"] {
        assert!(Minimums::parse(table).is_err(), "{table}");
    }
    Minimums::read().unwrap();
}

#[test]
fn report_has_a_line_for_each_measurement() {
    let table = "a\t2\t2\nb\t2\t2\nc\t0\t4\n";
    let all = vec![measured("a", 2, 2), measured("b", 1, 2), measured("c", 1, 4)];
    let rows = rows(table, all).unwrap();
    let text = report::text(&rows, false);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].ends_with("2 of    2  100.0%  minimum 100.0% (2 of 2)  ok"), "{text}");
    assert!(lines[1].ends_with("BELOW THE MINIMUM"), "{text}");
    assert!(lines[2].ends_with("ok, raise the minimum"), "{text}");
    assert_eq!(lines[3], "b: sample 1");
    assert_eq!(report::text(&rows, true).lines().count(), 7);
    let value: Value = serde_json::from_str(&report::json(&rows)).unwrap();
    assert_eq!(value["measurements"][1]["passed"], false);
    assert_eq!(value["measurements"][1]["misses"], json!(["sample 1"]));
    assert_eq!(value["measurements"][0]["minimum"]["right"], 2);
}

#[test]
fn ranking_is_read_from_the_report() {
    let report = json!({ "diagnosis": { "ranking": [{ "cause": "a.b" }, { "cause": "c.d" }] } });
    assert_eq!(logs::causes(&report).unwrap(), ["a.b", "c.d"]);
    assert_eq!(logs::causes(&json!({})), None);
}

#[test]
fn operators_are_compared_by_kind() {
    let counts = |rows: &[(&str, u64)]| -> BTreeMap<String, u64> {
        rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    let truth = counts(&[
        ("aten::add.Tensor", 1),
        ("aten::add.Scalar", 2),
        ("aten::len.t", 3),
        ("<built-in function getitem>", 4),
    ]);
    let script = models::expected(Kind::Script, &truth);
    assert_eq!(script, counts(&[("aten::add", 3)]));
    assert_eq!(models::expected(Kind::Export, &truth).len(), 3);
    let operators = json!([{ "op": "onnx::Conv", "count": 6 }]);
    let report = json!({ "inputs": [{ "operators": operators }] });
    assert_eq!(models::listed(Kind::Onnx, &report), Some(counts(&[("Conv", 6)])));
    assert_eq!(models::listed(Kind::Onnx, &json!({ "inputs": [] })), None);
    let difference = |kind, found: &[(&str, u64)]| {
        models::differences(kind, &script, &counts(found)).unwrap_or_default()
    };
    assert_eq!(difference(Kind::Script, &[("aten::add", 3)]), "");
    assert_eq!(
        difference(Kind::Script, &[("aten::add", 2)]),
        "1 operators differ: aten::add: 2 uses, expected 3"
    );
    assert_eq!(difference(Kind::Trace, &[("aten::add", 2)]), "");
    assert_ne!(difference(Kind::Trace, &[]), "");
    assert_ne!(difference(Kind::Trace, &[("aten::add", 3), ("aten::mul", 1)]), "");
}

#[test]
fn outermost_operators_are_found_per_thread() {
    let event = |name: &str, tid: u32, ts: f64, dur: f64| json!({ "ph": "X", "cat": "cpu_op", "name": name, "tid": tid, "ts": ts, "dur": dur });
    let trace = json!({ "traceEvents": [
        event("aten::mm", 1, 1.0, 2.0),
        event("aten::linear", 1, 0.0, 4.0),
        event("aten::relu", 2, 1.0, 1.0),
        event("aten::add", 1, 4.0, 1.0),
        { "ph": "X", "cat": "kernel", "name": "k", "tid": 3, "ts": 9.0, "dur": 1.0 },
        { "ph": "M" },
    ] });
    let names: Vec<String> = models::outermost(&trace).into_iter().collect();
    assert_eq!(names, ["aten::add", "aten::linear", "aten::relu"]);
}

#[test]
fn names_of_host_samples_hold_the_expected_result() {
    let expected = |name: &str| host::sample(name).unwrap().expected;
    assert_eq!(expected("driver_version.info_950_25.1.rc2"), ["25.1.rc2"]);
    assert_eq!(expected("firmware_version.info_7.1.0.11.220"), ["7.1.0.11.220"]);
    assert_eq!(expected("ascend_toolkit_install.info_9.0.0-beta.1"), ["9.0.0-beta.1"]);
    assert_eq!(
        expected("npu-smi_info_910B2C_25.0.rc1.1_x86.txt"),
        ["table", "910B2C", "25.0.rc1.1"]
    );
    assert_eq!(expected("npu-smi_error_8005.txt"), ["error", "8005"]);
    let wheel = host::sample("wheel_torch_npu-2.9.0.post1-cp311-cp311-manylinux_2_28_x86_64.WHEEL")
        .unwrap();
    assert_eq!(wheel.expected, ["2.9.0.post1", "3.11"]);
    assert_eq!(wheel.files.len(), 4);
    assert_eq!(host::sample("SOURCES.json"), None);
}

#[test]
fn table_of_npu_smi_is_compared_with_its_text() {
    let text = "| npu-smi 24.1.0 |\n| 0 | 0000:9D:00.0 | 0 |\n| 1 | 0000:9F:00.0 | 0 |\n";
    let chip = |address: &str| json!({ "name": "Ascend910", "bus_id": address });
    let both =
        json!({ "version": "24.1.0", "chips": [chip("0000:9D:00.0"), chip("0000:9F:00.0")] });
    let (found, expected) = host::table(&both, text, "A3", "24.1.0").unwrap();
    assert_eq!(found, expected);
    let one = json!({ "version": "24.1.0", "chips": [chip("0000:9D:00.0")] });
    let (found, expected) = host::table(&one, text, "A3", "24.1.0").unwrap();
    assert_ne!(found, expected);
}

/// Writes the smallest complete set of samples, for a program that fails on all of them.
fn samples(dir: &Path) -> Options {
    let write = |path: &str, text: &str| {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let index = json!({ "logs": [{ "file": "1.txt", "expected_label": "a.b" }] }).to_string();
    for dir in ["logs", "logs/more"] {
        write(&format!("{dir}/index.json"), &index);
        write(&format!("{dir}/1.txt"), "a line\n");
    }
    let files = json!({ "m.onnx": { "kind": "onnx", "ops": { "Conv": 1 } } });
    write("samples/ops/ground_truth.json", &json!({ "m": { "files": files } }).to_string());
    write("samples/ops/m.onnx", "");
    let harmless = json!({ "rows": [{ "line": "all is well" }] });
    write("facts/errors_benign_dev.json", &harmless.to_string());
    write("samples/host/driver_version.info_1.0", "Version=1.0\n");
    Options {
        shared: Some(dir.to_owned()),
        program: Some("/bin/sh".into()),
        misses: false,
        json: false,
        variants: 2,
        seed: 1,
        timeout: 30,
    }
}

#[test]
fn absent_or_unreadable_samples_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let options = samples(dir.path());
    // A wrong result is not an error.
    assert!(!super::run(&options).unwrap());
    for path in [
        "samples/host",
        "samples/ops/m.onnx",
        "logs/more/1.txt",
        "logs/index.json",
        "facts/errors_benign_dev.json",
    ] {
        let (place, away) = (dir.path().join(path), dir.path().join("away"));
        std::fs::rename(&place, &away).unwrap();
        let error = super::run(&options).unwrap_err().to_string();
        assert!(error.contains(path), "{path}: {error}");
        std::fs::rename(&away, &place).unwrap();
    }
    std::fs::write(dir.path().join("logs/index.json"), "{").unwrap();
    assert!(super::run(&options).unwrap_err().to_string().contains("index.json"));
    let options = Options { shared: Some(dir.path().join("nothing")), ..options };
    let error = super::run(&options).unwrap_err().to_string();
    assert!(error.contains("there is no directory"), "{error}");
}
