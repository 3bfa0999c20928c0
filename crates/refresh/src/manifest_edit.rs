//! Records the commits of a refresh in `data/sources.toml`. Comments and order are preserved.

use std::collections::BTreeMap;

use crate::context::{Context, Revision, release_version};
use crate::package::IndexFile;
use crate::package_lock::{Pins, describe};

/// Returns the text of the manifest with the commits that were read.
pub(crate) fn record(text: &str, context: &Context) -> String {
    rewrite(text, &context.revisions(), &context.packages.read())
}

fn rewrite(text: &str, read: &BTreeMap<String, Revision>, packages: &Pins) -> String {
    let mut package: Option<(&String, &Vec<IndexFile>)> = None;
    let mut revision: Option<&Revision> = None;
    let mut newest: Option<&str> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let (key, value) = line.split_once(" = ").unwrap_or((line, ""));
        let line = match (key, revision) {
            ("[[source]]" | "[[table]]", _) => {
                (revision, package) = (None, None);
                line.to_owned()
            }
            ("id", _) => {
                revision = read.get(value.trim_matches('"'));
                line.to_owned()
            }
            ("name", None) => {
                package = packages.get_key_value(value.trim_matches('"'));
                line.to_owned()
            }
            ("files", None) if package.is_some() => {
                let described = package.map(|(name, files)| describe(name, files));
                format!("files = \"{}\"", described.unwrap_or_default())
            }
            ("commit", Some(Revision { commit: Some((commit, _)), .. })) => {
                format!("commit = \"{commit}\"")
            }
            ("date", Some(Revision { commit: Some((_, day)), .. })) => {
                newest = newest.max(Some(day));
                format!("date = \"{day}\"")
            }
            ("refs", Some(revision)) if !revision.refs.is_empty() => {
                let mut refs: Vec<_> = revision.refs.iter().collect();
                refs.sort_by_key(|(name, _)| release_version(name));
                let refs: Vec<String> = refs
                    .into_iter()
                    .map(|(name, commit)| format!("\"{name}\" = \"{commit}\""))
                    .collect();
                format!("refs = {{ {} }}", refs.join(", "))
            }
            _ => line.to_owned(),
        };
        lines.push(line);
    }
    // The data is as new as its newest source.
    if let Some(newest) = newest
        && let Some(line) = lines.iter_mut().find(|line| line.starts_with("as_of = "))
        && line.as_str() < format!("as_of = \"{newest}\"").as_str()
    {
        *line = format!("as_of = \"{newest}\"");
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_recorded_in_the_entry_of_their_source() {
        let text = "# c\nas_of = \"2026-01-01\"\n[[source]]\nid = \"a\"\ncommit = \"1\"\ndate = \"2025-01-01\"\nrefs = { \"9.0.0\" = \"0\" }\n\n\
                    [[source]]\nid = \"b\"\ncommit = \"1\"\n";
        let refs = BTreeMap::from([
            ("9.1.0".to_owned(), "3".to_owned()),
            ("9.1.0-beta.1".to_owned(), "2".to_owned()),
        ]);
        let a = Revision { commit: Some(("9".to_owned(), "2026-02-02".to_owned())), refs };
        let after = rewrite(text, &BTreeMap::from([("a".to_owned(), a)]), &Pins::new());
        let expected = "# c\nas_of = \"2026-02-02\"\n[[source]]\nid = \"a\"\ncommit = \"9\"\ndate = \"2026-02-02\"\n\
                        refs = { \"9.1.0-beta.1\" = \"2\", \"9.1.0\" = \"3\" }\n\n[[source]]\nid = \"b\"\ncommit = \"1\"\n";
        assert_eq!(after, expected);
        assert_eq!(rewrite(text, &BTreeMap::new(), &Pins::new()), text);
    }

    #[test]
    fn files_are_recorded_in_the_entry_of_their_package() {
        let text = "[[source]]\nid = \"a\"\nname = \"p\"\nfiles = \"\"\n[[source]]\nname = \"q\"\nfiles = \"\"\n";
        let after = rewrite(text, &BTreeMap::new(), &Pins::from([("p".to_owned(), Vec::new())]));
        assert!(after.contains("name = \"p\"\nfiles = \"0 files, SHA-256 "), "{after}");
        assert!(after.ends_with("name = \"q\"\nfiles = \"\"\n"), "{after}");
    }
}
