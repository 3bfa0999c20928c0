//! Runs `check` in this process and reads its JSON report.

use std::path::Path;

use ascend_doctor::cli::Cli;
use serde_json::Value;

use super::tree::Tree;

/// A report with its exit status.
#[derive(Debug)]
pub struct Scan {
    /// Exit status.
    pub code: u8,
    /// The JSON report.
    pub report: Value,
    /// The same as text, for messages.
    pub text: String,
}

/// The compared fields of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// Its id.
    pub id: String,
    /// Its severity.
    pub severity: String,
    /// Its title in English.
    pub title: String,
}

/// Scans a tree on disk with further arguments.
pub fn scan(root: &Path, args: &[&str]) -> Scan {
    try_scan(root, args).unwrap_or_else(|error| panic!("the scan failed: {error:#}"))
}

/// Like [`scan`], for trees that may be unusable.
pub fn try_scan(root: &Path, args: &[&str]) -> anyhow::Result<Scan> {
    let out = tempfile::NamedTempFile::new()?;
    let mut line = vec!["ascend-doctor", "--lang", "en", "--format", "json", "--output"];
    let path = out.path().to_str().unwrap().to_owned();
    line.extend([path.as_str(), "check", "--sysroot", root.to_str().unwrap()]);
    line.extend(args);
    let status = ascend_doctor::run(&mut Cli::read(&mut ascend_doctor::cli::command(), &line)?)?;
    let text = std::fs::read_to_string(&path)?;
    let report = serde_json::from_str(&text)?;
    Ok(Scan { code: status.code(), report, text })
}

/// Writes `tree` into a new directory and scans it.
pub fn scan_tree(tree: &Tree, args: &[&str]) -> Scan {
    let dir = tempfile::tempdir().unwrap();
    tree.write(dir.path());
    scan(dir.path(), args)
}

/// A directory for one machine after the other.
#[derive(Debug)]
pub struct Bench {
    dir: tempfile::TempDir,
    tree: Tree,
}

impl Bench {
    /// Creates an empty directory.
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), tree: Tree::default() }
    }

    /// Writes `tree` and scans it. Similar machines should follow each other.
    pub fn scan(&mut self, tree: Tree, args: &[&str]) -> Scan {
        tree.update(self.dir.path(), &self.tree);
        self.tree = tree;
        scan(self.dir.path(), args)
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Scan {
    /// The top-level findings: root causes.
    pub fn findings(&self) -> Vec<Seen> {
        self.report["findings"].as_array().unwrap().iter().map(seen).collect()
    }

    /// Every finding, including consequences.
    pub fn all(&self) -> Vec<Seen> {
        let mut all = Vec::new();
        collect(&self.report["findings"], &mut all);
        all
    }

    /// The ids of the top findings of this severity, sorted.
    pub fn ids(&self, severity: &str) -> Vec<String> {
        let mut ids: Vec<String> = self
            .findings()
            .into_iter()
            .filter(|finding| finding.severity == severity)
            .map(|finding| finding.id)
            .collect();
        ids.sort();
        ids
    }

    /// One line per top finding.
    pub fn lines(&self) -> String {
        fn walk(list: &Value, depth: usize, out: &mut String) {
            for finding in list.as_array().into_iter().flatten() {
                let Seen { id, severity, title } = seen(finding);
                out.push_str(&format!("  {}{severity} {id}: {title}\n", "  ".repeat(depth)));
                walk(&finding["consequences"], depth + 1, out);
            }
        }
        let mut out = String::new();
        walk(&self.report["findings"], 0, &mut out);
        out
    }
}

fn collect(list: &Value, all: &mut Vec<Seen>) {
    for finding in list.as_array().into_iter().flatten() {
        all.push(seen(finding));
        collect(&finding["consequences"], all);
    }
}

fn seen(finding: &Value) -> Seen {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Seen {
        id: word(&finding["id"]),
        severity: word(&finding["severity"]),
        title: word(&finding["title"]["en"]),
    }
}
