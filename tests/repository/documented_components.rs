//! Documentation of the project's own parts: dependencies and fuzz targets.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "reads the project's own files")]

use std::collections::BTreeSet;
use std::process::Command;

use crate::workspace::{manifest, members};

fn text(path: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The first cells of the rows of the tables, each with one or several names.
fn rows(markdown: &str) -> BTreeSet<String> {
    let cells = markdown.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let names = cells.flat_map(|cell| cell.split(", ")).map(str::to_owned);
    names.filter(|name| name != "crate" && !name.starts_with("---")).collect()
}

/// The external dependencies of all crates of the program.
fn declared(kinds: &[&str]) -> BTreeSet<String> {
    let workspace: toml::Table = toml::from_str(&text("Cargo.toml")).unwrap();
    let workspace = workspace["workspace"].as_table().unwrap();
    let is_layer = |name: &str| {
        let row = workspace["dependencies"].get(name).and_then(toml::Value::as_table);
        row.is_some_and(|row| row.contains_key("package"))
    };
    let members = workspace["default-members"].as_array().unwrap().iter();
    let mut all = BTreeSet::new();
    for member in members {
        let manifest = text(&format!("{}/Cargo.toml", member.as_str().unwrap()));
        let manifest: toml::Table = toml::from_str(&manifest).unwrap();
        let tables = kinds.iter().filter_map(|kind| manifest.get(*kind)?.as_table());
        let names = tables.flatten().filter(|(_, row)| row.get("optional").is_none());
        let names = names.map(|(name, _)| name);
        // In tests, the root depends on itself to enable a feature.
        all.extend(names.filter(|name| !is_layer(name) && *name != "ascend-doctor").cloned());
    }
    all
}

/// A dependency without a documented reason is not needed.
#[test]
fn every_dependency_has_its_reason_written_down() {
    let document = text("docs/dependencies.md");
    let (linked, others) = document.split_once("## In builds and tests only").unwrap();
    let normal = declared(&["dependencies"]);
    assert_eq!(rows(linked), normal);
    // Dependencies that are also linked have their row in the first table.
    let mut rest = declared(&["dev-dependencies", "build-dependencies"]);
    // Enabled by a feature only in tests: no package contains dependencies of such features.
    rest.insert("schemars".to_owned());
    assert_eq!(rows(others), rest.difference(&normal).cloned().collect());
}

/// Only tests and examples describe the types of documents: there, the root depends on itself with
/// the feature, which nothing else enables.
#[test]
fn no_package_has_the_generator_of_schemas() {
    let mut with_feature = 0;
    for member in members().into_iter().chain([".".to_owned()]) {
        let manifest = manifest(&member);
        let tables = ["dependencies", "build-dependencies"].iter();
        for (name, row) in tables.filter_map(|kind| manifest.get(*kind)?.as_table()).flatten() {
            let optional = row.get("optional").and_then(toml::Value::as_bool) == Some(true);
            assert!(name != "schemars" || optional, "{member}: schemars is not optional");
            let features = row.get("features").map(ToString::to_string).unwrap_or_default();
            assert!(!features.contains("schema"), "{member}: {name} has the feature `schema`");
        }
        let features = manifest.get("features").and_then(toml::Value::as_table);
        with_feature += usize::from(features.is_some_and(|all| all.contains_key("schema")));
        let default = features.and_then(|all| all.get("default"));
        assert!(default.is_none(), "{member}: a default feature could switch `schema` on");
    }
    assert!(with_feature > 10, "{with_feature}");
}

/// One command runs all of them, and the document describes each.
#[test]
fn every_fuzz_target_is_declared_listed_and_described() {
    let fuzz: toml::Table = toml::from_str(&text("fuzz/Cargo.toml")).unwrap();
    let bins = fuzz["bin"].as_array().unwrap().iter();
    let declared: BTreeSet<String> =
        bins.map(|bin| bin["name"].as_str().unwrap().to_owned()).collect();
    let listed = Command::new("bash")
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/fuzz.sh"), "--list"])
        .output()
        .unwrap();
    let listed: BTreeSet<String> =
        String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(listed, declared);
    let document = text("docs/fuzzing.md");
    for target in &declared {
        let row = document.lines().any(|line| line.starts_with(&format!("| {target} |")));
        assert!(row || document.contains(&format!("`{target}`")), "{target}");
    }
}
