//! The matrix compared with its source tables, and `compat` from the user's side.
#![expect(clippy::disallowed_methods, reason = "reads tables and runs programs")]
#![expect(clippy::unwrap_used, reason = "a failure is what the test shows")]

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use data::Matrix;
use data::matrix::Level;

fn table(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)).unwrap()
}

/// The text on one line, with the wrapped commands joined.
fn join_commands(text: &str) -> String {
    text.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_published_wheel_is_known() {
    let list = table("known_wheels.tsv");
    let wheels = list.lines().filter_map(|line| line.strip_prefix("w\t"));
    let mut count = 0;
    for tags in wheels.map(|line| line.split('\t').next().unwrap()) {
        let mut parts = tags.split('-');
        let (version, tag) = (parts.next().unwrap(), parts.next().unwrap());
        let python = format!("3.{}", tag.strip_prefix("cp3").unwrap());
        let arch = if tags.contains("aarch64") { "aarch64" } else { "x86_64" };
        let row = Matrix::builtin().torch_npu(&version.parse().unwrap());
        let row = row.unwrap_or_else(|| panic!("{version} has no row"));
        assert_eq!(row.has_wheel(arch, &python), Some(true), "{tags}");
        count += 1;
    }
    assert!(count >= 512, "{count}");
}

#[test]
fn every_version_of_the_index_is_known() {
    let index = table("index.tsv");
    let of = |package: &'static str| {
        let rows =
            index.lines().filter_map(move |line| line.strip_prefix(package)?.strip_prefix('\t'));
        rows.map(|row| row.split('\t').next().unwrap().parse().unwrap())
    };
    assert!(of("torch-npu").all(|version| Matrix::builtin().torch_npu(&version).is_some()));
    assert!(of("vllm-ascend").all(|version| Matrix::builtin().vllm_ascend(&version).is_some()));
    assert!(of("triton-ascend").count() >= 3 && of("vllm-ascend").count() >= 49);
}

