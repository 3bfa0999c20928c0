//! Finds files with uncommitted changes, which are not overwritten without confirmation.
//!
//! The answer is that of `git status`: only git supports its index, its line endings and its packs
//! in all their versions, and a second reader of them would be another source of wrong answers. The
//! repository may be untrusted, so git never reads its configuration: it works on
//! [`repository::Copy`], which contains the index, the branch and four harmless settings. Anything
//! that the configuration names, such as filters, monitors, hooks and remotes, does not exist
//! there. Untracked files are not protected by git but, like trees without git, by the journal.
#![expect(
    clippy::disallowed_methods,
    reason = "asks git about the tree that is converted; no machine is examined"
)]

mod repository;

use base::text::Text;
use data::fault::{Value as _, quote};
use data::faults;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use guard::process::Program;
use repository::Copy;

/// The maximum size of the output of git, in bytes.
const MAX_OUTPUT: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// The time limit of git: it may encounter a pipe among its objects, or a dead file system.
const LIMIT: Duration = Duration::from_mins(1);

/// The answer of git about some files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Files with uncommitted changes.
    pub uncommitted: Vec<PathBuf>,
    /// A work tree in an unknown state, with the reason, if there is one.
    pub trouble: Option<(PathBuf, Text)>,
}

/// Uncommitted files of complete work trees, by their top directory.
type UncommittedFiles = BTreeMap<PathBuf, Result<Vec<PathBuf>, Text>>;

/// A query to git that runs in the background.
#[derive(Debug)]
pub struct Question(Option<JoinHandle<UncommittedFiles>>);

impl Question {
    /// Queries the work trees of `dirs`, which must be absolute and free of symbolic links.
    pub fn ask(dirs: &[PathBuf]) -> Self {
        let tops: BTreeSet<PathBuf> = dirs.iter().filter_map(|dir| top_of(dir)).collect();
        if tops.is_empty() {
            return Self(None);
        }
        let ask = move || {
            let asked = tops.into_iter().map(|top| {
                let said = changed(&top);
                (top, said)
            });
            asked.collect()
        };
        Self(std::thread::Builder::new().spawn(ask).ok())
    }

    /// Returns the answer for `files`, which must be absolute and free of symbolic links. Does not
    /// wait if there are no files.
    pub fn uncommitted(self, files: &[PathBuf]) -> Answer {
        if files.is_empty() {
            return Answer::default();
        }
        let said = self.0.and_then(|asked| asked.join().ok()).unwrap_or_default();
        uncommitted(files, said)
    }
}

/// The top directory of the work tree that contains `dir`.
fn top_of(dir: &Path) -> Option<PathBuf> {
    let top = dir.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok());
    top.map(Path::to_owned)
}

/// Answers from the work trees that were `listed`, and lists further ones.
fn uncommitted(files: &[PathBuf], mut listed: UncommittedFiles) -> Answer {
    let mut trees: BTreeMap<PathBuf, BTreeSet<&Path>> = BTreeMap::new();
    let mut known: BTreeMap<&Path, Option<PathBuf>> = BTreeMap::new();
    for file in files {
        let Some(dir) = file.parent() else { continue };
        let top = known.entry(dir).or_insert_with(|| top_of(dir));
        if let Some(top) = top {
            trees.entry(top.clone()).or_default().insert(file);
        }
    }
    let mut answer = Answer::default();
    for (top, files) in trees {
        match listed.remove(&top).unwrap_or_else(|| changed(&top)) {
            Ok(changed) => {
                let dirty = changed.into_iter().filter(|path| files.contains(path.as_path()));
                answer.uncommitted.extend(dirty);
            }
            Err(why) => answer.trouble = answer.trouble.or(Some((top, why))),
        }
    }
    answer
}

/// The tracked files below `top` that differ from the last commit.
fn changed(top: &Path) -> Result<Vec<PathBuf>, Text> {
    changed_by(&find_git(top).ok_or_else(|| faults::GitMissing.value())?, top, LIMIT)
}

/// Like [`changed`], with the git at this path.
fn changed_by(git: &Path, top: &Path, limit: Duration) -> Result<Vec<PathBuf>, Text> {
    let copy = Copy::of(top, git)?;
    let arguments = [
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=no",
        "--ignore-submodules=all",
    ];
    let program = copy.command(git, top).args(arguments).limit(limit).max_output(MAX_OUTPUT);
    let output = output_of(&program, "status", limit, |words| copy.name_original(words, top))?;
    // Each entry is two letters, a blank and the path.
    Ok(output
        .split(|&byte| byte == 0)
        .filter_map(|entry| entry.get(3..))
        .map(|path| top.join(OsStr::from_bytes(path)))
        .collect())
}

/// Runs git and returns its output. `name` is the subcommand, and `explain` rewrites its errors.
fn output_of(
    program: &Program,
    name: &str,
    limit: Duration,
    explain: impl Fn(&str) -> String,
) -> Result<Vec<u8>, Text> {
    let ended = program.run().map_err(|error| error.value())?;
    let Some(status) = ended.status else {
        return Err(faults::GitSlow { command: name, seconds: limit.as_secs() }.value());
    };
    if status.success() && !ended.cut {
        return Ok(ended.output);
    }
    let words = String::from_utf8_lossy(&ended.errors);
    let words =
        words.lines().rfind(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let words =
        words.map(|line| format!(" ({})", explain(line).chars().take(200).collect::<String>()));
    let status = quote(&format!("{status}{}", words.unwrap_or_default()));
    Err(faults::GitEnded { command: name, status }.value())
}

/// The git of the machine: never one inside the tree, nor in a directory of the `PATH` that is
/// relative to the working directory.
fn find_git(top: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .filter_map(|dir| dir.join("git").canonicalize().ok())
        .find(|git| git.is_file() && !git.starts_with(top))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod traps;
