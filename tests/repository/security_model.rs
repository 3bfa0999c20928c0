//! `docs/security-model.md` names a test for each guarantee: these tests exist.
#![expect(clippy::disallowed_methods, reason = "reads the files of this project")]
#![expect(clippy::unwrap_used, reason = "an unreadable file is a failure")]

use std::collections::BTreeSet;

use super::workspace::home;

/// The names of all tests of the repository.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for dir in ["crates", "src", "tests", "data"] {
        for entry in walkdir::WalkDir::new(home().join(dir)) {
            let path = entry.unwrap().into_path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for part in text.split("#[test]").skip(1) {
                // Further attributes may be in between.
                let Some((before, rest)) = part.split_once("fn ") else { continue };
                let is_next = before.lines().all(|line| {
                    let line = line.trim();
                    line.is_empty() || line.starts_with("#[") || line.starts_with("//")
                });
                if is_next {
                    names.extend(rest.split_once('(').map(|(name, _)| name.to_owned()));
                }
            }
        }
    }
    names
}

/// The rows of the tables of guarantees: the sentence, and the names in the last column.
fn guarantees(page: &str) -> Vec<(String, Vec<String>)> {
    let section = page.split("\n## ").find(|section| section.starts_with("Guarantees\n")).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let rows = rows.filter(|line| !line.starts_with("| ---") && !line.starts_with("| Guarantee"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let names = cells[cells.len() - 1].split(',').map(|name| name.trim().trim_matches('`'));
        (cells[0].to_owned(), names.map(str::to_owned).collect())
    })
    .collect()
}

#[test]
fn every_guarantee_has_a_test() {
    let page = std::fs::read_to_string(home().join("docs/security-model.md")).unwrap();
    let (tests, guarantees) = (tests(), guarantees(&page));
    assert!(tests.len() > 500 && guarantees.len() >= 15, "{} {}", tests.len(), guarantees.len());
    let missing: Vec<String> = guarantees
        .iter()
        .flat_map(|(sentence, names)| names.iter().map(move |name| (sentence, name)))
        .filter(|(_, name)| !tests.contains(*name))
        .map(|(sentence, name)| format!("`{name}`: {sentence}"))
        .collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn each_guard_has_an_attack() {
    for guard in ["writes", "processes", "secrets", "text", "limits", "settings"] {
        let script = home().join(format!("tests/attacks/{guard}.sh"));
        let text = std::fs::read_to_string(&script).unwrap();
        assert!(text.contains("fail ") && text.contains("lib.sh"), "{guard} cannot fail");
    }
}
