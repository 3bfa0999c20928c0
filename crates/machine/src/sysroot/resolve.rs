//! Resolves paths of the examined root from one open directory to the next.
//!
//! Absolute link targets start at the root and `..` stops at it. Each directory is opened by its
//! name in its parent, never through a link, and files are named by directory and last component.
//! So the kernel cannot be led out of the root, even if a directory is replaced by a link during
//! the scan.

use std::collections::{BTreeSet, HashMap};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::ReadError;
use super::stat::kind_of_type;
use facts::FileKind;

/// The number of links that the kernel follows before it returns `ELOOP`.
const MAX_LINKS: usize = 40;
/// Maximum length of a path in bytes, as in the kernel (`PATH_MAX`).
const MAX_PATH: usize = 4096;
/// Maximum number of directories that are kept open, and their share of the limit of open files.
const MAX_OPEN: usize = 1024;
const OPEN_SHARE: u64 = 4;
/// Number of bytes of names that are read from a directory at a time.
const LIST_CHUNK: usize = 32 << 10;

/// An open directory of the root.
#[derive(Debug)]
pub(super) struct Directory {
    fd: OwnedFd,
    /// Logical path without links.
    real: String,
    /// `None` at the root.
    parent: Option<Arc<Self>>,
}

/// An existing entry: its name in an open directory, and its status.
#[derive(Debug)]
pub(super) struct LocatedFile {
    directory: Arc<Directory>,
    /// `.` for the directory itself.
    name: String,
    /// Logical path without links in any component, except for the last one if links are not
    /// followed.
    pub(super) real: String,
    /// Status.
    pub(super) stat: rustix::fs::Stat,
}

/// The result of a lookup of a directory, and the number of links on the way.
#[derive(Debug, Clone)]
struct DirectoryLookup {
    directory: Result<Arc<Directory>, ReadError>,
    links: usize,
}

/// Resolves logical paths (absolute, with `/`), never leaving the root. Directories stay open,
/// because the same few hundred contain all the thousands of files.
#[derive(Debug)]
pub(super) struct Resolver {
    root: Result<Arc<Directory>, ReadError>,
    known: RwLock<HashMap<String, DirectoryLookup>>,
    limit: usize,
    links: Mutex<BTreeSet<String>>,
}

