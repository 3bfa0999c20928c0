//! The matrix against the list of published wheels, and `compat` as users see it.
#![expect(clippy::disallowed_methods, reason = "reads a table of the repository and runs programs")]
#![expect(clippy::unwrap_used, reason = "a failure is what the test shows")]

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use data::Matrix;

/// Every wheel of the list of published wheels has a row in the matrix, with its Python and
/// architecture.
#[test]
fn matrix_has_a_row_for_every_published_wheel() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/known_wheels.tsv");
    let list = std::fs::read_to_string(list).unwrap();
    let mut wheels = 0;
    for name in list.lines().filter_map(|line| line.strip_prefix("w\t")) {
        let name = name.split('\t').next().unwrap();
        let mut parts = name.split('-');
        let (version, tag) = (parts.next().unwrap(), parts.next().unwrap());
        let python = format!("3.{}", tag.strip_prefix("cp3").unwrap());
        let arch = if name.ends_with("aarch64") { "aarch64" } else { "x86_64" };
        let row = Matrix::builtin().torch_npu(&version.parse().unwrap());
        let row = row.unwrap_or_else(|| panic!("{version} has no row"));
        assert_eq!(row.has_wheel(arch, &python), Some(true), "{name}");
        wheels += 1;
    }
    assert!(wheels > 500, "{wheels}");
}

fn compat(arguments: &[&str]) -> (Option<i32>, String, String) {
    let root = tempfile::tempdir().unwrap();
    let output = Command::new(cargo_bin!("ascend-doctor"))
        .arg(arguments[0])
        .arg("--root")
        .arg(root.path())
        .args(&arguments[1..])
        .env_clear()
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn what_to_install_for_a_torch() {
    let arguments =
        ["compat", "--torch", "2.7.1", "--cann", "8.3.RC1", "--arch", "x86_64", "--python", "3.11"];
    let (code, text, _) = compat(&arguments);
    assert_eq!(code, Some(0));
    assert!(text.contains("python3.11 -m pip install torch_npu==2.7.1 pyyaml"), "{text}");
    assert!(text.contains("torch==2.7.1 --index-url https://download.pytorch.org/whl/cpu"));
    assert!(
        text.contains("'numpy<2'") && text.contains("Ascend-cann-toolkit_8.3.RC1_linux-x86_64")
    );
}

#[test]
fn pages_fit_eighty_columns_but_for_commands() {
    let (code, text, _) = compat(&["check", "--list-compat"]);
    assert_eq!(code, Some(0));
    for line in text.lines().filter(|line| !line.contains("pip install")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(compat(&["compat"]).1.lines().count(), text.lines().count());
}

#[test]
fn no_answer_is_no_verdict_and_bad_input_is_misuse() {
    let (code, text, _) = compat(&["compat", "--torch", "2.7", "-q"]);
    assert_eq!(code, Some(3));
    assert!(text.contains("2.7.1"), "{text}");
    assert_eq!(compat(&["compat", "--torch", "x"]).0, Some(2));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("m.toml");
    std::fs::write(&file, "schema = \"ascend-doctor/matrix/1\"\nas_of = \"x\"\n[[cann]]\n")
        .unwrap();
    for command in ["compat", "check"] {
        let (code, _, error) = compat(&[command, "--matrix", file.to_str().unwrap()]);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains("m.toml") && error.contains("line 3"), "{error}");
    }
}

/// Of filters that contradict each other none is dropped: there is no answer, and no row.
#[test]
fn filters_that_nothing_satisfies_together_have_no_answer() {
    for filters in [
        &["--torch", "2.7.1", "--torch-npu", "2.1.0"][..],
        &["--torch-npu", "2.1.0", "--python", "3.13"],
        &["--vllm-ascend", "0.18.0", "--torch", "2.1.0"],
        &["--vllm-ascend", "0.18.0", "--torch-npu", "2.1.0"],
        &["--vllm-ascend", "0.18.0", "--cann", "8.0.0"],
    ] {
        let (code, text, _) = compat(&[&["compat"], filters].concat());
        assert_eq!(code, Some(3), "{filters:?}: {text}");
        assert!(!text.contains("pip install"), "{text}");
        let (code, text, _) = compat(&[&["compat", "--format", "json"], filters].concat());
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((code, &report["advice"]), (Some(3), &serde_json::Value::Null), "{filters:?}");
        assert_eq!(report["matrix"]["vllm_ascend"], serde_json::json!([]), "{filters:?}");
    }
    let filters = ["compat", "--torch", "2.7.1", "--torch-npu", "2.1.0"];
    let (_, text, _) = compat(&filters);
    assert!(text.contains("all of this together: torch 2.7.1, torch_npu 2.1.0"), "{text}");
    assert!(text.contains("torch_npu 2.1.0 (torch 2.1.0)"), "{text}");
    let (_, text, _) = compat(&[&filters[..], &["--lang", "zh"]].concat());
    assert!(text.contains("没有同时满足以下全部条件的条目"), "{text}");
    // A build of its own kind is still the version that it belongs to.
    let pair = ["compat", "--torch", "2.7.1+cpu", "--torch-npu", "2.7.1.post2"];
    assert_eq!(compat(&pair).0, Some(0));
}

#[test]
fn json_carries_advice_and_rows() {
    let (_, text, _) = compat(&["compat", "--torch-npu", "2.9.0", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["schema"], "ascend-doctor/compat/1");
    assert_eq!(report["advice"]["torch_npu"], "2.9.0");
    assert_eq!(report["matrix"]["torch_npu"].as_array().unwrap().len(), 1);
    assert!(
        report["matrix"]["torch_npu"][0]["source"].as_str().unwrap().contains("Ascend/pytorch")
    );
}
