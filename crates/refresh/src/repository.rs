//! Files of a Git repository at a commit, read without a work tree.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, Result, bail, ensure};
use regex::Regex;

/// The maximum size of a file. The largest source today has 5 MB.
const MAX_FILE: u64 = 64 << 20;

/// A local clone, bare or with a work tree.
#[derive(Debug)]
pub(crate) struct Repository {
    git_dir: PathBuf,
    name: String,
    reader: Mutex<Option<Reader>>,
    /// Whether files may be fetched.
    online: bool,
    /// Whether the clone was made without blobs.
    partial: OnceLock<bool>,
}

/// `git cat-file --batch`, started on first use.
#[derive(Debug)]
struct Reader {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The files of one commit.
#[derive(Debug)]
pub(crate) struct Tree<'r> {
    repository: &'r Repository,
    /// Branch, tag or version of the commit, such as `9.1.0`.
    pub(crate) label: String,
    /// Full hash.
    pub(crate) commit: String,
    files: OnceLock<Vec<String>>,
}

impl Repository {
    /// Opens a clone of the repository `name` (`OWNER/NAME`).
    pub(crate) fn open(dir: &Path, name: &str) -> Result<Self> {
        let git_dir = if dir.join(".git").exists() { dir.join(".git") } else { dir.to_owned() };
        ensure!(git_dir.join("HEAD").is_file(), "`{}` is not a Git repository", dir.display());
        let (name, reader, partial) = (name.to_owned(), Mutex::new(None), OnceLock::new());
        Ok(Self { git_dir, name, reader, online: false, partial })
    }

    /// Returns the clone with permission to fetch missing files.
    pub(crate) fn online(self) -> Self {
        Self { online: true, ..self }
    }

    /// Returns whether the clone was made without blobs and can fetch them.
    pub(crate) fn lacks_blobs(&self) -> Result<bool> {
        if !self.online {
            return Ok(false);
        }
        if let Some(partial) = self.partial.get() {
            return Ok(*partial);
        }
        let names = self.git(&["config", "--list", "--name-only"])?;
        let partial = names.lines().any(|name| name == "remote.origin.promisor");
        Ok(*self.partial.get_or_init(|| partial))
    }

    /// Returns `OWNER/NAME`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the directory of a clone of `name` below `repos`, in one of the usual layouts.
    pub(crate) fn locate(repos: &Path, name: &str) -> Option<PathBuf> {
        let joined = name.replace('/', "+");
        let candidates = [
            format!("{joined}/repo"),
            joined.clone(),
            format!("{joined}.git"),
            name.to_owned(),
            format!("{name}.git"),
        ];
        let is_repository = |dir: &PathBuf| dir.join("HEAD").is_file() || dir.join(".git").exists();
        candidates.into_iter().map(|path| repos.join(path)).find(is_repository)
    }

