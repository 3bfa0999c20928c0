//! `lint`: statements of documents against the tables.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and makes files")]

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn run(dir: &Path, args: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    program.env_clear().env("ASCEND_DOCTOR_NOW", "1795392000").current_dir(dir);
    let output = program.args(args).write_stdin(input).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn lint(name: &str, content: &[u8]) -> (i32, Value) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(name), content).unwrap();
    let (status, out, error) = run(dir.path(), &["lint", name, "--json"], b"");
    assert_eq!(std::fs::read(dir.path().join(name)).unwrap(), content, "nothing is written");
    (status, serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}{error}")))
}

#[test]
fn each_kind_of_contradiction_is_a_finding_with_its_source() {
    for (name, text, id) in [
        ("a.md", "| code | meaning |\n|---|---|\n| 507015 | out of memory |\n", "LINT-CODE"),
        ("requirements.txt", "vllm-ascend==0.11.4\n", "LINT-VERSION"),
        ("Dockerfile", "RUN pip install torch==2.6.0 torch-npu==2.7.1\n", "LINT-PAIR"),
        ("a.md", "`HCCL_BUFFSIZE` defaults to 120 MB.\n", "LINT-DEFAULT"),
        ("run.sh", "export TASK_QUEUE_ENABLE=9\n", "LINT-DEFAULT"),
        ("run.sh", "npu-smi list\n", "LINT-COMMAND"),
    ] {
        let (status, document) = lint(name, text.as_bytes());
        let findings = document["findings"].as_array().unwrap();
        assert_eq!((findings.len(), status), (1, 1), "{text}: {document}");
        assert_eq!(findings[0]["id"], id, "{text}");
        assert!(findings[0]["evidence"][0]["line"].as_u64().unwrap() >= 1, "{text}");
        assert!(!findings[0]["refs"].as_array().unwrap().is_empty(), "{text}: no source");
    }
}

#[test]
fn a_text_without_statements_and_an_unknown_release_are_inconclusive() {
    for text in ["# Hello\n", "", "pip install torch-npu==99.0.0\n"] {
        let (status, document) = lint("a.sh", text.as_bytes());
        assert_eq!((status, document["findings"].as_array().unwrap().len()), (3, 0), "{text}");
    }
    let (status, document) = lint("a.sh", b"pip install torch-npu==2.7.1\n");
    assert_eq!(status, 0);
    assert_eq!(document["statements"][0]["state"], "agrees");
}

#[test]
fn irrelevant_changes_change_nothing() {
    let text = "# T\n\n`pip install vllm-ascend==0.11.4`\n\n默认\n";
    let says = |bytes: &[u8]| {
        let (status, document) = lint("a.md", bytes);
        (status, document["statements"].clone())
    };
    let plain = says(text.as_bytes());
    assert_eq!(plain.0, 1);
    assert_eq!(says(text.replace('\n', "\r\n").as_bytes()), plain);
    let mut utf16 = vec![0xFF, 0xFE];
    utf16.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(says(&utf16), plain);
    let gbk: Vec<u8> = text.bytes().take_while(u8::is_ascii).chain([0xC4, 0xAC, b'\n']).collect();
    assert_eq!(says(&gbk), plain);
}

#[test]
fn directories_are_searched_and_hostile_files_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    std::fs::create_dir_all(docs.join(".git")).unwrap();
    std::fs::write(docs.join("a.md"), "`npu-smi list`\n").unwrap();
    std::fs::write(docs.join(".git/b.md"), "`npu-smi top`\n").unwrap();
    std::fs::write(docs.join("c.bin"), "`npu-smi top`\n").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", docs.join("d.md")).unwrap();
    let (status, out, _) = run(dir.path(), &["lint", "docs", "--json"], b"");
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, document["files"].as_u64().unwrap()), (1, 1), "{document}");
    let escape =
        "`HCCL_BUFFSIZE=\u{1b}[31m` 507015: \u{1b}]0;x\u{7} timeout `npu-smi \u{1b}list`\n";
    let long = "a ".repeat(200_000);
    let (status, out, _) = run(dir.path(), &["lint", "-"], format!("{escape}{long}").as_bytes());
    assert_ne!(status, 0);
    assert!(!out.contains('\u{1b}'), "{out}");
    for missing in ["nowhere.md", "nowhere/"] {
        assert_eq!(run(dir.path(), &["lint", missing], b"").0, 2);
    }
}

#[test]
fn answers_are_complete_in_both_languages() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("SKILL.md"),
        "### `ACL error: 507015`\n\n**Cause**: Device initialization failed.\n\n\
         ```sh\n# Install torch-npu for CANN 8.5.0\npip install torch-npu==2.5.1\n\
         export HCCL_BUFFERSIZE=200\nnpu-smi info -t board\n```\n",
    )
    .unwrap();
    for lang in ["en", "zh"] {
        let (status, out, _) = run(dir.path(), &["lint", "SKILL.md", "--lang", lang], b"");
        assert_eq!(status, 1);
        insta::assert_snapshot!(format!("lint_{lang}"), out);
    }
}
