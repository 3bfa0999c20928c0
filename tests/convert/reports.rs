//! What is said about a conversion, in every format.

use serde_json::Value;

use crate::trees::{BEFORE, Tree};

const FORMATS: [&str; 5] = ["text", "json", "sarif", "markdown", "junit"];

fn tree() -> Tree {
    Tree::new(&[
        ("a.py", BEFORE),
        ("b.py", "import torch\ntorch.cuda.nvtx.range_push('<b>\u{1b}[31m')\n"),
        ("<i>&\"x.py", "print 'cuda'\n"),
    ])
}

#[test]
fn every_format_is_the_same_twice_and_harmless() {
    let tree = tree();
    for format in FORMATS {
        let args = ["--dry-run", "--format", format];
        let once = tree.convert(&args).ended(1);
        assert_eq!(once.stdout, tree.convert(&args).stdout, "{format}");
        let bad: Vec<char> = once.stdout.chars().filter(|&c| c.is_control() && c != '\n').collect();
        assert!(bad.is_empty(), "{format}: {bad:?}");
        assert!(once.stdout.contains("CONVERT-PARSE"), "{format}");
        let chinese = tree.convert(&["--dry-run", "--format", format, "--lang", "zh"]);
        assert!(chinese.stdout.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{format}");
    }
}

#[test]
fn json_has_every_place() {
    let run = tree().convert(&["--dry-run", "--format", "json"]).ended(1);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["schema"], "ascend-doctor/convert/1");
    assert_eq!(json["counts"]["files_read"], 3);
    let file = |name: &str| {
        let files = json["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == name).unwrap().clone()
    };
    let change = &file("project/a.py")["changed"][0];
    assert_eq!(change["line"], 2);
    assert_eq!(change["rule"].as_str().map(|id| &id[..2]), Some("CV"));
    assert_eq!(file("project/b.py")["flagged"][0]["line"], 2);
    assert_eq!(file("project/<i>&\"x.py")["problem"]["id"], "CONVERT-PARSE");
    let finding = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["message"] == "flagged")
        .unwrap();
    assert_eq!(finding["evidence"][0]["source"], "project/b.py");
    assert_eq!(finding["severity"], "warning");
}

#[test]
fn the_text_fits_a_terminal() {
    let run = tree().convert(&["--dry-run"]).ended(1);
    for line in run.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_report_goes_to_a_file() {
    let tree = tree();
    let run = tree.convert(&["--diff", "--format", "json", "--report", "r.json"]).ended(1);
    assert!(run.stdout.starts_with("--- a/a.py"), "{}", run.stdout);
    let json = std::fs::read(tree.around().join("r.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["result"], "planned");
}
