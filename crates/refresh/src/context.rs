//! The sources of one refresh, opened on first use, and their commits.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, Result, ensure};
use pep440_rs::Version;
use regex::Regex;

use crate::manifest::{Kind, Manifest, Source};
use crate::package::Packages;
use crate::repository::{Repository, Tree};

/// CANN release branches, such as `9.1.0` and `9.2.0-beta.2`.
const RELEASE: &str = r"^\d+\.\d+\.\d+(-beta\.\d+)?$";

/// Locations of the sources.
#[derive(Debug)]
pub(crate) struct Places {
    /// Directory with local clones.
    pub(crate) repos: Option<PathBuf>,
    /// Directory for downloads.
    pub(crate) cache: PathBuf,
    /// Read nothing from the network.
    pub(crate) offline: bool,
    /// Read the commits that the manifest records instead of the newest ones.
    pub(crate) pinned: bool,
    /// Address that `OWNER/NAME` is appended to.
    pub(crate) git_base: String,
}

/// The input of the extractors.
pub(crate) struct Context {
    pub(crate) manifest: Manifest,
    /// Directory of the tables.
    pub(crate) data: PathBuf,
    /// The package index.
    pub(crate) packages: Packages,
    places: Places,
    repositories: BTreeMap<String, OnceLock<Repository>>,
    read: Mutex<BTreeMap<String, Revision>>,
    shared: Mutex<BTreeMap<&'static str, Arc<dyn Any + Send + Sync>>>,
}

/// The commits that were read of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Revision {
    /// Commit and day of the default branch.
    pub(crate) commit: Option<(String, String)>,
    /// Commits of release branches.
    pub(crate) refs: BTreeMap<String, String>,
}

impl Context {
    /// Creates a context. Sources are opened on first use.
    pub(crate) fn new(manifest: Manifest, data: &Path, places: Places, packages: Packages) -> Self {
        let ids = manifest.sources.iter().filter(|source| source.kind == Kind::Repository);
        let repositories = ids.map(|source| (source.id.clone(), OnceLock::new())).collect();
        let (read, shared) = (Mutex::default(), Mutex::default());
        Self { manifest, data: data.to_owned(), packages, places, repositories, read, shared }
    }

    /// Returns a repository by the ID of its source.
    pub(crate) fn repository(&self, id: &str) -> Result<&Repository> {
        let slot =
            self.repositories.get(id).with_context(|| format!("`{id}` is not a repository"))?;
        if let Some(repository) = slot.get() {
            return Ok(repository);
        }
        let source = self.manifest.source(id)?;
        let opened = self.open(source).with_context(|| format!("source `{id}`"))?;
        Ok(slot.get_or_init(|| opened))
    }

    fn open(&self, source: &Source) -> Result<Repository> {
        let name = &source.name;
        let local = self.places.repos.as_ref().and_then(|repos| Repository::locate(repos, name));
        if let Some(dir) = local {
            return Repository::open(&dir, name);
        }
        let dir = self.places.cache.join("repos").join(name.replace('/', "+"));
        if !self.places.offline {
            let url = format!("{}/{name}", self.places.git_base.trim_end_matches('/'));
            clone(&url, &dir)?;
        }
        ensure!(dir.exists(), "no clone of {name} in --repos or in the cache");
        let repository = Repository::open(&dir, name)?;
        Ok(if self.places.offline { repository } else { repository.online() })
    }

