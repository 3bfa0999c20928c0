//! The dependencies between the crates match the diagram in ARCHITECTURE.md.
#![expect(clippy::disallowed_methods, reason = "runs cargo")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use super::workspace::{home, members, text};

/// The comment before the diagram.
const MARK: &str = "<!-- crate graph -->\n```text\n";

/// Dependencies of each crate, by the names that the sources use.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Directories of members outside the program: the diagram omits them.
const NO_PART: [&str; 4] =
    ["crates/refresh/", "crates/xtask/", "crates/race/", "crates/simulator/"];

/// Returns the normal dependencies between members, as cargo reads the manifests.
fn declared() -> Graph {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(home())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    // A package may have another name in `use`: that of its library.
    let name = |package: &Value| {
        let targets = package["targets"].as_array().unwrap();
        let is = |target: &Value, kind: &str| target["kind"][0] == kind;
        let program = targets.iter().any(|target| is(target, "bin"));
        let library = |target: &&Value| is(target, "lib") || is(target, "cdylib");
        let library = targets.iter().find(library).filter(|_| !program);
        let name = library.map_or(&package["name"], |library| &library["name"]);
        name.as_str().unwrap().replace('_', "-")
    };
    let names: BTreeMap<&str, String> =
        packages.iter().map(|package| (package["name"].as_str().unwrap(), name(package))).collect();
    let in_program = |package: &&Value| {
        let manifest = package["manifest_path"].as_str().unwrap();
        let manifest = manifest.strip_prefix(home().to_str().unwrap()).unwrap();
        !NO_PART.iter().any(|dir| manifest[1..].starts_with(dir))
    };
    packages
        .iter()
        .filter(in_program)
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let normal = dependencies.filter(|dependency| dependency["kind"].is_null());
            let inner = normal.filter_map(|one| names.get(one["name"].as_str().unwrap()).cloned());
            (name(package), inner.collect())
        })
        .collect()
}

/// Returns the lines of the diagram: `crate -> dependency, dependency` or `crate`.
fn drawn() -> Vec<(String, BTreeSet<String>)> {
    let page = text("ARCHITECTURE.md");
    let (_, rest) = page.split_once(MARK).expect("ARCHITECTURE.md has no crate graph");
    let (diagram, _) = rest.split_once("```").unwrap();
    diagram
        .lines()
        .map(|line| {
            let (name, dependencies) = line.split_once("->").unwrap_or((line, ""));
            let dependencies =
                dependencies.split(',').map(str::trim).filter(|name| !name.is_empty());
            (name.trim().to_owned(), dependencies.map(str::to_owned).collect())
        })
        .collect()
}

#[test]
fn crates_depend_on_each_other_as_drawn() {
    let declared = declared();
    let drawn: Graph = drawn().into_iter().collect();
    let edges = |graph: &Graph| -> BTreeSet<String> {
        let edge = |(from, to): (&String, &BTreeSet<String>)| -> Vec<String> {
            to.iter().map(|to| format!("{from} -> {to}")).collect()
        };
        graph.iter().flat_map(edge).chain(graph.keys().cloned()).collect()
    };
    let (declared, drawn) = (edges(&declared), edges(&drawn));
    let undrawn: Vec<_> = declared.difference(&drawn).collect();
    let undeclared: Vec<_> = drawn.difference(&declared).collect();
    assert!(undrawn.is_empty(), "missing in the diagram of ARCHITECTURE.md: {undrawn:?}");
    assert!(undeclared.is_empty(), "only in the diagram of ARCHITECTURE.md: {undeclared:?}");
}

/// The order shows a reader immediately that no layer depends on a higher one.
#[test]
fn the_diagram_lists_dependencies_below_their_users() {
    let drawn = drawn();
    for (at, (name, dependencies)) in drawn.iter().enumerate() {
        for dependency in dependencies {
            let place = drawn.iter().position(|(other, _)| other == dependency);
            assert!(place.is_some_and(|place| place > at), "{name} -> {dependency}");
        }
    }
}

#[test]
fn every_library_states_what_it_must_not_touch() {
    for member in members() {
        if NO_PART.iter().any(|dir| format!("{member}/").starts_with(dir)) {
            continue;
        }
        let places = [format!("{member}/src/lib.rs"), format!("{member}/lib.rs")];
        let file = places.into_iter().find(|file| home().join(file).is_file()).unwrap();
        let text = text(&file);
        let first = text.lines().take(12).take_while(|line| line.starts_with("//!"));
        let stated = first.into_iter().any(|line| line.starts_with("//! Must not touch: "));
        assert!(stated, "the first lines of {file} do not say what it must not touch");
    }
}
