//! The words of `data/findings/` and their uses in `src/checks/` and by the other subcommands, as
//! far as text can tell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use data::Catalog;

/// All sources that say findings, tests cut off.
fn sources() -> String {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    [
        "src/checks",
        "src/convert/links.rs",
        "src/convert/report.rs",
        "src/convert/undo.rs",
        "crates/verify/src/judge",
        "crates/base/src/visible.rs",
        "src/cmd/audit_ops",
        "crates/audit/src",
        "crates/fleet/src/rules",
    ]
    .into_iter()
    .flat_map(|part| walkdir::WalkDir::new(home.join(part)).sort_by_file_name())
    .map(|entry| entry.unwrap().into_path())
    .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
    .filter(|path| {
        !["tests.rs", "testing.rs"].contains(&path.file_name().unwrap().to_str().unwrap())
    })
    .map(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned()
    })
    .collect()
}

/// `RawFinding::error("ID", "message")` and its kin, where both are written out.
fn literal_uses(sources: &str) -> BTreeSet<(String, String)> {
    let pattern = regex::Regex::new(
        r#"RawFinding::(?:error|warning|info|new)\(\s*"([A-Z-]+)",\s*"([a-z0-9_]+)""#,
    );
    let pattern = pattern.unwrap();
    pattern.captures_iter(sources).map(|found| (found[1].to_owned(), found[2].to_owned())).collect()
}

#[test]
fn every_message_that_is_used_exists() {
    let uses = literal_uses(&sources());
    assert!(uses.len() > 50, "{} uses only: the pattern no longer fits", uses.len());
    for (id, message) in uses {
        let entry = Catalog::builtin().entry(&id).unwrap_or_else(|| panic!("{id} has no words"));
        assert!(entry.message.contains_key(&message), "{id} has no message `{message}`");
    }
}

#[test]
fn every_message_is_used() {
    let sources = sources();
    let mut unused = Vec::new();
    for entry in Catalog::builtin().entries() {
        for key in entry.message.keys() {
            if !sources.contains(&format!("\"{key}\"")) {
                unused.push(format!("{} {key}", entry.id));
            }
        }
    }
    assert!(unused.is_empty(), "nobody says {unused:?}");
}

/// A placeholder of any message is given somewhere in the checks.
#[test]
fn every_placeholder_is_given_somewhere() {
    let sources = sources();
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let pattern = regex::Regex::new(r"\{([a-z_0-9]+)\}").unwrap();
    for entry in Catalog::builtin().entries() {
        for (key, message) in &entry.message {
            let steps = message.fix.iter().flat_map(|fix| [Some(&fix.en), fix.run.as_ref()]);
            let texts = [Some(&message.title.en), message.cause.as_ref().map(|text| &text.en)];
            for text in texts.into_iter().chain(steps).flatten() {
                for found in pattern.captures_iter(text) {
                    if !sources.contains(&format!("\"{}\"", &found[1])) {
                        let place = format!("{} {key}", entry.id);
                        missing.entry(found[1].to_owned()).or_default().push(place);
                    }
                }
            }
        }
    }
    assert!(missing.is_empty(), "nobody gives {missing:?}");
}

#[test]
fn there_are_at_least_75_checks() {
    let count = checks::all().count();
    assert!(count >= 75, "{count}");
}
