//! Fetches the missing files of a clone without blobs in one request instead of one request each.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};

use crate::repository::Repository;

/// The maximum number of objects in one request. Servers limit the time of a request.
const MAX_OBJECTS: usize = 20_000;

impl Repository {
    /// Fetches the missing blobs of these paths. The remote is contacted only if the clone was made
    /// without blobs.
    pub(crate) fn prefetch(&self, wanted: &[(&str, &str)]) -> Result<()> {
        if !self.lacks_blobs()? {
            return Ok(());
        }
        let mut by_commit: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (commit, path) in wanted {
            by_commit.entry(commit).or_default().insert(path);
        }
        let mut blobs = BTreeSet::new();
        for (commit, paths) in by_commit {
            // `MODE TYPE OBJECT\tPATH`. The clone has all trees, so this fetches nothing.
            let list = self.git(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
            for entry in list.split('\0') {
                let Some((head, path)) = entry.split_once('\t') else { continue };
                if paths.contains(path)
                    && let [_, "blob", object] = head.split(' ').collect::<Vec<_>>()[..]
                {
                    blobs.insert(object.to_owned());
                }
            }
        }
        let blobs: Vec<String> = blobs.into_iter().collect();
        let missing = self.missing(&blobs)?;
        for part in missing.chunks(MAX_OBJECTS) {
            self.fetch(part)?;
        }
        Ok(())
    }

    /// Returns the objects that are missing in the clone.
    fn missing(&self, objects: &[String]) -> Result<Vec<String>> {
        let answer = self.feed(&["cat-file", "--batch-check"], objects)?;
        let missing = answer.lines().filter_map(|line| line.strip_suffix(" missing"));
        Ok(missing.map(str::to_owned).collect())
    }

    /// Fetches objects by their IDs, as git does for a single missing object.
    fn fetch(&self, objects: &[String]) -> Result<()> {
        let arguments = [
            "-c",
            "fetch.negotiationAlgorithm=noop",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--recurse-submodules=no",
            "--filter=blob:none",
            "--stdin",
            "origin",
        ];
        self.feed(&arguments, objects).map(drop)
    }

    /// Runs git with lines on its standard input, without fetching on demand.
    fn feed(&self, arguments: &[&str], lines: &[String]) -> Result<String> {
        let mut child = self
            .command()
            .args(arguments)
            .env("GIT_NO_LAZY_FETCH", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start git")?;
        let mut input = child.stdin.take().context("git has no pipe")?;
        let text = lines.join("\n") + "\n";
        // git writes while it reads, so a separate thread prevents a deadlock on full pipes.
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let output = child.wait_with_output().context("git")?;
        let written = writer.join();
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: git: {}", self.name(), error.trim());
        ensure!(matches!(written, Ok(Ok(()))), "{}: git reads no input", self.name());
        Ok(String::from_utf8(output.stdout)?)
    }
}
