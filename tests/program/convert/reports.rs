//! The reports on a conversion, in every format.

use serde_json::Value;

use super::trees::{BEFORE, Tree};

const FORMATS: [&str; 6] = ["text", "json", "sarif", "markdown", "junit", "html"];

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
    assert_eq!(json["schema"], "ascend-doctor/convert/2");
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
    let run = tree.convert(&["--diff", "--format", "json", "--output", "r.json"]).ended(1);
    assert!(run.stdout.starts_with("--- a/a.py"), "{}", run.stdout);
    let json = std::fs::read(tree.around().join("r.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["result"], "planned");
}

/// One page: no script, nothing loaded, no text of the sources as markup.
#[test]
fn the_page_stands_alone() {
    let run = tree().convert(&["--dry-run", "--format", "html"]).ended(1);
    let page = run.stdout;
    for bad in ["<script", "http://", "src=", "<b>\\x1b", "push('<b>", "<i>&\"x"] {
        assert!(!page.contains(bad), "{bad}");
    }
    assert!(page.contains("<del>cuda</del>") && page.contains("<ins>npu</ins>"), "{page}");
    assert!(page.contains("prefers-color-scheme: dark"));
    for tag in ["details", "table", "tr", "td", "ul", "ol", "dl"] {
        let open =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    // The flagged place is shown inside its file, with the fix.
    let file = &page[page.find("project/b.py</b>").unwrap()..];
    assert!(file.contains("class=\"note\""));
}

/// Every place is a separate result, with a path that a code-scanning service resolves.
#[test]
fn sarif_names_every_place() {
    let tree = Tree::new(&[(
        "b.py",
        "import torch\ntorch.cuda.nvtx.range_push('a')\ntorch.cuda.nvtx.range_push('b')\n",
    )]);
    let run = tree.convert(&["--dry-run", "--format", "sarif"]).ended(1);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let results = json["runs"][0]["results"].as_array().unwrap();
    let places: Vec<(&str, i64)> = results
        .iter()
        .map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            (
                place["artifactLocation"]["uri"].as_str().unwrap(),
                place["region"]["startLine"].as_i64().unwrap(),
            )
        })
        .collect();
    assert_eq!(places, [("project/b.py", 2), ("project/b.py", 3)]);
}

#[test]
fn a_rule_explains_itself() {
    let tree = tree();
    let json = tree.convert(&["--dry-run", "--format", "json"]).ended(1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let flagged = json["findings"].as_array().unwrap();
    let id = flagged.iter().find(|finding| finding["message"] == "flagged").unwrap()["id"].clone();
    let mut command = super::trees::program();
    let run =
        super::trees::Run::of(command.args(["explain", id.as_str().unwrap()]).output().unwrap());
    run.ended(0).said("torch.cuda.nvtx");
}