    /// Returns the default branch of a repository.
    pub(crate) fn tree(&self, id: &str) -> Result<Tree<'_>> {
        let source = self.manifest.source(id)?;
        let repository = self.repository(id)?;
        let revision = match &source.commit {
            Some(commit) if self.places.pinned => commit,
            _ => "HEAD",
        };
        let tree = repository.tree("master", revision)?;
        let day = repository.day(&tree.commit)?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(id.to_owned()).or_default().commit = Some((tree.commit.clone(), day));
        Ok(tree)
    }

    /// Returns the release branches of a repository, oldest first, and then its default branch.
    pub(crate) fn releases(&self, id: &str) -> Result<Vec<Tree<'_>>> {
        let source = self.manifest.source(id)?;
        let repository = self.repository(id)?;
        let mut refs: Vec<(String, String)> = if self.places.pinned {
            source.refs.clone().into_iter().collect()
        } else {
            repository.refs(&Regex::new(RELEASE)?)?
        };
        refs.sort_by_key(|(name, _)| release_version(name));
        let trees: Result<Vec<Tree<'_>>> =
            refs.iter().map(|(name, commit)| repository.tree(name, commit)).collect();
        let mut trees = trees?;
        trees.push(self.tree(id)?);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(id.to_owned()).or_default().refs = refs.into_iter().collect();
        Ok(trees)
    }

    /// Returns whether the recorded versions are read instead of the newest ones.
    pub(crate) fn pinned(&self) -> bool {
        self.places.pinned
    }

    /// Returns the branches of a repository that match a pattern, with their commits. If pinned,
    /// returns the recorded ones.
    pub(crate) fn branches(&self, id: &str, pattern: &str) -> Result<Vec<(String, String)>> {
        let pattern = Regex::new(pattern)?;
        if self.places.pinned {
            let recorded = &self.manifest.source(id)?.refs;
            let wanted = recorded.iter().filter(|(name, _)| pattern.is_match(name));
            return Ok(wanted.map(|(name, commit)| (name.clone(), commit.clone())).collect());
        }
        self.repository(id)?.refs(&pattern)
    }

    /// Returns a branch that [`Context::branches`] listed, and records its commit.
    pub(crate) fn branch(&self, id: &str, name: &str, commit: &str) -> Result<Tree<'_>> {
        let tree = self.repository(id)?.tree(name, commit)?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = read.entry(id.to_owned()).or_default();
        if revision.refs.is_empty() {
            // A refresh of some tables keeps the recorded branches of others.
            revision.refs.clone_from(&self.manifest.source(id)?.refs);
        }
        revision.refs.insert(name.to_owned(), tree.commit.clone());
        Ok(tree)
    }

    /// Returns a value that several tables need, computed once.
    pub(crate) fn shared<T: Any + Send + Sync>(
        &self,
        name: &'static str,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let known = self.shared.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(name, made.clone());
        Ok(made)
    }

    /// Returns the commits that were read so far, by source.
    pub(crate) fn revisions(&self) -> BTreeMap<String, Revision> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the text of a file below `data/`, if it exists.
    pub(crate) fn own(&self, file: &str) -> Result<Option<String>> {
        let path = self.data.join(file);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        }
    }
}

/// Parses a release so that `9.2.0-beta.2` sorts before `9.2.0`.
pub(crate) fn release_version(name: &str) -> Option<Version> {
    name.replace("-beta.", "b").parse().ok()
}

