//! Which files have changes that git does not have: those are not overwritten unasked.
//!
//! The answer is that of `git status`: only git knows its index, its line ends and its filters
//! in all their versions, and a second reader of them would be another source of wrong answers
//! (and some megabytes of program). The repository may be somebody else's, so nothing that its
//! configuration names is run: hooks, file system monitors and filters are switched off, lazy
//! fetches and every protocol refused. What is not tracked has no safety in git: its safety,
//! as that of trees without git, is the journal.
#![expect(
    clippy::disallowed_methods,
    reason = "asks git about the tree that is converted; no machine is examined"
)]

use base::text::Text;
use data::fault::{Value as _, quote};
use data::faults;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

/// As much output of git as is read, in bytes.
const MAX_OUTPUT: u64 = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// The same of what it complains about.
const MAX_WORDS: u64 = 16 << 10;

/// What git says about some files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Those with changes that are not committed.
    pub uncommitted: Vec<PathBuf>,
    /// A work tree of which it is not known, and why, if there is one.
    pub trouble: Option<(PathBuf, Text)>,
}

/// Uncommitted files of whole work trees, by their top directory.
type UncommittedFiles = BTreeMap<PathBuf, Result<Vec<PathBuf>, Text>>;

/// A question to git that is asked while something else is done.
#[derive(Debug)]
pub struct Question(Option<JoinHandle<UncommittedFiles>>);

impl Question {
    /// Asks about the work trees in which `dirs` lie; they must be absolute and free of symbolic
    /// links.
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

    /// What git says about `files`, which must be absolute and free of symbolic links. Whoever
    /// has no files to ask about does not wait.
    pub fn uncommitted(self, files: &[PathBuf]) -> Answer {
        if files.is_empty() {
            return Answer::default();
        }
        let said = self.0.and_then(|asked| asked.join().ok()).unwrap_or_default();
        uncommitted(files, said)
    }
}

/// The top directory of the work tree that `dir` lies in.
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
    let git = &find_git(top).ok_or_else(|| faults::GitMissing.value())?;
    let filters = run(
        git,
        top,
        &[],
        &["config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$"],
    );
    let filters = match filters {
        Err(GitRefusal { code: Some(NONE), .. }) => Vec::new(),
        // Filters that are not known cannot be switched off, and `status` would run them.
        other => other?,
    };
    let mut settings: Vec<OsString> = Vec::new();
    for name in filters.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        if name.contains(&b'=') {
            // It could not be switched off by `-c`.
            return Err(faults::GitOddFilter.value());
        }
        let end = name.iter().rposition(|&byte| byte == b'.').unwrap_or(name.len());
        for (name, value) in [(name, "="), (&name[..end], ".required=false")] {
            let mut setting = OsStr::from_bytes(name).to_owned();
            setting.push(value);
            settings.push(setting);
        }
    }
    let output = run(
        git,
        top,
        &settings,
        &[
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=no",
            "--ignore-submodules=all",
        ],
    )?;
    // Each entry is two letters, a blank and the path.
    Ok(output
        .split(|&byte| byte == 0)
        .filter_map(|entry| entry.get(3..))
        .map(|path| top.join(OsStr::from_bytes(path)))
        .collect())
}

/// The status of `git config` where nothing is of that name.
const NONE: i32 = 1;

/// How git ended that gave no answer.
#[derive(Debug)]
struct GitRefusal {
    code: Option<i32>,
    why: Text,
}

impl From<GitRefusal> for Text {
    fn from(refused: GitRefusal) -> Self {
        refused.why
    }
}

impl From<std::io::Error> for GitRefusal {
    fn from(error: std::io::Error) -> Self {
        Self { code: None, why: error.value() }
    }
}

