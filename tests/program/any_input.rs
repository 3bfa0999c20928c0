//! `ascend-doctor THING…`: inputs without a subcommand.
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

fn english(dir: &Path, input: &str) -> (i32, String, String) {
    let mut args = vec!["--lang", "en"];
    args.extend(input.split('\u{1f}'));
    run(dir, &args)
}

fn write(dir: &Path, name: &str, content: &str) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Files of every kind that is distinguished by its name or its content.
fn files() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "train.log",
        "RuntimeError: ACL stream synchronize failed, error code:507015\n",
    );
    write(dir.path(), "repo/setup.py", "import torch\ntorch.cuda.init()\n");
    write(dir.path(), "repo/logs/a.log", "nothing\n");
    write(dir.path(), "mixed/a.py", "import torch\n");
    write(dir.path(), "mixed/a.log", "nothing\n");
    write(dir.path(), "logs/plog/plog-1_1.log", "nothing\n");
    write(dir.path(), "root/etc/os-release", "ID=ubuntu\n");
    write(dir.path(), "root/usr/bin/x", "");
    write(dir.path(), "issue.md", "### Environment\ntorch_npu version: 2.7.1\n");
    write(dir.path(), "model.onnx", "");
    write(dir.path(), "a.whl", "");
    write(dir.path(), "check.json", r#"{"schema": "ascend-doctor/check/2", "tool": "0"}"#);
    write(dir.path(), "facts.json", r#"{"schema":"ascend-doctor/facts/1"}"#);
    dir
}

#[test]
fn each_kind_of_input_selects_its_command() {
    let dir = files();
    for (input, command, status) in [
        ("507035", "translate-error --as code 507035", 0),
        ("issue.md", "triage issue.md", 3),
        ("-8005", "translate-error --as code -- -8005", 0),
        ("错误码507035，", "translate-error --as code", 0),
        ("CANN-HOME", "explain CANN-HOME", 0),
        ("torch_npu 2.7.1", "explain 'torch_npu 2.7.1'", 0),
        ("torch_npu\u{1f}2.7.1", "explain 'torch_npu 2.7.1'", 0),
        ("torch 2.1.0 and torch_npu 2.7.1", "explain", 1),
        ("torch_npu 2.7.1 with CANN 99.0.0", "explain", 3),
        ("HCCL_CONNECT_TIMEOUT=60", "explain HCCL_CONNECT_TIMEOUT=60", 1),
        ("HCCL_CONNECT_TIMEOUT=600", "explain", 0),
        ("910B3", "explain 910B3", 0),
        ("libascend_hal.so", "explain libascend_hal.so", 0),
        ("torch.cuda.Event", "explain CV", 0),
        ("train.log", "translate-error train.log", 1),
        ("logs", "translate-error logs", 3),
        ("507035\u{1f}CANN-HOME", "explain 507035 CANN-HOME", 0),
        ("torch\u{1f}2.1.0\u{1f}torch_npu\u{1f}2.7.1", "explain 'torch 2.1.0", 1),
        ("repo", "convert repo", 0),
        ("root", "check --sysroot root", 0),
        ("RuntimeError: Failed to infer device type", "translate-error --as text", 1),
    ] {
        let (code, out, err) = english(dir.path(), input);
        let first = out.lines().next().unwrap_or_default();
        assert!(first.starts_with("Input: "), "{input}: {out}{err}");
        assert!(first.contains(&format!("`ascend-doctor {command}")), "{input}: {first}");
        assert_eq!(code, status, "{input}: {out}{err}");
    }
    // Their content is not valid, but the suggested command is right.
    for (input, command) in [
        ("model.onnx", "audit-ops model.onnx"),
        ("a.whl", "manifest wheel-check a.whl"),
        ("check.json", "report check.json"),
        ("facts.json", "check --facts facts.json"),
    ] {
        let (code, out, err) = english(dir.path(), input);
        assert!(code <= 3, "{input}: {out}");
        let named = out.contains(command) || !err.is_empty();
        assert!(named && !err.contains("unknown subcommand"), "{input}: {err}");
    }
}

/// A run with the suggested command gives the same result.
#[test]
fn the_named_command_gives_the_same_answer() {
    let dir = files();
    for input in ["507035", "train.log", "torch_npu 2.7.1", "HCCL_CONNECT_TIMEOUT=60", "repo"] {
        let (code, out, _) = english(dir.path(), input);
        let (first, rest) = out.split_once("\n\n").unwrap();
        let command = first.split('`').nth(1).unwrap().strip_prefix("ascend-doctor ").unwrap();
        let words: Vec<String> = command.replace('\'', "").split(' ').map(str::to_owned).collect();
        let mut args = vec!["--lang", "en"];
        let quoted = command.contains('\'').then(|| words[1..].join(" "));
        match &quoted {
            Some(joined) => args.extend([words[0].as_str(), joined]),
            None => args.extend(words.iter().map(String::as_str)),
        }
        assert_eq!(run(dir.path(), &args), (code, rest.to_owned(), String::new()), "{input}");
    }
}

#[test]
fn what_surrounds_an_input_does_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    let answer = |input: &str| {
        let (code, out, _) = english(dir.path(), input);
        (code, out.split_once("\n\n").map(|(_, rest)| rest.to_owned()))
    };
    for (plain, others) in [
        ("507035", &["\"507035\"", " 507035 ", "507035，", "５０７０３５", "`507035`"][..]),
        ("torch_npu 2.7.1", &["torch-npu 2.7.1", "torch_npu==2.7.1", "torch_npu: 2.7.1"]),
        (
            "HCCL_CONNECT_TIMEOUT=60",
            &[
                "export HCCL_CONNECT_TIMEOUT=60",
                "-e HCCL_CONNECT_TIMEOUT=60",
                "HCCL_CONNECT_TIMEOUT＝60",
            ],
        ),
    ] {
        let wanted = answer(plain);
        for other in others.iter().filter(|other| !other.starts_with("-e")) {
            assert_eq!(answer(other), wanted, "{plain}: {other}");
        }
    }
}