/// Clones a repository without its blobs, which git fetches on demand, or updates the clone.
fn clone(url: &str, dir: &Path) -> Result<()> {
    let mut git = Command::new("git");
    git.env("GIT_TERMINAL_PROMPT", "0").args(["-c", "protocol.ext.allow=never"]);
    if dir.exists() {
        git.arg("--git-dir")
            .arg(dir)
            .args(["fetch", "--quiet", "--prune", "--tags", "--force", "origin"]);
        git.arg("+refs/heads/*:refs/heads/*");
    } else {
        std::fs::create_dir_all(dir.parent().unwrap_or(dir))?;
        git.args(["clone", "--quiet", "--bare", "--filter=blob:none", "--", url]).arg(dir);
    }
    let output = git.output().context("cannot start git")?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cannot read {url}: {}", error.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::tests::repository;

    #[test]
    fn releases_are_ordered_by_version() {
        let mut names = ["9.1.0", "9.2.0-beta.10", "9.2.0-beta.2", "9.2.0", "8.5.0"];
        names.sort_by_key(|name| release_version(name));
        assert_eq!(names, ["8.5.0", "9.1.0", "9.2.0-beta.2", "9.2.0-beta.10", "9.2.0"]);
    }

    /// A Git server on this machine for the repositories below a directory.
    struct Server {
        process: std::process::Child,
        url: String,
        log: tempfile::NamedTempFile,
    }

    impl Server {
        fn start(dir: &Path) -> Self {
            let port =
                std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            // `git daemon` is not used, because its child process would outlive it.
            let home = Command::new("git").arg("--exec-path").output().unwrap().stdout;
            let home = PathBuf::from(String::from_utf8(home).unwrap().trim());
            let log = tempfile::NamedTempFile::new().unwrap();
            let process = Command::new(home.join("git-daemon"))
                .args(["--listen=127.0.0.1", "--reuseaddr", "--export-all", "--verbose"])
                .arg(format!("--port={port}"))
                .arg(format!("--base-path={}", dir.display()))
                .arg(dir)
                .stdout(std::process::Stdio::null())
                .stderr(log.reopen().unwrap())
                .spawn()
                .unwrap();
            let ready = (0..200).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
            });
            assert!(ready, "git daemon does not answer");
            Self { process, url: format!("git://127.0.0.1:{port}"), log }
        }

        fn requests(&self) -> usize {
            let log = std::fs::read_to_string(self.log.path()).unwrap();
            log.lines().filter(|line| line.contains("Request upload-pack")).count()
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    #[test]
    #[ignore = "needs git-daemon, which some systems package apart from git"]
    fn repositories_are_cloned_and_updated_from_a_server() {
        let names: Vec<String> = (0..40).map(|number| format!("src/{number}.cpp")).collect();
        let contents: Vec<String> = names.iter().map(|name| format!("// {name}\n")).collect();
        let mut files: Vec<(&str, &[u8])> = vec![("a.h", b"#define A 1\n")];
        files.extend(names.iter().zip(&contents).map(|(name, text)| (&**name, text.as_bytes())));
        let (origin, first) = repository(&files);
        for setting in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
            first.git(&["config", setting, "true"]).unwrap();
        }
        let old = first.resolve("HEAD").unwrap();
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("o")).unwrap();
        std::os::unix::fs::symlink(origin.path(), home.path().join("o/a")).unwrap();
        let server = Server::start(home.path());
        let cache = tempfile::tempdir().unwrap();
        let context = |offline: bool, pinned: bool| {
            let text = format!(
                "schema = 1\nas_of = \"2026-01-01\"\ntable = []\n[[source]]\nid = \"a\"\nkind = \"repository\"\n\
                 name = \"o/a\"\nlicense = \"MIT\"\nrule = \"facts\"\ncommit = \"{old}\"\ndate = \"2026-01-01\"\nwhy = \"x\"\n"
            );
            let places = Places {
                repos: None,
                cache: cache.path().to_owned(),
                offline,
                pinned,
                git_base: server.url.clone(),
            };
            let packages = Packages::new(cache.path(), offline, None);
            Context::new(Manifest::parse(&text).unwrap(), cache.path(), places, packages)
        };
        assert!(context(true, false).tree("a").unwrap_err().to_string().contains("source `a`"));
        assert_eq!(context(false, false).tree("a").unwrap().text("a.h").unwrap(), "#define A 1\n");
        // The wanted files are fetched in one request, regardless of their number.
        let many = context(false, false);
        let tree = many.tree("a").unwrap();
        let before = server.requests();
        let found = tree.find(r"\.cpp$").unwrap();
        assert_eq!(found.len(), 40);
        for path in found {
            assert_eq!(tree.text(path).unwrap(), format!("// {path}\n"));
        }
        assert_eq!(server.requests(), before + 1);
        // Existing files are not requested again.
        assert_eq!(tree.find(r"\.cpp$").unwrap().len(), 40);
        assert_eq!(server.requests(), before + 1);
        // The newest commit is read; pinned, the recorded one; offline, the stored one.
        std::fs::write(origin.path().join("a.h"), "#define A 2\n").unwrap();
        let commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-am", "y"];
        assert!(Command::new("git").current_dir(&origin).args(commit).status().unwrap().success());
        assert_eq!(context(true, false).tree("a").unwrap().text("a.h").unwrap(), "#define A 1\n");
        let newest = context(false, false);
        assert_eq!(newest.tree("a").unwrap().text("a.h").unwrap(), "#define A 2\n");
        assert_ne!(newest.revisions()["a"].commit.as_ref().unwrap().0, old);
        assert_eq!(context(false, true).tree("a").unwrap().text("a.h").unwrap(), "#define A 1\n");
        drop(server);
    }
}