fn run(
    git: &Path,
    top: &Path,
    settings: &[OsString],
    args: &[&str],
) -> Result<Vec<u8>, GitRefusal> {
    let mut command = Command::new(git);
    command.env_clear();
    for name in ["HOME", "XDG_CONFIG_HOME", "PATH"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .arg("-C")
        .arg(top);
    // A tree that belongs to another user (a container, a mounted directory) is only looked at.
    for setting in [
        "safe.directory=*",
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "core.untrackedCache=false",
        "core.sshCommand=false",
        "status.submoduleSummary=false",
        "protocol.allow=never",
    ] {
        command.arg("-c").arg(setting);
    }
    for setting in settings {
        command.arg("-c").arg(setting);
    }
    let mut child = command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (mut output, mut words) = (Vec::new(), Vec::new());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let read = std::thread::scope(|threads| {
        // Both at once: who writes to a pipe that nobody empties waits.
        let words = &mut words;
        threads.spawn(move || err.map(|pipe| pipe.take(MAX_WORDS).read_to_end(words)));
        out.map_or(Ok(0), |pipe| pipe.take(MAX_OUTPUT).read_to_end(&mut output))
    });
    let status = child.wait()?;
    read?;
    if status.success() {
        return Ok(output);
    }
    let words = String::from_utf8_lossy(&words);
    let words =
        words.lines().rfind(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let words = words.map(|line| format!(" ({})", line.chars().take(200).collect::<String>()));
    let name = args.first().unwrap_or(&"");
    let status_text = quote(&format!("{status}{}", words.unwrap_or_default()));
    let why = faults::GitEnded { command: name, status: status_text }.value();
    Err(GitRefusal { code: status.code(), why })
}

/// The git of the machine: never one that lies in the tree, nor in a directory of the `PATH`
/// that depends on where we are.
fn find_git(top: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute() && !dir.starts_with(top))
        .map(|dir| dir.join("git"))
        .find(|git| git.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with `a.py` and `b.py` committed.
    fn repository() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        assert!(find_git(&top).is_some(), "git is not installed");
        std::fs::write(top.join("a.py"), "1\n").unwrap();
        std::fs::write(top.join("b.py"), "2\n").unwrap();
        git(&top, &["init", "-q"]);
        git(&top, &["add", "."]);
        git(&top, &["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "m"]);
        (dir, top)
    }

    fn asked(files: &[PathBuf]) -> Answer {
        let dirs: Vec<PathBuf> =
            files.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
        let answer = Question::ask(&dirs).uncommitted(files);
        // It is the same if git has to be asked later.
        assert_eq!(Question::ask(&[]).uncommitted(files), answer);
        answer
    }

    fn git(top: &Path, args: &[&str]) {
        let status = Command::new("git").arg("-C").arg(top).args(args).status().unwrap();
        assert!(status.success(), "{args:?}");
    }

    #[test]
    fn reports_uncommitted_changes() {
        let (_dir, top) = repository();
        let files = ["a.py", "b.py", "new.py"].map(|name| top.join(name));
        assert_eq!(asked(&files), Answer::default());
        std::fs::write(top.join("a.py"), "mine\n").unwrap();
        std::fs::write(top.join("new.py"), "cuda\n").unwrap();
        assert_eq!(asked(&files).uncommitted, [top.join("a.py")]);
        // Staged is not committed.
        git(&top, &["add", "a.py"]);
        assert_eq!(asked(&files).uncommitted, [top.join("a.py")]);
        assert_eq!(asked(&files[1..]), Answer::default());
        // What git cannot say is not known, and its words say why.
        std::fs::write(top.join(".git/index"), "no index").unwrap();
        let (unknown, why) = asked(&files).trouble.unwrap();
        assert!(unknown == top && why.en.contains("fatal:"), "{why:?}");
    }

    /// With more filters than are read, none is switched off, and none runs.
    #[test]
    fn filters_that_cannot_be_listed_run_nothing() {
        let (_dir, top) = repository();
        let proof = top.join("proof");
        std::fs::write(top.join(".gitattributes"), "*.py filter=evil\n").unwrap();
        let mut config = std::fs::read_to_string(top.join(".git/config")).unwrap();
        config += &format!("[filter \"evil\"]\n\tclean = \"touch '{}'; cat\"\n", proof.display());
        for number in 0..1_200 {
            config += &format!("[filter \"{number}{}\"]\n\tclean = cat\n", "x".repeat(1_000));
        }
        std::fs::write(top.join(".git/config"), config).unwrap();
        std::fs::write(top.join("a.py"), "mine\n").unwrap();
        let answer = Question::ask(&[]).uncommitted(&[top.join("a.py")]);
        assert!(answer.trouble.is_some() && !proof.exists(), "{answer:?}");
    }

    /// Nothing that the configuration of the repository names is run.
    #[test]
    fn a_hostile_repository_runs_nothing() {
        let (_dir, top) = repository();
        let proof = top.join("proof");
        let run = format!("touch '{}'; cat", proof.display());
        std::fs::write(top.join(".gitattributes"), "*.py filter=evil diff=evil\n").unwrap();
        for name in
            ["core.fsmonitor", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv"]
        {
            git(&top, &["config", name, &run]);
        }
        git(&top, &["config", "filter.evil.required", "true"]);
        git(&top, &["config", "core.hooksPath", "hooks"]);
        std::fs::create_dir(top.join("hooks")).unwrap();
        std::fs::write(top.join("a.py"), "3\n").unwrap();
        let answer = asked(&[top.join("a.py")]);
        assert!(!proof.exists(), "a program of the repository ran");
        assert_eq!(answer.uncommitted, [top.join("a.py")]);
    }
}
