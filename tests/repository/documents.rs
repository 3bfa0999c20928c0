//! What is written down is what the program does: the reference and the help texts.
#![expect(clippy::disallowed_methods, reason = "reads the documents of this project")]

use std::collections::BTreeSet;
use std::path::Path;

use assert_cmd::Command;

/// Every generated page is there, as it would be written now, and there is no other.
#[test]
fn the_reference_is_fresh() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    let pages = ascend_doctor::explain::reference_pages();
    let stale: Vec<&String> = pages
        .iter()
        .filter(|(name, text)| std::fs::read_to_string(dir.join(name)).ok().as_ref() != Some(text))
        .map(|(name, _)| name)
        .collect();
    assert!(stale.is_empty(), "{stale:?} are stale: run `cargo run --example gen_docs`");
    let mut there = BTreeSet::new();
    for folder in ["", "zh/"] {
        for entry in std::fs::read_dir(dir.join(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                there.insert(format!("{folder}{}", entry.file_name().to_str().unwrap()));
            }
        }
    }
    assert_eq!(there, pages.keys().cloned().collect(), "run `cargo run --example gen_docs`");
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

/// Every option of `check` is in its document, and the document names no other.
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
    let document =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/usage-check.md"))
            .unwrap();
    let mut known = options(&help);
    let written = options(&document);
    for usual in ["--help", "--version", "--verbose", "--quiet"] {
        known.remove(usual);
    }
    let missing: Vec<&String> = known.difference(&written).collect();
    assert!(missing.is_empty(), "docs/usage-check.md lacks {missing:?}");
    // `--list` and `--schema` belong to `explain`, which the document names.
    let foreign: Vec<&String> = written
        .difference(&known)
        .filter(|option| !["--list", "--schema", "--verbose", "--quiet"].contains(&option.as_str()))
        .collect();
    assert!(foreign.is_empty(), "docs/usage-check.md names {foreign:?}, which do not exist");
}
