//! `triage` and `check --from-text`: issue texts with versions and logs.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and makes files")]

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

const PIP: &str = "```\n\
    Package                Version\n\
    ---------------------- -------\n\
    torch                  2.6.0\n\
    torch-npu              2.7.1\n\
    ```\n";
const SYMBOL: &str = "```\n\
    Traceback (most recent call last):\n\
    ImportError: /opt/lib/libtorch_npu.so: undefined symbol: _ZN3c105ErrorC2E\n\
    ```\n";

fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    program.env_clear().env("ASCEND_DOCTOR_NOW", "1795392000").current_dir(dir);
    let output = program.args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(text: &str) -> (i32, Value) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("issue.md"), text).unwrap();
    let (status, out, error) = run(dir.path(), &["triage", "issue.md", "--json"]);
    (status, serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}{error}")))
}

fn state<'a>(document: &'a Value, check: &str) -> Option<&'a str> {
    let relations = document["relations"].as_array().unwrap();
    relations.iter().find(|one| one["check"] == check)?["state"].as_str()
}

#[test]
fn versions_that_explain_a_failure_are_its_root() {
    let (status, document) = json(&format!("It does not start.\n{PIP}{SYMBOL}"));
    assert_eq!((status, state(&document, "TORCH-VERSION")), (1, Some("conflict")));
    assert_eq!(document["explanation"]["answer"], "yes");
    let first = &document["findings"][0];
    assert_eq!(first["id"], "TORCH-VERSION");
    assert_eq!(first["consequences"][0]["id"], "env.version_mismatch_abi");
    assert_eq!(document["findings"].as_array().unwrap().len(), 1, "{document:#}");
}

#[test]
fn what_is_not_stated_is_not_known() {
    let (status, document) = json("torch_npu 2.7.1 is installed.\n\nIt hangs after a minute.\n");
    assert_eq!(status, 3);
    assert_eq!(document["symptom"]["id"], "hang");
    let text = document.to_string();
    assert!(!text.contains("not installed") && !text.contains("without torch"), "{text}");
    let missing = document["missing"].as_array().unwrap();
    assert!(missing.iter().any(|one| one["run"].as_str().unwrap_or("").contains("py-spy")));
    // Commands that only read come before those that need a rerun.
    assert_eq!(missing.last().unwrap()["run"], "export ASCEND_GLOBAL_EVENT_ENABLE=1");
}

#[test]
fn texts_that_say_nothing_are_inconclusive() {
    for text in
        ["", "Hello, does this work?\n", "torch 99.0 and torch_npu 99.0\n", "\u{1b}[2J\u{0}"]
    {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("issue.md"), text).unwrap();
        let (status, out, error) = run(dir.path(), &["triage", "issue.md", "--lang", "en"]);
        assert_eq!(status, 3, "{text:?}: {out}{error}");
        assert!(!out.contains('\u{1b}'), "{out}");
    }
}

#[test]
fn a_failure_that_versions_do_not_explain_comes_first() {
    let oom = "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.96 GiB total \
        capacity; 55.91 GiB already allocated; 55.91 GiB current active; 1.80 GiB free; 58.73 GiB \
        reserved in total by PyTorch)\n";
    let (status, document) = json(&format!("{PIP}```\n{oom}```\n"));
    assert_eq!((status, &document["explanation"]["answer"]), (1, &Value::from("no")));
    let ids: Vec<&str> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["memory.device_oom", "TORCH-VERSION"]);
}

#[test]
fn images_for_another_chip_are_the_cause() {
    let (status, document) = json(
        "### Environment\n- image: quay.io/ascend/vllm-ascend:v0.9.1-310p\n- NPU: Ascend910B3\n",
    );
    assert_eq!((status, state(&document, "IMAGE-CHIP")), (1, Some("conflict")));
    assert_eq!(document["findings"][0]["id"], "env.soc_unsupported");
}

#[test]
fn variables_alone_are_no_compatible_versions() {
    let (status, document) = json("export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True\n");
    assert_eq!(state(&document, "ENV-ALLOC"), Some("fits"), "{document:#}");
    let links = document["coverage"].as_array().unwrap();
    let link = links.iter().find(|link| link["id"] == "relations").unwrap();
    assert_eq!((status, &link["state"]), (3, &Value::from("not_examined")));
}