#[test]
fn what_is_not_known_is_no_success() {
    let dir = files();
    for input in ["hello", "what is the weather", "你好", "zzzz-9", "H100"] {
        let (code, out, err) = english(dir.path(), input);
        assert_eq!((code, out.as_str()), (3, ""), "{input}: {err}");
        assert!(err.contains(input) && err.matches("ascend-doctor ").count() >= 3, "{err}");
    }
    let (code, _, err) = english(dir.path(), "https://example.org/issues/1");
    assert_eq!(code, 3);
    assert!(err.contains("offline") && err.contains("downloads nothing"), "{err}");
    let (code, _, err) = english(dir.path(), "chekc");
    assert_eq!(code, 2);
    assert!(err.contains("did you mean `check`"), "{err}");
    for line in ["help\u{1f}convert\u{1f}--lang\u{1f}en", "help\u{1f}nonsense"] {
        let (code, _, err) = english(dir.path(), line);
        assert!(code == 2 && !err.contains("defect"), "{line}: {err}");
    }
    // Files that need different commands, or do not exist.
    let (code, _, err) = english(dir.path(), "train.log\u{1f}repo");
    assert!(code == 2 && err.contains("translate-error train.log"), "{err}");
    assert!(err.contains("convert repo"), "{err}");
    assert_eq!(english(dir.path(), "missing.onnx").0, 2);
    // An ambiguous directory, without a terminal to ask on.
    let (code, out, err) = english(dir.path(), "mixed");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("  ascend-doctor convert mixed"), "{err}");
    assert!(err.contains("  ascend-doctor translate-error mixed"), "{err}");
}

#[test]
fn options_of_the_command_may_follow() {
    let dir = files();
    let (code, out, err) = english(dir.path(), "train.log\u{1f}--top\u{1f}1");
    assert_eq!(code, 1, "{err}");
    assert!(out.starts_with("Input: log"), "{out}");
    let (code, out, err) = english(dir.path(), "507035\u{1f}--help");
    assert!(code == 0 && out.contains("translate-error"), "{out}{err}");
    // The output for a report is a page from its first byte on.
    let (_, out, _) = english(dir.path(), "check.json");
    assert!(!out.starts_with("Input"), "{out}");
    let (code, _, err) = english(dir.path(), "507035\u{1f}--nonsense");
    assert_eq!(code, 2);
    assert!(err.contains("--nonsense"), "{err}");
}

#[test]
fn programs_read_the_kind_from_json() {
    let dir = files();
    for (input, kind) in [
        ("507035", "code"),
        ("train.log", "log"),
        ("910B3", "fact"),
        ("repo", "source"),
        ("", "machine"),
    ] {
        let mut args = vec!["--json"];
        args.extend(Some(input).filter(|input| !input.is_empty()));
        let (_, out, err) = run(dir.path(), &args);
        let document: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        assert_eq!(document["input"]["type"], kind, "{input}");
        let command = document["input"]["command"].as_str().unwrap();
        assert!(command.starts_with("ascend-doctor "), "{command}");
    }
    let (_, out, _) = run(dir.path(), &["--json", "explain", "910B3"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert!(document.get("input").is_none());
}

#[test]
fn alone_it_checks_the_machine() {
    let dir = tempfile::tempdir().unwrap();
    for (lang, first) in [("en", "Input: none"), ("zh", "输入类型：无")] {
        let (_, out, _) = run(dir.path(), &["--lang", lang]);
        let (_, named, _) = run(dir.path(), &["--lang", lang, "check"]);
        assert!(out.starts_with(first), "{out}");
        assert_eq!(out.lines().nth(2), named.lines().next(), "{out}");
    }
}

#[test]
fn first_screens() {
    let dir = files();
    for (name, input) in [
        ("variable", "HCCL_CONNECT_TIMEOUT=60"),
        ("pair", "torch 2.1.0 and torch_npu 2.7.1"),
        ("chip", "19e5:d802"),
        ("image", "quay.io/ascend/vllm-ascend:v0.10.0rc1-310p"),
        ("path", "/dev/davinci_manager"),
        ("unknown", "hello"),
        ("ambiguous", "mixed"),
    ] {
        for lang in ["en", "zh"] {
            let (code, out, err) = run(dir.path(), &["--lang", lang, input]);
            insta::assert_snapshot!(format!("{name}_{lang}"), format!("{out}{err}[{code}]\n"));
        }
    }
}
