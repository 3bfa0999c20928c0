//! Conditions of tests: a test that cannot run fails or is ignored, and reads no file outside of
//! the repository.
#![expect(clippy::disallowed_methods, reason = "reads the sources of this project")]
#![expect(clippy::unwrap_used, reason = "an unreadable source is a failure")]

use std::path::{Path, PathBuf};

use regex::Regex;

use super::workspace::home;

/// Test programs that `cargo test` does not run by default: they need packages or wheels.
const ON_DEMAND: [&str; 2] = ["tests/packages", "crates/audit/tests/published_wheels"];

/// Directories with Rust sources.
const SOURCES: [&str; 4] = ["tests", "crates", "src", "data"];

/// Returns the Rust sources of tests, without this one, and their texts.
fn sources() -> Vec<(PathBuf, String)> {
    let files = SOURCES.iter().flat_map(|dir| walkdir::WalkDir::new(home().join(dir)));
    let files = files.map(|entry| entry.unwrap().into_path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| !path.ends_with(file!()))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.strip_prefix(home()).unwrap().to_owned(), text)
        })
        .collect()
}

fn is_on_demand(path: &Path) -> bool {
    ON_DEMAND.iter().any(|dir| path.starts_with(dir))
}

/// Returns all matches with their files.
fn matches(pattern: &str, wanted: impl Fn(&Path) -> bool) -> Vec<String> {
    let pattern = Regex::new(pattern).unwrap();
    let sources = sources().into_iter().filter(|(path, _)| wanted(path));
    let found = sources.flat_map(|(path, text)| {
        let found = pattern.find_iter(&text).map(|found| found.as_str().to_owned());
        found.map(|found| format!("{}: {found}", path.display())).collect::<Vec<_>>()
    });
    found.collect()
}

/// A skipped test that passes looks like evidence.
#[test]
fn no_test_reports_that_it_was_skipped() {
    let pattern = r#"print(ln)?!\(\s*"(?i)([a-z ]*skipped|not (tested|run|checked))[^"]*"#;
    let found = matches(pattern, |path| !is_on_demand(path));
    assert!(
        found.is_empty(),
        "fail with the name of the missing program, or use #[ignore = \"needs …\"]: {found:#?}"
    );
}

/// `.ci/run` runs all ignored tests and the on-demand programs.
#[test]
fn tests_with_conditions_are_run_by_ci() {
    let without_need = matches(r#"#\[ignore(\]|\s*=\s*"([^n]|n[^e]))[^\n]*"#, |_| true);
    assert!(without_need.is_empty(), "#[ignore = \"needs …\"] names the need: {without_need:#?}");
    let ignored = matches(r#"#\[ignore = "needs [^"]+"\]"#, |_| true);
    assert!(!ignored.is_empty());
    let ci = std::fs::read_to_string(home().join(".ci/run")).unwrap();
    let runs = |arguments: &str| ci.lines().any(|line| line.trim_end().contains(arguments));
    assert!(runs("-- --ignored"), ".ci/run does not run {ignored:#?}");
    for dir in ON_DEMAND {
        let name = dir.rsplit('/').next().unwrap();
        assert!(runs(&format!("--test {name}")), ".ci/run does not run {name}");
        let own = dir.split_once("/tests/").map(|(parent, _)| format!("{parent}/"));
        let manifest = home().join(own.unwrap_or_default()).join("Cargo.toml");
        let manifest: toml::Table =
            toml::from_str(&std::fs::read_to_string(manifest).unwrap()).unwrap();
        let tests = manifest["test"].as_array().unwrap();
        let test = tests.iter().find(|test| test["name"].as_str() == Some(name)).unwrap();
        assert_eq!(test["test"].as_bool(), Some(false), "{name}");
    }
}

/// Labeled samples are outside of the repository, and `cargo xtask accuracy` measures them.
#[test]
fn no_test_reads_files_outside_of_the_repository() {
    let found = matches(r"[^\n]*\.\./shared\b[^\n]*", |path| !path.starts_with("crates/xtask"));
    assert!(found.is_empty(), "{found:#?}");
}
