//! Differences between two observations of a case, as lines of unified diffs.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use similar::TextDiff;
use walkdir::WalkDir;

use super::normalize::{Normalizer, Paths};
use super::observe::Observation;
use super::substance::compare_findings;
use crate::process::{Output, Stream};

/// The time limit of one diff. A diff at the limit is valid, but not minimal.
const DIFF_TIME: Duration = Duration::from_secs(2);

/// A difference in one part of an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// `exit status`, `stdout`, `stderr` or `file PATH`, after the number of the command line.
    pub(crate) part: String,
    /// Hunks of a unified diff without file headers.
    pub(crate) lines: Vec<String>,
}

impl Change {
    /// Returns the added and removed lines, with their sign.
    pub(crate) fn changed_lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str).filter(|line| line.starts_with(['-', '+']))
    }

    fn pair(part: String, old: impl std::fmt::Display, new: impl std::fmt::Display) -> Self {
        Self { part, lines: vec![format!("-{old}"), format!("+{new}")] }
    }
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) observation: &'a Observation,
    pub(crate) rules: Rules<'a>,
}

/// Normalization of one side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) normalizer: &'a Normalizer,
    pub(crate) paths: &'a Paths,
    /// Whether reports have tables of durations.
    pub(crate) timed: bool,
}

/// The kind of differences that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every byte of outputs and files.
    Everything,
    /// Exit statuses, and IDs and severities of findings in JSON reports.
    Substance,
}

/// Compares exit statuses, and the findings of reports.
pub(crate) fn compare_substance(old: &Observation, new: &Observation) -> Vec<Change> {
    let (before, after) = (&old.outputs, &new.outputs);
    let mut changes = Vec::new();
    let many = before.len().max(after.len()) > 1;
    for (index, (one, other)) in before.iter().zip(after).enumerate() {
        let prefix = if many { format!("step {} ", index + 1) } else { String::new() };
        if one.status != other.status {
            let part = format!("{prefix}exit status");
            changes.push(Change::pair(part, one.status, other.status));
        }
        let part = format!("{prefix}stdout");
        changes.extend(compare_findings(&part, &one.stdout.bytes, &other.stdout.bytes));
    }
    changes
}

/// Compares the outputs and the files of two observations.
pub(crate) fn compare(old: Side<'_>, new: Side<'_>) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    let (before, after) = (&old.observation.outputs, &new.observation.outputs);
    let many = before.len().max(after.len()) > 1;
    for (index, (one, other)) in before.iter().zip(after).enumerate() {
        let prefix = if many { format!("step {} ", index + 1) } else { String::new() };
        compare_outputs(&prefix, (one, old.rules), (other, new.rules), &mut changes);
    }
    if before.len() != after.len() {
        let part = "command lines run".to_owned();
        changes.push(Change::pair(part, before.len(), after.len()));
    }
    let trees = (old.observation.tree.as_path(), new.observation.tree.as_path());
    compare_trees("", trees, (old.rules, new.rules), &mut changes)?;
    Ok(changes)
}