#[test]
fn a_bundle_is_answered_with_the_facts_of_its_machine() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root/etc");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("os-release"), "ID=ubuntu\nVERSION_ID=22.04\n").unwrap();
    let made = run(dir.path(), &["bundle", "--sysroot", "root", "-o", "case.tar.gz"]);
    assert_eq!(made.0, 0, "{}{}", made.1, made.2);
    let (status, out, error) = run(dir.path(), &["case.tar.gz", "--json"]);
    assert_eq!(status, 3, "{error}");
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["input"]["command"], "ascend-doctor triage case.tar.gz");
    // A machine without the stack has no compatibility to check.
    let links = document["coverage"].as_array().unwrap();
    let link = links.iter().find(|link| link["id"] == "relations").unwrap();
    assert_eq!(link["state"], "not_examined");
}

#[test]
fn a_reply_can_be_posted_in_both_languages() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("issue.md"), format!("{PIP}{SYMBOL}")).unwrap();
    for (lang, heading) in [("en", "### First cause"), ("zh", "### 首要原因")] {
        let args = ["triage", "issue.md", "--format", "markdown", "--lang", lang];
        let (status, out, _) = run(dir.path(), &args);
        assert_eq!(status, 1);
        assert!(out.starts_with(heading), "{out}");
        insta::assert_snapshot!(format!("reply_{lang}"), out);
    }
}

#[test]
fn anonymized_replies_name_no_place_of_the_machine() {
    let dir = tempfile::tempdir().unwrap();
    let text = "export HCCL_IF_IP=10.20.30.40\n```\nRuntimeError: connect to 10.20.30.40 failed, \
        error code:507015\n```\n";
    std::fs::write(dir.path().join("issue.md"), text).unwrap();
    for format in ["text", "markdown", "json"] {
        let args = ["triage", "issue.md", "--anonymize", "--format", format];
        let (_, out, _) = run(dir.path(), &args);
        assert!(!out.contains("10.20.30.40"), "{out}");
    }
}

#[test]
fn stated_facts_have_lines_and_others_are_not_known() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("issue.md"), PIP).unwrap();
    let args = ["check", "--from-text", "issue.md", "--json"];
    let (status, out, _) = run(dir.path(), &args);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &document["schema"]), (0, &Value::from("ascend-doctor/stated/1")));
    let facts = document["stated"]["facts"].as_array().unwrap();
    let torch = facts.iter().find(|one| one["name"] == "torch").unwrap();
    assert_eq!((&torch["value"], &torch["line"]), (&Value::from("2.6.0"), &Value::from(4)));
    assert!(document["not_known"].as_array().unwrap().contains(&"cann".into()));
    // As facts of a machine, all unstated values would be missing.
    std::fs::write(dir.path().join("stated.json"), &out).unwrap();
    assert_eq!(run(dir.path(), &["check", "--facts", "stated.json"]).0, 2);
    std::fs::write(dir.path().join("nothing.md"), "Hello\n").unwrap();
    assert_eq!(run(dir.path(), &["check", "--from-text", "nothing.md"]).0, 3);
}

/// Prose and blank lines around an issue change nothing.
#[test]
fn irrelevant_lines_change_nothing() {
    let own = format!("{PIP}{SYMBOL}");
    let (status, document) = json(&own);
    for (before, after) in [
        ("", "\n\n"),
        ("Hello everybody\n\n", ""),
        ("", "Thanks in advance\n"),
        ("\n\nHello\r\n\n", "\nBest regards\n\n"),
        ("<!-- a comment of the template -->\n", "\n---\n"),
    ] {
        let (other_status, other) = json(&format!("{before}{own}{after}"));
        assert_eq!(status, other_status, "{before:?} {after:?}");
        assert_eq!(document["explanation"], other["explanation"]);
        assert_eq!(document["findings"][0]["id"], other["findings"][0]["id"]);
        assert_eq!(document["relations"], other["relations"]);
    }
}
