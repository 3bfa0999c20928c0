//! `port`: one verdict about a project.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and makes files")]

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    program.env_clear().env("ASCEND_DOCTOR_NOW", "1795392000").current_dir(dir);
    let output = program.args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn port(files: &[(&str, &str)]) -> (i32, Value) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("p")).unwrap();
    for (name, content) in files {
        std::fs::write(dir.path().join("p").join(name), content).unwrap();
    }
    let (status, out, error) = run(dir.path(), &["port", "p", "--no-machine", "--json"]);
    for (name, content) in files {
        assert_eq!(std::fs::read_to_string(dir.path().join("p").join(name)).unwrap(), *content);
    }
    (status, serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}{error}")))
}

const MODEL: &str = "import torch\n\nmodel = torch.nn.Linear(4, 4).cuda()\n";

#[test]
fn each_outcome_has_its_status() {
    for (files, outcome, status) in [
        (vec![("a.py", MODEL), ("requirements.txt", "torch>=2.1\n")], "automatic", 0),
        (vec![("a.py", MODEL), ("requirements.txt", "torch==1.2.0\n")], "blocked", 1),
        (vec![("a.py", MODEL), ("k.cu", "__global__ void k() {}\n")], "blocked", 1),
        (vec![("a.py", MODEL), ("run.sh", "nvidia-smi -L\n")], "decisions", 1),
        (vec![("a.py", MODEL), ("requirements.txt", "torch>=banana\n")], "unknown", 3),
        // A shell script contains no detectable model.
        (vec![("run.sh", "echo hello\n")], "unknown", 3),
    ] {
        let (got, document) = port(&files);
        assert_eq!((document["outcome"].as_str().unwrap(), got), (outcome, status), "{files:?}");
        assert!(!document["steps"].as_array().unwrap().is_empty());
        assert!(!document.to_string().contains("hours"), "no data supports an estimate");
    }
}

#[test]
fn a_missing_directory_and_a_file_are_wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.py"), MODEL).unwrap();
    for input in ["nowhere", "a.py"] {
        assert_eq!(run(dir.path(), &["port", input]).0, 2, "{input}");
    }
}

#[test]
fn pages_are_complete_in_both_languages() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("p")).unwrap();
    std::fs::write(dir.path().join("p/a.py"), MODEL).unwrap();
    std::fs::write(dir.path().join("p/requirements.txt"), "torch==1.2.0\n").unwrap();
    for lang in ["en", "zh"] {
        let (status, out, _) = run(dir.path(), &["port", "p", "--no-machine", "--lang", lang]);
        assert_eq!(status, 1);
        insta::assert_snapshot!(format!("port_{lang}"), out);
        let html = ["port", "p", "--no-machine", "--lang", lang, "--format", "html"];
        let (_, page, _) = run(dir.path(), &html);
        assert!(page.contains("<html") && page.contains("convert -r p"), "{page}");
    }
}