impl Resolver {
    /// Opens the directory `root` of this host; if that fails, every path fails with the same
    /// error.
    pub(super) fn new(root: &Path) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(root, flags, Mode::empty())
            .map(|fd| Arc::new(Directory { fd, real: "/".to_owned(), parent: None }))
            .map_err(ReadError::from);
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let share = files.and_then(|files| usize::try_from(files / OPEN_SHARE).ok());
        let limit = share.unwrap_or(MAX_OPEN).clamp(8, MAX_OPEN);
        Self { root, known: RwLock::default(), limit, links: Mutex::default() }
    }

    /// Maximum number of directories that are kept open.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Finds `path`. If the last component is a link, it is followed or found itself.
    pub(super) fn find(&self, path: &str, follow: bool) -> Result<LocatedFile, ReadError> {
        let (parent, name) = split(path);
        let (mut directory, mut links) = self.directory_at(parent)?;
        let mut name = name.to_owned();
        loop {
            if is_special(&name) {
                let directory = self.walk(directory, &name, &mut links)?;
                let stat = rustix::fs::fstat(&directory.fd)?;
                let real = directory.real.clone();
                return Ok(LocatedFile { directory, name: ".".to_owned(), real, stat });
            }
            let stat = rustix::fs::statat(&directory.fd, name.as_str(), AtFlags::SYMLINK_NOFOLLOW)?;
            if !follow || FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
                let real = join(&directory.real, &name);
                return Ok(LocatedFile { directory, name, real, stat });
            }
            let target = self.target(&directory, &name, &mut links)?;
            let (parent, last) = split(&target);
            directory = self.walk(self.start(directory, &target)?, parent, &mut links)?;
            name = last.to_owned();
        }
    }

    /// The directory at `path`, following links.
    pub(super) fn directory(&self, path: &str) -> Result<Arc<Directory>, ReadError> {
        self.directory_at(path).map(|(directory, _)| directory)
    }

    /// The logical path without links of an entry that need not exist, if its directory does.
    pub(super) fn real_of_absent(&self, path: &str) -> Option<String> {
        let (parent, name) = split(path);
        let directory = self.directory(parent).ok()?;
        (!is_special(name)).then(|| join(&directory.real, name))
    }

    /// All links followed so far, by logical path.
    pub(super) fn links_followed(&self) -> Vec<String> {
        self.links.lock().map(|links| links.iter().cloned().collect()).unwrap_or_default()
    }

    /// As [`Resolver::directory`], with the number of links on the way.
    fn directory_at(&self, path: &str) -> Result<(Arc<Directory>, usize), ReadError> {
        if path.len() > MAX_PATH {
            return Err(Errno::NAMETOOLONG.into());
        }
        // Starts from the longest known prefix of the path.
        let mut end = path.trim_end_matches('/').len();
        let (mut directory, mut links) = loop {
            match self.recall(&path[..end]) {
                Some(DirectoryLookup { directory, links }) => break (directory?, links),
                None if end == 0 => break (self.root.clone()?, 0),
                None => end = path[..end].rfind('/').unwrap_or(0),
            }
        };
        while end < path.len() {
            let rest = path[end..].trim_start_matches('/');
            let part = rest.split('/').next().unwrap_or(rest);
            end = path.len() - rest.len() + part.len();
            let entered = self.walk(directory, part, &mut links);
            self.remember(&path[..end], &entered, links);
            directory = entered?;
        }
        Ok((directory, links))
    }

    /// Goes from one directory along the components of `path`, which is treated as relative.
    fn walk(
        &self,
        mut directory: Arc<Directory>,
        path: &str,
        links: &mut usize,
    ) -> Result<Arc<Directory>, ReadError> {
        let mut todo: Vec<String> = components(path).rev().map(str::to_owned).collect();
        while let Some(part) = todo.pop() {
            if part == ".." {
                directory = directory.parent.clone().unwrap_or(directory);
                continue;
            }
            let real = join(&directory.real, &part);
            if let Some(known) = self.recall(&real) {
                *links += known.links;
                directory = known.directory?;
                if *links > MAX_LINKS {
                    return Err(ReadError::Loop);
                }
                continue;
            }
            match directory.enter(&part, &real) {
                Ok(next) => {
                    let next = Arc::new(next);
                    self.remember(&real, &Ok(Arc::clone(&next)), 0);
                    directory = next;
                }
                // A link, or not a directory.
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    let target = self.target(&directory, &part, links)?;
                    directory = self.start(directory, &target)?;
                    todo.extend(components(&target).rev().map(str::to_owned));
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(directory)
    }

    /// The start directory for the target of a link in `directory`.
    fn start(&self, directory: Arc<Directory>, target: &str) -> Result<Arc<Directory>, ReadError> {
        if target.starts_with('/') { self.root.clone() } else { Ok(directory) }
    }

    /// The target of a link, which is counted.
    fn target(
        &self,
        directory: &Directory,
        name: &str,
        links: &mut usize,
    ) -> Result<String, ReadError> {
        let target = match rustix::fs::readlinkat(&directory.fd, name, Vec::new()) {
            Err(Errno::INVAL) => return Err(ReadError::NotDirectory),
            other => other?,
        };
        if let Ok(mut seen) = self.links.lock() {
            seen.insert(join(&directory.real, name));
        }
        *links += 1;
        if *links > MAX_LINKS {
            return Err(ReadError::Loop);
        }
        Ok(String::from_utf8_lossy(target.as_bytes()).into_owned())
    }

    fn recall(&self, path: &str) -> Option<DirectoryLookup> {
        self.known.read().ok()?.get(path).cloned()
    }

    fn remember(&self, path: &str, directory: &Result<Arc<Directory>, ReadError>, links: usize) {
        if let Ok(mut known) = self.known.write() {
            // Threads that use a directory hold their own reference; all other directories are
            // opened again when needed.
            if known.len() >= self.limit {
                known.clear();
            }
            known.insert(path.to_owned(), DirectoryLookup { directory: directory.clone(), links });
        }
    }
}

impl Directory {
    /// Logical path without links.
    pub(super) fn real(&self) -> &str {
        &self.real
    }

    /// Opens a directory in this one; a link does not count.
    fn enter(self: &Arc<Self>, name: &str, real: &str) -> Result<Self, Errno> {
        if real.len() > MAX_PATH {
            return Err(Errno::NAMETOOLONG);
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty())?;
        Ok(Self { fd, real: real.to_owned(), parent: Some(Arc::clone(self)) })
    }

    /// Calls `entry` for every name in it, with its kind if the file system returns it, until
    /// `entry` returns `false`.
    pub(super) fn entries(
        &self,
        mut entry: impl FnMut(&std::ffi::CStr, Option<FileKind>) -> bool,
    ) -> Result<(), ReadError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, ".", flags, Mode::empty())?;
        let mut buffer = Vec::with_capacity(LIST_CHUNK);
        let mut listing = RawDir::new(fd, buffer.spare_capacity_mut());
        while let Some(next) = listing.next() {
            let next = next?;
            let name = next.file_name();
            let itself = matches!(name.to_bytes(), b"." | b"..");
            if !itself && !entry(name, kind_of_type(next.file_type())) {
                break;
            }
        }
        Ok(())
    }

    /// Status of an entry itself.
    pub(super) fn lstat(&self, name: &str) -> Result<rustix::fs::Stat, ReadError> {
        Ok(rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }
}