/// The complete table of the vendor: each row is answered with its own torch, torch_npu and CANN,
/// with and without Python and architecture.
#[test]
fn every_row_of_the_table_of_torch_npu_is_answered() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in Matrix::builtin().torch_npu.iter().filter(|row| row.level == Level::Recommended) {
        let (version, torch) = (row.version.to_string(), row.torch.to_string());
        let on = row.cann.as_ref().unwrap().to_string();
        let pair = ["--torch-npu", &version, "--cann", &on];
        let alone = ["--torch-npu", &version];
        let both = ["--torch", &torch, "--cann", &on];
        let mut questions: Vec<Vec<&str>> = vec![pair.to_vec(), alone.to_vec()];
        // One torch has several rows of one CANN if a release was repaired.
        let same = |other: &&data::matrix::TorchNpu| {
            other.torch == row.torch && other.cann == row.cann && other.level == Level::Recommended
        };
        // Installable versions precede those that are only in the table.
        let installable =
            Matrix::builtin().best_torch_npu(&row.torch, row.cann.as_ref().unwrap(), None, None);
        let replaced = row.wheels.is_empty() && installable.is_some();
        if !replaced && Matrix::builtin().torch_npu.iter().filter(same).count() == 1 {
            questions.push(both.to_vec());
        }
        let documented = row.python_documented.first().map(|python| ("aarch64", python));
        let built =
            row.wheels.iter().filter_map(|(arch, list)| Some((arch.as_str(), list.last()?)));
        for (arch, python) in built.chain(documented.filter(|_| row.wheels.is_empty())) {
            for filters in [&pair[..], &alone] {
                questions.push([filters, &["--python", python, "--arch", arch]].concat());
            }
        }
        for question in questions {
            let (code, text, _) =
                compat(&[&["compat", "--format", "json"], &question[..]].concat());
            let report: serde_json::Value = serde_json::from_str(&text).unwrap();
            let found = ["torch", "torch_npu", "cann", "level"]
                .map(|name| report["advice"][name].as_str().unwrap_or_default().to_owned());
            let expected = [&torch, &version, &on, "recommended"];
            count += 1;
            if code != Some(0) || found != expected {
                wrong.push(format!("{question:?}: {found:?} instead of {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} answers:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 300, "{count}");
}

/// A request without a wheel is rejected with the available ones.
#[test]
fn a_python_or_an_architecture_without_wheel_is_refused() {
    for (filters, known) in [
        (&["--torch", "2.14.0", "--python", "3.8"][..], "Python 3.10, Python 3.11, Python 3.12"),
        (&["--torch-npu", "2.14.0", "--python", "3.8"], "Python 3.10, Python 3.11, Python 3.12"),
        (&["--vllm-ascend", "0.23.0", "--python", "3.13"], "Python 3.10, Python 3.11, Python 3.12"),
    ] {
        for lang in ["en", "zh"] {
            let (code, text, _) = compat(&[&["compat", "--lang", lang], filters].concat());
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(code, Some(3), "{filters:?}: {text}");
            assert!(text.contains(known), "{filters:?}: {text}");
            assert!(!text.contains("pip install"), "{filters:?}: {text}");
        }
    }
    let wheel = ["compat", "--torch", "2.14.0", "--python", "3.11", "--arch", "x86_64"];
    assert_eq!(compat(&wheel).0, Some(0));
}

/// Commands that the default index cannot satisfy contain the official options and a reason.
#[test]
fn what_the_default_index_lacks_comes_from_the_official_one() {
    let question = ["compat", "--vllm-ascend", "0.23.0", "--python", "3.11", "--arch", "aarch64"];
    let (code, text, _) = compat(&question);
    assert_eq!(code, Some(0));
    let command = "vllm-ascend==0.23.0 --extra-index-url https://";
    let flat = join_commands(&text);
    assert!(flat.contains(command), "{text}");
    assert!(flat.contains("missing triton-ascend 3.2.2"), "{text}");
    let (_, text, _) = compat(&[&question[..], &["--lang", "zh"]].concat());
    assert!(join_commands(&text).contains("缺少 triton-ascend 3.2.2"), "{text}");
    let (_, text, _) = compat(&[&question[..], &["--format", "json"]].concat());
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let gap = &report["advice"]["index"][0];
    assert_eq!(
        (&gap["verdict"], &gap["reason"]),
        (&"missing".into(), &"triton-ascend 3.2.2".into())
    );
    assert_eq!(gap["requirements"], "vllm-ascend==0.23.0");
    // The default index has all packages of this pair.
    let plain = ["compat", "--torch-npu", "2.9.0", "--python", "3.11", "--arch", "aarch64"];
    let (_, text, _) = compat(&[&plain[..], &["--format", "json"]].concat());
    assert!(!text.contains("extra-index-url") && !text.contains("\"index\""), "{text}");
}

#[test]
fn wheels_of_release_26_2_are_paired_with_cann_9_2() {
    let matrix = Matrix::builtin();
    let of_release = |row: &&data::matrix::TorchNpu| {
        row.release.as_ref().is_some_and(|release| release.to_string() == "26.2.0")
            && row.cann.as_ref().is_some_and(|on| on.to_string() == "9.2.0")
    };
    let found: Vec<String> =
        matrix.torch_npu.iter().filter(of_release).map(|row| row.version.to_string()).collect();
    assert_eq!(
        found,
        [
            "2.14.0",
            "2.13.0",
            "2.12.0.post3",
            "2.11.0.post3",
            "2.10.0.post7",
            "2.9.0.post9",
            "2.7.1.post11"
        ]
    );
    assert!(matrix.pairs.iter().any(|pair| {
        (pair.cann.to_string(), pair.hdk.to_string()) == ("9.2.0".to_owned(), "26.2.0".to_owned())
    }));
    assert!(matrix.mindcluster.iter().any(|row| row.version == "26.2.0"));
    let (code, text, _) = compat(&["compat", "--cann", "9.2.0"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("torch_npu 2.14.0 is recommended with CANN 9.2.0"), "{text}");
    let wheel = ["compat", "--torch", "2.14.0", "--python", "3.11", "--arch", "x86_64"];
    let (code, text, _) = compat(&wheel);
    assert_eq!(code, Some(0));
    assert!(text.contains("python3.11 -m pip install torch_npu==2.14.0"), "{text}");
    let (code, text, _) = compat(&["compat", "--vllm-ascend", "0.30.0rc2"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("vllm-ascend==0.30.0rc2") && text.contains("CANN 9.2.0"), "{text}");
}

fn compat(arguments: &[&str]) -> (Option<i32>, String, String) {
    let root = tempfile::tempdir().unwrap();
    let output = Command::new(cargo_bin!("ascend-doctor"))
        .arg(arguments[0])
        .arg("--sysroot")
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
    let text = join_commands(&text);
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
    assert_eq!(code, Some(0));
    assert!(text.contains("2.7.1"), "{text}");
    let (code, text, _) = compat(&["compat", "--torch", "2.7.1", "--cann", "7.0.0", "-q"]);
    assert_eq!(code, Some(3), "{text}");
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

/// Contradictory filters are not dropped: there is no answer, and no row.
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
    assert!(text.contains("all of these filters: torch 2.7.1, torch_npu 2.1.0"), "{text}");
    assert!(text.contains("torch_npu 2.1.0 (torch 2.1.0)"), "{text}");
    let (_, text, _) = compat(&[&filters[..], &["--lang", "zh"]].concat());
    assert!(text.contains("没有同时满足以下全部条件的条目"), "{text}");
    // A local build counts as its version.
    let pair = ["compat", "--torch", "2.7.1+cpu", "--torch-npu", "2.7.1.post2"];
    assert_eq!(compat(&pair).0, Some(0));
}

#[test]
fn json_carries_advice_and_rows() {
    let (_, text, _) = compat(&["compat", "--torch-npu", "2.9.0", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["schema"], "ascend-doctor/compat/2");
    assert_eq!(report["advice"]["torch_npu"], "2.9.0");
    assert_eq!(report["matrix"]["torch_npu"].as_array().unwrap().len(), 1);
    assert!(
        report["matrix"]["torch_npu"][0]["source"].as_str().unwrap().contains("Ascend/pytorch")
    );
}

/// MindSpore has a separate answer, on request or on a machine that has it; so have a driver and a
/// chip of another machine.
#[test]
fn mindspore_driver_and_chip_are_planned_for() {
    let asked = ["compat", "--json", "--mindspore", "2.7.0", "--soc", "a3", "--arch", "aarch64"];
    let (code, text, _) = compat(&[&asked[..], &["--python", "3.11"]].concat());
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let advice = &report["mindspore_advice"];
    assert_eq!((code, &advice["cann"]), (Some(0), &"8.2.RC1".into()), "{text}");
    assert!(advice["commands"].to_string().contains("Atlas-A3-cann-kernels_8.2.RC1"), "{advice}");
    assert!(report["advice"].is_null() && report["resolved"]["soc"].is_object(), "{text}");

    let (code, text, _) = compat(&[&asked[..], &["--python", "3.13"]].concat());
    assert!(code == Some(3) && text.contains("MindSpore 2.7.0 has no wheel for"), "{text}");

    let dir = crate::support::recipe::beside("ok-mindspore");
    let mut program = Command::new(cargo_bin!("ascend-doctor"));
    let root = dir.path().join("machine");
    let output = program.args(["compat", "--sysroot"]).arg(root).env_clear().output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("Installation: MindSpore"), "{text}");
    assert!(!text.contains("torch"), "{text}");

    let torch = ["compat", "--torch", "2.7.1", "--cann", "8.5.0", "--driver"];
    let (code, text, _) = compat(&[&torch[..], &["25.5.0"]].concat());
    assert!(code == Some(0) && text.contains("Driver 25.5.0 supports CANN 8.5.0"), "{text}");
    // The stack is known, but nothing proves that the driver supports it.
    let (code, text, _) = compat(&[&torch[..], &["23.0.0"]].concat());
    assert_eq!(code, Some(3), "{text}");
    assert_eq!(text.matches("Driver 23.0.0 is not listed as compatible").count(), 1);
    for (option, value) in [("--driver", "x"), ("--soc", "h100"), ("--mindspore", "9")] {
        let (code, _, err) = compat(&["compat", option, value]);
        assert!(code == Some(2) && err.contains("nearest: `"), "{err}");
    }
}

/// The CANN of a machine decides: the version that the vendor recommends with it precedes a newer
/// one that also accepts it.
#[test]
fn recommended_goes_before_newer() {
    for (cann, torch_npu) in [("8.2.RC1", "2.6.0"), ("8.1.RC1", "2.5.1")] {
        let (_, text, _) =
            compat(&["compat", "--json", "--cann", cann, "--arch", "aarch64", "--python", "3.10"]);
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["advice"]["level"], "recommended", "{text}");
        assert_eq!(report["advice"]["torch_npu"], torch_npu);
    }
}
