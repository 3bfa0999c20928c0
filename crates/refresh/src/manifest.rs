//! `data/sources.toml`: every public source, and the owner of every table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

/// Name of the file below `data/`.
pub(crate) const FILE: &str = "sources.toml";

/// The content of `data/sources.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    schema: u32,
    /// Day on which the newest source was read, `YYYY-MM-DD`.
    pub(crate) as_of: String,
    #[serde(rename = "source")]
    pub(crate) sources: Vec<Source>,
    #[serde(rename = "table")]
    pub(crate) tables: Vec<TableEntry>,
}

/// One public source.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    /// `OWNER/NAME` of a repository, name of a package, title of a document.
    pub(crate) name: String,
    /// SPDX expression where one exists.
    pub(crate) license: String,
    pub(crate) rule: Rule,
    /// Commit of the default branch that the tables were made from.
    pub(crate) commit: Option<String>,
    /// Day of that commit.
    pub(crate) date: Option<String>,
    /// Commits of release branches, by branch.
    #[serde(default)]
    pub(crate) refs: BTreeMap<String, String>,
    /// Versions of a package that were read.
    pub(crate) versions: Option<String>,
    /// Number and hash of the files of a package that were read.
    #[serde(default)]
    pub(crate) files: Option<String>,
    /// Day on which a document was read.
    pub(crate) read: Option<String>,
    /// Prefixes of paths whose license forbids texts, so that only numbers and names of constants
    /// are read.
    #[serde(default)]
    pub(crate) numbers_only: Vec<String>,
    #[serde(rename = "why")]
    pub(crate) _why: String,
    #[serde(default, rename = "paths")]
    pub(crate) _paths: Vec<String>,
    #[serde(rename = "note")]
    pub(crate) _note: Option<String>,
    /// Day and reason, if the source could not be read.
    pub(crate) unreachable: Option<String>,
}

/// Kind of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Repository,
    Package,
    Document,
}

/// The content of a source that may be included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rule {
    /// Numbers, names, short messages that programs print.
    Facts,
    /// Numbers and names of constants only.
    Numbers,
    /// The project's own content.
    Own,
}

/// One file below `data/`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableEntry {
    /// Path below `data/`.
    pub(crate) file: String,
    pub(crate) owner: Owner,
    pub(crate) sources: Vec<String>,
    /// Minimum number of rows after a refresh.
    #[serde(default)]
    pub(crate) floor: usize,
    /// Keys that have several values, with the reason.
    #[serde(default)]
    pub(crate) conflicts: BTreeMap<String, String>,
    /// The creation of a recorded table.
    pub(crate) recorded: Option<Recording>,
}

/// Owner of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Owner {
    /// `cargo xtask refresh` writes the file; manual rows are in its overlay.
    Machine,
    /// The file is edited manually.
    Hand,
    /// A script made the file in a costly environment. A refresh leaves it unchanged.
    Recorded,
}

/// The creation of a recorded table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recording {
    pub(crate) script: String,
    pub(crate) date: String,
    pub(crate) environment: String,
    /// SHA-256 of the file, in hexadecimal.
    pub(crate) sha256: String,
}

impl Manifest {
    /// Reads and validates `data/sources.toml`.
    pub(crate) fn read(data: &Path) -> Result<Self> {
        let path = data.join(FILE);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// Parses and validates the text of a manifest.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let manifest: Self = toml::from_str(text)?;
        ensure!(manifest.schema == 1, "schema {} is unknown", manifest.schema);
        ensure!(is_day(&manifest.as_of), "as_of: `{}` is not a day", manifest.as_of);
        let mut ids = BTreeSet::new();
        for source in &manifest.sources {
            let id = &source.id;
            ensure!(ids.insert(id.as_str()), "source `{id}` is listed twice");
            ensure!(!source.license.is_empty(), "source `{id}` has no license");
            let commits = source.commit.iter().chain(source.refs.values());
            for commit in commits {
                let hex = commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
                ensure!(hex, "source `{id}`: `{commit}` is not a commit");
            }
            let dated = match source.kind {
                Kind::Repository => source.commit.is_some() && source.date.is_some(),
                Kind::Package => source.versions.is_some(),
                Kind::Document => source.read.is_some() || source.rule == Rule::Own,
            };
            if !dated && source.unreachable.is_none() {
                bail!("source `{id}` names no commit, versions or day of reading");
            }
        }
        let mut files = BTreeSet::new();
        for table in &manifest.tables {
            let file = &table.file;
            ensure!(files.insert(file.as_str()), "table `{file}` is listed twice");
            for source in &table.sources {
                ensure!(ids.contains(source.as_str()), "table `{file}`: unknown source `{source}`");
            }
            ensure!(!table.sources.is_empty(), "table `{file}` has no source");
            let recorded = table.owner == Owner::Recorded;
            ensure!(
                recorded == table.recorded.is_some(),
                "table `{file}`: [recorded] belongs to recorded tables"
            );
        }
        Ok(manifest)
    }

    /// Returns the source with this ID.
    pub(crate) fn source(&self, id: &str) -> Result<&Source> {
        let found = self.sources.iter().find(|source| source.id == id);
        found.with_context(|| format!("{FILE} has no source `{id}`"))
    }

    /// Returns the entry of a file below `data/`.
    pub(crate) fn table(&self, file: &str) -> Result<&TableEntry> {
        let found = self.tables.iter().find(|table| table.file == file);
        found.with_context(|| format!("{FILE} has no table `{file}`"))
    }
}

fn is_day(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
schema = 1
as_of = "2026-11-23"
[[source]]
id = "a"
kind = "repository"
name = "o/a"
license = "MIT"
rule = "facts"
commit = "0123456789012345678901234567890123456789"
date = "2026-01-01"
why = "codes"
[[table]]
file = "errors/a.tsv"
owner = "machine"
sources = ["a"]
floor = 3
"#;

    #[test]
    fn good_manifest_is_accepted() {
        let manifest = Manifest::parse(GOOD).unwrap();
        assert_eq!(manifest.table("errors/a.tsv").unwrap().floor, 3);
        assert_eq!(manifest.source("a").unwrap().name, "o/a");
        assert!(manifest.source("b").is_err() && manifest.table("b").is_err());
    }

    #[test]
    fn inconsistent_manifests_are_rejected() {
        for (from, to, message) in [
            ("schema = 1", "schema = 2", "schema 2"),
            ("2026-11-23", "November", "not a day"),
            ("sources = [\"a\"]", "sources = [\"b\"]", "unknown source `b`"),
            ("sources = [\"a\"]", "sources = []", "no source"),
            ("license = \"MIT\"", "license = \"\"", "no license"),
            ("0123456789012345678901234567890123456789", "master", "not a commit"),
            ("owner = \"machine\"", "owner = \"recorded\"", "[recorded]"),
            ("date = \"2026-01-01\"\n", "", "names no commit"),
            ("why =", "what =", "unknown field"),
        ] {
            let error = Manifest::parse(&GOOD.replacen(from, to, 1)).unwrap_err();
            assert!(format!("{error:#}").contains(message), "{error:#}");
        }
        let twice = format!(
            "{GOOD}[[table]]\nfile = \"errors/a.tsv\"\nowner = \"hand\"\nsources = [\"a\"]\n"
        );
        assert!(format!("{:#}", Manifest::parse(&twice).unwrap_err()).contains("twice"));
    }
}