    /// Returns the commit of a revision.
    pub(crate) fn resolve(&self, revision: &str) -> Result<String> {
        let name = &self.name;
        let revision = format!("{revision}^{{commit}}");
        self.git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &revision])
            .map(|hash| hash.trim().to_owned())
            .with_context(|| format!("{name} has no commit `{revision}`"))
    }

    /// Returns the day of a commit, `YYYY-MM-DD`.
    pub(crate) fn day(&self, commit: &str) -> Result<String> {
        Ok(self.git(&["show", "--no-patch", "--format=%cs", commit])?.trim().to_owned())
    }

    /// Returns names and commits of the branches and tags that match `wanted`.
    pub(crate) fn refs(&self, wanted: &Regex) -> Result<Vec<(String, String)>> {
        // `*objectname` is the commit of an annotated tag.
        let format = "--format=%(objectname) %(*objectname) %(refname)";
        let lines =
            self.git(&["for-each-ref", format, "refs/heads", "refs/remotes", "refs/tags"])?;
        let mut found = Vec::new();
        for line in lines.lines() {
            let mut parts = line.splitn(3, ' ');
            let (Some(object), Some(peeled), Some(name)) =
                (parts.next(), parts.next(), parts.next())
            else {
                bail!("{}: unexpected line of git for-each-ref: {line}", self.name)
            };
            let short = ["refs/heads/", "refs/tags/", "refs/remotes/origin/"]
                .into_iter()
                .find_map(|prefix| name.strip_prefix(prefix));
            if let Some(short) = short.filter(|short| wanted.is_match(short)) {
                let commit = if peeled.is_empty() { object } else { peeled };
                found.push((short.to_owned(), commit.to_owned()));
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Returns the files at a revision.
    pub(crate) fn tree(&self, label: &str, revision: &str) -> Result<Tree<'_>> {
        let commit = self.resolve(revision)?;
        Ok(Tree { repository: self, label: label.to_owned(), commit, files: OnceLock::new() })
    }

    /// Runs git on this repository and returns its output. Only commands that execute no code of
    /// the repository are used, so its hooks, filters and drivers never run.
    pub(crate) fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = self
            .command()
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .context("cannot start git")?;
        let verb = arguments.first().copied().unwrap_or_default();
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            bail!("{}: git {verb}: {}", self.name, error.trim());
        }
        String::from_utf8(output.stdout).with_context(|| format!("{}: git {verb}", self.name))
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(&self.git_dir);
        command.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
        command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        command
    }

    /// Returns the content of an object, or `None` if the clone does not have it.
    fn read_object(&self, object: &str) -> Result<Option<Vec<u8>>> {
        ensure!(!object.contains('\n'), "a file name has a line break: {object:?}");
        let mut guard = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = match &mut *guard {
            Some(reader) => reader,
            empty => empty.insert(self.start_reader()?),
        };
        writeln!(reader.input, "{object}")?;
        reader.input.flush()?;
        let mut head = String::new();
        reader.output.read_line(&mut head)?;
        let mut words = head.trim_end().rsplit(' ');
        let (size, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if size == "missing" {
            return Ok(None);
        }
        let size: u64 =
            size.parse().with_context(|| format!("git cat-file wrote `{}`", head.trim()))?;
        if kind != "blob" || size > MAX_FILE {
            let (kind, name) = (kind.to_owned(), &self.name);
            // The content is still in the pipe, so the next file needs a new process.
            *guard = None;
            ensure!(kind == "blob", "{name}: {object} is a {kind}, not a file");
            bail!("{name}: {object} exceeds the limit of {MAX_FILE} bytes");
        }
        let mut content = vec![0; usize::try_from(size)? + 1];
        reader.output.read_exact(&mut content)?;
        content.pop();
        Ok(Some(content))
    }

    fn start_reader(&self) -> Result<Reader> {
        let mut child = self
            .command()
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start git")?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("git has no pipes")
        };
        Ok(Reader { child, input, output: BufReader::new(output) })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // The process ends when its input closes. Killing it only saves the wait.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tree<'_> {
    /// Returns `OWNER/NAME@COMMIT`, with a hash of 12 digits.
    pub(crate) fn origin(&self) -> String {
        format!("{}@{}", self.repository.name, &self.commit[..12])
    }

    /// Returns `OWNER/NAME@COMMIT:PATH`.
    pub(crate) fn place(&self, path: &str) -> String {
        format!("{}:{path}", self.origin())
    }

    /// Returns the content of a file.
    pub(crate) fn bytes(&self, path: &str) -> Result<Vec<u8>> {
        let content = self.repository.read_object(&format!("{}:{path}", self.commit))?;
        content.with_context(|| format!("{} is missing ({})", self.place(path), self.label))
    }

    /// Returns the text of a file, with `\n` as line ends.
    pub(crate) fn text(&self, path: &str) -> Result<String> {
        let text = String::from_utf8(self.bytes(path)?)
            .with_context(|| format!("{} is not valid UTF-8", self.place(path)))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Ok(text.replace("\r\n", "\n"))
    }

    /// Returns whether the commit has this file.
    pub(crate) fn has(&self, path: &str) -> Result<bool> {
        Ok(self.files()?.binary_search_by(|file| file.as_str().cmp(path)).is_ok())
    }

    /// Returns the paths of all files, sorted.
    pub(crate) fn files(&self) -> Result<&[String]> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        // Without `-z`, git quotes Chinese names.
        let list = self.repository.git(&[
            "ls-tree",
            "-r",
            "-z",
            "--name-only",
            "--full-tree",
            &self.commit,
        ])?;
        let mut files: Vec<String> =
            list.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
        files.sort();
        Ok(self.files.get_or_init(|| files))
    }

    /// Returns the paths that match a pattern, sorted. At least one must match, because an upstream
    /// rename must not empty a table.
    pub(crate) fn find(&self, pattern: &str) -> Result<Vec<&str>> {
        self.find_except(pattern, None)
    }

    /// Returns the paths of [`Tree::find`] that do not match another pattern.
    pub(crate) fn find_except(&self, pattern: &str, except: Option<&str>) -> Result<Vec<&str>> {
        let wanted = Regex::new(pattern)?;
        let except = except.map(Regex::new).transpose()?;
        let excluded = |path: &str| except.as_ref().is_some_and(|except| except.is_match(path));
        let files = self.files()?.iter().map(String::as_str);
        let found: Vec<&str> =
            files.filter(|path| wanted.is_match(path) && !excluded(path)).collect();
        ensure!(
            !found.is_empty(),
            "{} ({}) has no file like `{pattern}`",
            self.origin(),
            self.label
        );
        // The caller reads the files that it finds, so they are fetched together.
        let paths: Vec<(&str, &str)> =
            found.iter().map(|path| (self.commit.as_str(), *path)).collect();
        self.repository.prefetch(&paths)?;
        Ok(found)
    }

    /// Returns the commit of a submodule at `path`.
    pub(crate) fn submodule(&self, path: &str) -> Result<String> {
        let line =
            self.repository.git(&["ls-tree", "-z", "--full-tree", &self.commit, "--", path])?;
        let mut words = line.split([' ', '\t']);
        let commit = (words.next() == Some("160000")).then(|| words.nth(1)).flatten();
        commit
            .map(str::to_owned)
            .with_context(|| format!("{} is not a submodule", self.place(path)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates a repository with one commit that has these files.
    pub(crate) fn repository(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Repository) {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        for arguments in [
            &["init", "--quiet", "--initial-branch=master"][..],
            &["add", "--all"],
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "-c",
                "commit.gpgsign=false",
                "commit",
                "--quiet",
                "-m",
                "x",
            ],
        ] {
            let done = Command::new("git").current_dir(&dir).args(arguments).status().unwrap();
            assert!(done.success(), "{arguments:?}");
        }
        let repository = Repository::open(dir.path(), "owner/name").unwrap();
        (dir, repository)
    }

    #[test]
    fn files_of_a_commit_are_read() {
        let (_dir, repository) = repository(&[
            ("a b.h", b"\xef\xbb\xbfx\r\ny\r\n"),
            ("文档/码.md", b"z\n"),
            ("bad", b"\xff"),
        ]);
        let tree = repository.tree("master", "HEAD").unwrap();
        assert_eq!(tree.text("a b.h").unwrap(), "x\ny\n");
        assert_eq!(tree.find(r"\.md$").unwrap(), ["文档/码.md"]);
        assert_eq!(tree.text("文档/码.md").unwrap(), "z\n");
        assert!(tree.has("bad").unwrap() && !tree.has("ba").unwrap());
        assert!(tree.place("a").starts_with("owner/name@"));
    }

    #[test]
    fn missing_and_unreadable_files_are_errors() {
        let (_dir, repository) = repository(&[("bad", b"\xff"), ("d/x", b"")]);
        let tree = repository.tree("master", "HEAD").unwrap();
        let error = |result: Result<String>| format!("{:#}", result.unwrap_err());
        assert!(error(tree.text("none")).contains("is missing"));
        assert!(error(tree.text("bad")).contains("UTF-8"));
        assert!(error(tree.text("d")).contains("not a file"));
        // The reader continues after an error.
        assert_eq!(tree.text("d/x").unwrap(), "");
        assert!(tree.find("zzz").is_err());
        assert!(repository.tree("x", "0000000000000000000000000000000000000000").is_err());
        assert!(Repository::open(Path::new("/nonexistent"), "a/b").is_err());
    }
}
