//! Documents match the program: reference pages, links, help texts, options.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "reads the documents of this project")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use super::workspace::home;

/// The relative targets of links in a page of Markdown, without anchors and code.
fn link_targets(page: &str) -> BTreeSet<String> {
    let link = regex::Regex::new(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)").unwrap();
    let code = regex::Regex::new(r"(?s)```.*?```|`[^`\n]*`").unwrap();
    let text = code.replace_all(page, "");
    let targets = link.captures_iter(&text).map(|found| found[1].to_owned());
    targets.filter(|target| !target.contains(':')).collect()
}

/// Returns the links of a page whose target does not exist below `root`.
fn broken_links(root: &Path, page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let dir = page.parent().unwrap();
    let broken = link_targets(&text).into_iter().filter(|target| !dir.join(target).exists());
    let page = page.strip_prefix(root).unwrap().display().to_string();
    broken.map(|target| format!("{page}: {target}")).collect()
}

fn markdown(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn links_between_documents_resolve() {
    // Not docs/reference: git ignores it, so links to it would be broken in a clone.
    let pages = ["", "docs", "docs/zh"].map(|dir| markdown(&home().join(dir)));
    let pages: Vec<PathBuf> = pages.into_iter().flatten().collect();
    assert!(pages.len() > 20, "{} pages only", pages.len());
    let broken: Vec<String> = pages.iter().flat_map(|page| broken_links(home(), page)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    for page in &pages {
        let targets = link_targets(&std::fs::read_to_string(page).unwrap());
        let generated = targets.iter().find(|target| target.contains("reference/"));
        assert_eq!(generated, None, "{} links to a generated page", page.display());
    }
}

/// The pages are not in the repository: both languages are written, with links that resolve.
#[test]
fn reference_pages_are_generated() {
    let dir = tempfile::tempdir().unwrap();
    let pages = explain::reference_pages();
    for (name, text) in &pages {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let broken: Vec<String> =
        pages.keys().flat_map(|name| broken_links(dir.path(), &dir.path().join(name))).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    let empty = |text: &String| text.lines().count() < 3;
    let empty: Vec<&String> =
        pages.iter().filter(|(_, text)| empty(text)).map(|row| row.0).collect();
    assert!(empty.is_empty(), "{empty:?} are empty");
    let english: BTreeSet<&str> =
        pages.keys().map(String::as_str).filter(|name| !name.contains('/')).collect();
    let chinese: BTreeSet<&str> =
        pages.keys().filter_map(|name| name.strip_prefix("zh/")).collect();
    assert_eq!(english, chinese);
    // Each page is reachable from the first one.
    for folder in ["", "zh/"] {
        let mut linked = BTreeSet::from([format!("{folder}README.md")]);
        let mut open: Vec<String> = linked.iter().cloned().collect();
        while let Some(page) = open.pop() {
            for target in link_targets(&pages[&page]) {
                let name = format!("{folder}{target}");
                if pages.contains_key(&name) && linked.insert(name.clone()) {
                    open.push(name);
                }
            }
        }
        let all = pages.keys().filter(|name| name.starts_with("zh/") != folder.is_empty());
        assert_eq!(linked, all.cloned().collect());
    }
}

#[test]
fn help_texts() {
    for (name, args) in [
        ("help", &["--help"][..]),
        ("help-check", &["check", "--help"]),
        ("help-convert", &["convert", "--help"]),
        ("help-explain", &["explain", "--help"]),
        ("help-audit-ops", &["audit-ops", "--help"]),
        ("help-translate-error", &["translate-error", "--help"]),
        ("help-manifest", &["manifest", "--help"]),
        ("help-verify", &["verify", "--help"]),
        ("help-fleet-merge", &["fleet", "merge", "--help"]),
    ] {
        let mut program = Command::cargo_bin("ascend-doctor").unwrap();
        let output = program.env_clear().args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{name} is too wide");
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, text);
        });
    }
}

/// The document lists exactly the options of `check`.
#[test]
fn the_options_of_check_are_documented() {
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    let output = program.env_clear().args(["check", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let options = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !(c.is_ascii_lowercase() || c == '-'))
            .filter(|word| word.starts_with("--") && word.len() > 4)
            .map(str::to_owned)
            .collect()
    };
    let document = std::fs::read_to_string(home().join("docs/usage-check.md")).unwrap();
    let mut known = options(&help);
    let written = options(&document);
    for usual in ["--help", "--version", "--verbose", "--quiet"] {
        known.remove(usual);
    }
    let missing: Vec<&String> = known.difference(&written).collect();
    assert!(missing.is_empty(), "docs/usage-check.md lacks {missing:?}");
    // `--list`, `--report` and `--report-schema` belong to `explain`, which the document mentions.
    let foreign: Vec<&String> = written
        .difference(&known)
        .filter(|option| {
            !["--list", "--report", "--report-schema", "--verbose", "--quiet"]
                .contains(&option.as_str())
        })
        .collect();
    assert!(foreign.is_empty(), "docs/usage-check.md names {foreign:?}, which do not exist");
}