fn compare_outputs(
    prefix: &str,
    old: (&Output, Rules<'_>),
    new: (&Output, Rules<'_>),
    changes: &mut Vec<Change>,
) {
    if old.0.status != new.0.status {
        changes.push(Change::pair(format!("{prefix}exit status"), old.0.status, new.0.status));
    }
    for (name, one, other) in
        [("stdout", &old.0.stdout, &new.0.stdout), ("stderr", &old.0.stderr, &new.0.stderr)]
    {
        let part = format!("{prefix}{name}");
        changes.extend(compare_contents(&part, (&one.bytes, old.1), (&other.bytes, new.1)));
        if one.rest != other.rest {
            let describe = |stream: &Stream| {
                stream.rest.map_or_else(
                    || "no bytes beyond the limit".to_owned(),
                    |(bytes, hash)| format!("{bytes} bytes beyond the limit, hash {hash:016x}"),
                )
            };
            changes.push(Change::pair(part, describe(one), describe(other)));
        }
    }
}

/// Compares two contents, line by line if both are text.
fn compare_contents(
    part: &str,
    old: (&[u8], Rules<'_>),
    new: (&[u8], Rules<'_>),
) -> Option<Change> {
    if old.0 == new.0 {
        return None;
    }
    let part = part.to_owned();
    let (Some(one), Some(other)) = (text(old.0), text(new.0)) else {
        return Some(Change::pair(part, describe_binary(old.0), describe_binary(new.0)));
    };
    let normalize =
        |text: &str, rules: Rules<'_>| rules.normalizer.normalize(text, rules.paths, rules.timed);
    let (one, other) = (normalize(one, old.1), normalize(other, new.1));
    (one != other).then(|| Change { part, lines: diff(&one, &other) })
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn describe_binary(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("binary, {} bytes, hash {:016x}", bytes.len(), hasher.finish())
}

fn diff(old: &str, new: &str) -> Vec<String> {
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, new);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(1).iter_hunks() {
        let text = hunk.to_string();
        // `lines` would drop carriage returns, which may be the difference.
        lines.extend(text.trim_end_matches('\n').split('\n').map(str::to_owned));
    }
    lines
}

/// A directory entry without its content.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    description: String,
    is_file: bool,
}

fn compare_trees(
    prefix: &str,
    (old, new): (&Path, &Path),
    rules: (Rules<'_>, Rules<'_>),
    changes: &mut Vec<Change>,
) -> Result<()> {
    let (before, after) = (list(old)?, list(new)?);
    let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    for path in paths {
        let part = format!("file {prefix}{}", path.display());
        let (one, other) = (before.get(path), after.get(path));
        let description =
            |entry: Option<&Entry>| entry.map_or("absent", |entry| &entry.description).to_owned();
        if one != other {
            changes.push(Change::pair(part.clone(), description(one), description(other)));
        }
        let read = |root: &Path, entry: Option<&Entry>| match entry {
            Some(Entry { is_file: true, .. }) => {
                let path = root.join(path);
                std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))
            }
            _ => Ok(Vec::new()),
        };
        let (one, other) = (read(old, one)?, read(new, other)?);
        if one == other {
            continue;
        }
        if path.to_string_lossy().ends_with(".tar.gz")
            && let (Some(one), Some(other)) = (unpack(&old.join(path)), unpack(&new.join(path)))
        {
            let count = changes.len();
            let members = (one.path(), other.path());
            compare_trees(&format!("{prefix}{}!", path.display()), members, rules, changes)?;
            // Different members always produce different bytes.
            if changes.len() > count {
                continue;
            }
        }
        let sides = ((one.as_slice(), rules.0), (other.as_slice(), rules.1));
        changes.extend(compare_contents(&part, sides.0, sides.1));
    }
    Ok(())
}

/// Lists a tree without the metadata of git, which contains file times.
fn list(root: &Path) -> Result<BTreeMap<PathBuf, Entry>> {
    let mut entries = BTreeMap::new();
    let walk = WalkDir::new(root).min_depth(1).into_iter();
    for entry in walk.filter_entry(|entry| entry.file_name() != ".git") {
        let entry = entry?;
        let mode = entry.metadata()?.permissions().mode() & 0o7777;
        let kind = entry.file_type();
        let description = if kind.is_symlink() {
            format!("symlink to {}", std::fs::read_link(entry.path())?.display())
        } else if kind.is_dir() {
            format!("directory, mode {mode:04o}")
        } else if kind.is_file() {
            format!("file, mode {mode:04o}")
        } else {
            format!("special file, mode {mode:04o}")
        };
        let path = entry.path().strip_prefix(root)?.to_owned();
        entries.insert(path, Entry { description, is_file: kind.is_file() });
    }
    Ok(entries)
}

/// Unpacks an archive, so that its differences are shown by member.
fn unpack(archive: &Path) -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().ok()?;
    let mut tar = Command::new("tar");
    tar.arg("xzf").arg(archive).arg("-C").arg(dir.path());
    let output = tar.output().ok()?;
    output.status.success().then_some(dir)
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
