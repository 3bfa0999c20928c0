//! Unused messages. The compiler generates a public value for each message, so it does not detect
//! that no code uses it.
#![expect(clippy::disallowed_methods, reason = "reads the sources of this project")]
#![expect(clippy::unwrap_used, reason = "an unreadable source is a failure")]

use std::collections::BTreeSet;
use std::path::Path;

/// The sources of the program, without generated code.
fn sources() -> Vec<String> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["src", "crates", "data/src"]
        .into_iter()
        .flat_map(|part| walkdir::WalkDir::new(home.join(part)).sort_by_file_name())
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
        .filter(|path| !path.starts_with(home.join("data/src/messages")));
    files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// All paths `a::B` of a source. In a macro, module and name are separated.
fn paths(source: &str) -> BTreeSet<String> {
    let pattern = regex::Regex::new(r"\b[a-z_0-9]+::[A-Z]\w*|\bReason::\w+").unwrap();
    let mut found: BTreeSet<String> =
        pattern.find_iter(source).map(|found| found.as_str().to_owned()).collect();
    if source.contains("macro_rules!") {
        let words = |pattern: &str| -> BTreeSet<String> {
            let pattern = regex::Regex::new(pattern).unwrap();
            pattern.find_iter(source).map(|found| found.as_str().to_owned()).collect()
        };
        let names = words(r"\b[A-Z]\w+\b");
        for module in words(r"\b[a-z]+_[a-z_0-9]+\b") {
            found.extend(names.iter().map(|name| format!("{module}::{name}")));
        }
    }
    found
}

#[test]
fn every_message_is_used() {
    let used: BTreeSet<String> = sources().iter().flat_map(|source| paths(source)).collect();
    let generated = data::generated_messages().unwrap();
    let row = regex::Regex::new(r#"(?m)^( +)(\w+) = "([\w-]+)""#).unwrap();
    let mut unused = Vec::new();
    for (file, code) in &generated {
        let mut module = match file.as_str() {
            "labels.rs" | "sentences.rs" => "ui",
            "reasons.rs" => "Reason",
            _ => "",
        };
        for found in row.captures_iter(code) {
            let name = found.get(2).unwrap().as_str();
            if file.starts_with("findings/") && found[1].len() == 4 {
                module = name;
                continue;
            }
            let path = format!("{module}::{name}");
            if !used.contains(&path) {
                unused.push(path);
            }
        }
    }
    assert!(unused.is_empty(), "nobody reports {unused:?}");
}
