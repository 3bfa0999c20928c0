//! Messages that nobody reports. A value that the compiler generates for each message is public, so
//! the compiler does not notice that none uses it.

use std::collections::BTreeSet;
use std::path::Path;

/// The sources of the program, without generated code.
fn sources() -> String {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["src", "crates", "data/src"]
        .into_iter()
        .flat_map(|part| walkdir::WalkDir::new(home.join(part)).sort_by_file_name())
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
        .filter(|path| !path.starts_with(home.join("data/src/messages")));
    files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// All paths `a::B` of the sources.
fn paths(sources: &str) -> BTreeSet<&str> {
    let pattern = regex::Regex::new(r"\b[a-z_0-9]+::[A-Z]\w*|\bReason::\w+").unwrap();
    pattern.find_iter(sources).map(|found| found.as_str()).collect()
}

#[test]
fn every_message_is_used() {
    let sources = sources();
    let used = paths(&sources);
    // Uses that are named by their key are listed by `scripts`, until they are converted.
    let by_key = |key: &str| sources.contains(&format!("\"{key}\""));
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
            if !used.contains(path.as_str()) && !by_key(&found[3]) {
                unused.push(path);
            }
        }
    }
    assert!(unused.is_empty(), "nobody reports {unused:?}");
}