impl LocatedFile {
    /// Opens it. If it has become a link since, the link is not followed.
    pub(super) fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.directory.fd, self.name.as_str(), flags, Mode::empty())
    }

    /// Its target, if it is a link.
    pub(super) fn target(&self) -> Result<String, ReadError> {
        let target = rustix::fs::readlinkat(&self.directory.fd, self.name.as_str(), Vec::new())?;
        Ok(String::from_utf8_lossy(target.as_bytes()).into_owned())
    }
}

/// Returns whether a last component does not name an entry of its directory.
fn is_special(name: &str) -> bool {
    matches!(name, "" | "." | "..")
}

fn components(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

fn join(directory: &str, name: &str) -> String {
    let directory = directory.trim_end_matches('/');
    let mut path = String::with_capacity(directory.len() + 1 + name.len());
    path.push_str(directory);
    path.push('/');
    path.push_str(name);
    path
}

/// The parent and the last component of a path.
fn split(path: &str) -> (&str, &str) {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test builds the tree that is examined")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, Resolver) {
        let dir = tempfile::tempdir().unwrap();
        let resolver = Resolver::new(dir.path());
        (dir, resolver)
    }

    fn real(resolver: &Resolver, path: &str, follow: bool) -> Result<String, ReadError> {
        resolver.find(path, follow).map(|found| found.real)
    }

    #[test]
    fn absolute_links_stay_inside() {
        let (dir, resolver) = tree();
        std::fs::create_dir_all(dir.path().join("usr/lib")).unwrap();
        std::fs::write(dir.path().join("usr/lib/a"), "x").unwrap();
        symlink("/usr/lib", dir.path().join("lib")).unwrap();
        assert_eq!(real(&resolver, "/lib/a", true).unwrap(), "/usr/lib/a");
    }

    #[test]
    fn dot_dot_stops_at_the_root() {
        let (dir, resolver) = tree();
        std::fs::write(dir.path().join("a"), "x").unwrap();
        symlink("../../../../../a", dir.path().join("up")).unwrap();
        assert_eq!(real(&resolver, "/up", true).unwrap(), "/a");
        assert_eq!(real(&resolver, "/../../a", true).unwrap(), "/a");
    }

    #[test]
    fn link_loops_end() {
        let (dir, resolver) = tree();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        assert_eq!(real(&resolver, "/a", true), Err(ReadError::Loop));
        assert_eq!(real(&resolver, "/a/x", true), Err(ReadError::Loop));
        assert_eq!(real(&resolver, "/a", false).unwrap(), "/a");
    }

    #[test]
    fn a_dangling_link_is_not_found() {
        let (dir, resolver) = tree();
        symlink("/nowhere/x", dir.path().join("a")).unwrap();
        assert_eq!(real(&resolver, "/a", true), Err(ReadError::NotFound));
    }

    #[test]
    fn remembered_directories_resolve_to_the_same_files() {
        let (dir, resolver) = tree();
        std::fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
        std::fs::write(dir.path().join("a/b/c/f"), "x").unwrap();
        symlink("b/c", dir.path().join("a/short")).unwrap();
        symlink("/a/./b//c/../c/", dir.path().join("a/b/long")).unwrap();
        for _ in 0..3 {
            for (path, want) in [
                ("/a/short/f", Ok("/a/b/c/f")),
                ("/a/short/../long/f", Ok("/a/b/c/f")),
                ("//a/./b//long/f/", Ok("/a/b/c/f")),
                ("a/b", Ok("/a/b")),
                ("/a/b/..", Ok("/a")),
                ("/a/b/c/../..", Ok("/a")),
                ("/a/short/..", Ok("/a/b")),
                ("/", Ok("/")),
                ("", Ok("/")),
                ("é/f", Err(ReadError::NotFound)),
                ("/a/b/c/f/g", Err(ReadError::NotDirectory)),
                ("/a/b/c/f/..", Err(ReadError::NotDirectory)),
                ("/a/none/../b", Err(ReadError::NotFound)),
            ] {
                let want = want.map(str::to_owned);
                assert_eq!(real(&resolver, path, true), want, "{path}");
            }
        }
        assert_eq!(resolver.links_followed(), ["/a/b/long", "/a/short"]);
    }

    #[test]
    fn follows_as_many_links_as_the_kernel() {
        let (dir, resolver) = tree();
        std::fs::create_dir(dir.path().join("d0")).unwrap();
        std::fs::write(dir.path().join("d0/f"), "x").unwrap();
        for number in 1..=41 {
            let target = format!("d{}", number - 1);
            symlink(target, dir.path().join(format!("d{number}"))).unwrap();
        }
        // Looked up in both orders, so that cached results count too.
        for number in (1..=41).chain((1..=41).rev()) {
            let found = real(&resolver, &format!("/d{number}/f"), true);
            let kernel = std::fs::metadata(dir.path().join(format!("d{number}/f")));
            assert_eq!(found.is_ok(), kernel.is_ok(), "{number}");
        }
        assert_eq!(real(&resolver, "/d41/f", true), Err(ReadError::Loop));
    }

    #[test]
    fn directory_replaced_by_link_does_not_leave_root() {
        let (dir, resolver) = tree();
        let outside = tempfile::tempdir().unwrap();
        for place in [outside.path(), &dir.path().join("a/b")] {
            std::fs::create_dir_all(place).unwrap();
            std::fs::write(place.join("f"), "x").unwrap();
        }
        let before = resolver.find("/a/b/f", true).unwrap();
        std::fs::remove_dir_all(dir.path().join("a/b")).unwrap();
        symlink(outside.path(), dir.path().join("a/b")).unwrap();
        // The known directory is empty now, and its former contents cannot be opened.
        assert_eq!(real(&resolver, "/a/b/f", true), Err(ReadError::NotFound));
        assert!(before.open(OFlags::RDONLY).is_err());
        // A new resolver follows the link inside the root, where that path does not exist.
        let new = Resolver::new(dir.path());
        assert_eq!(real(&new, "/a/b/f", true), Err(ReadError::NotFound));
        // The same for the last component.
        std::fs::write(dir.path().join("g"), "x").unwrap();
        let before = resolver.find("/g", true).unwrap();
        std::fs::remove_file(dir.path().join("g")).unwrap();
        symlink(outside.path().join("f"), dir.path().join("g")).unwrap();
        assert_eq!(before.open(OFlags::RDONLY).unwrap_err(), Errno::LOOP);
    }

    #[test]
    fn forgotten_directories_are_opened_again() {
        let (dir, mut resolver) = tree();
        resolver.limit = 3;
        for number in 0..20 {
            std::fs::create_dir_all(dir.path().join(format!("a/b{number}/c"))).unwrap();
            std::fs::write(dir.path().join(format!("a/b{number}/c/f")), "x").unwrap();
        }
        for number in (0..20).chain(0..20) {
            let path = format!("/a/b{number}/c/f");
            assert_eq!(real(&resolver, &path, true), Ok(path));
            assert!(resolver.known.read().unwrap().len() <= 3);
        }
    }

    #[test]
    fn a_root_that_is_no_directory_fails_for_every_path() {
        let (dir, _) = tree();
        std::fs::write(dir.path().join("f"), "x").unwrap();
        let resolver = Resolver::new(&dir.path().join("f"));
        assert_eq!(real(&resolver, "/", true), Err(ReadError::NotDirectory));
        assert_eq!(real(&resolver, "/a/b", true), Err(ReadError::NotDirectory));
    }

    #[test]
    fn a_path_without_end_is_refused() {
        let (dir, resolver) = tree();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("l")).unwrap();
        let long = "/../l".repeat(2_000) + "/f";
        assert!(matches!(real(&resolver, &long, true), Err(ReadError::Io(_))));
    }
}
