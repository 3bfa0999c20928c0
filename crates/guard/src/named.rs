//! Paths of the command line: the only ones whose links are followed, and only links that existed
//! before the program started.
//!
//! A user may keep results behind a link, such as `~/runs`. A link that appears while the program
//! runs was created by another process, so it is not followed. A link that is about as old as the
//! program is checked again after a moment, because a link that is replaced continuously has
//! changed by then.
#![expect(clippy::disallowed_methods, reason = "this is the layer that the others use")]

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::dir::Dir;
use super::tree::Place;

/// The number of links that the kernel follows before it returns `ELOOP`.
const MAX_LINKS: usize = 40;
/// Resolution of file times: a link may be younger than its time by this much.
const COARSE: Duration = Duration::from_millis(20);
/// The magic number of procfs: its links are made by the kernel.
const PROC: u64 = 0x9fa0;

static START: OnceLock<SystemTime> = OnceLock::new();

/// Records the start of the program; the first call counts.
pub fn note_start() {
    START.get_or_init(SystemTime::now);
}

fn start() -> SystemTime {
    *START.get_or_init(SystemTime::now)
}

/// Opens the directory that the user named.
///
/// # Errors
///
/// It does not exist, cannot be entered, or a link on the way appeared after the start.
pub fn open_dir(path: &Path) -> io::Result<Dir> {
    Walk::along(path, false)?.into_dir()
}

/// Opens the directory that the user named, and creates its missing components.
///
/// # Errors
///
/// As [`open_dir`], or a directory cannot be created.
pub fn open_or_create_dir(path: &Path, mode: u32) -> io::Result<Dir> {
    let mut walk = Walk::along(path, true)?;
    // Missing components are created in the last existing directory.
    let missing = std::mem::take(&mut walk.missing);
    let mut dir = walk.into_dir()?;
    for name in missing {
        dir = dir.enter_or_create(&name, mode)?;
    }
    Ok(dir)
}

/// The place of the file that the user named: its directory, and the name that a link leads to.
/// The file need not exist.
///
/// # Errors
///
/// As [`open_dir`].
pub fn place(path: &Path) -> io::Result<Place> {
    // A trailing slash requires a directory.
    if path.as_os_str().as_bytes().ends_with(b"/") {
        return Err(Errno::ISDIR.into());
    }
    let mut path = path.to_owned();
    let mut links = 0;
    let mut base = None;
    loop {
        let name = path.file_name().ok_or(Errno::ISDIR)?.to_owned();
        let parent = path.parent().unwrap_or(Path::new(""));
        let mut walk = Walk::start(base, parent)?;
        walk.links = links;
        walk.go(parent, false)?;
        links = walk.links;
        let dir = walk.into_dir()?;
        if dir.kind(&name) != Some(FileType::Symlink) {
            return Ok(Place { dir: Arc::new(dir), name });
        }
        path = follow(&dir, &name, &mut links)?;
        base = Some(dir);
    }
}

/// A walk along a path of the user.
struct Walk {
    /// The open directories from the start on, for `..`.
    dirs: Vec<Dir>,
    links: usize,
    /// The missing components behind the last directory.
    missing: Vec<OsString>,
}

impl Walk {
    fn along(path: &Path, create: bool) -> io::Result<Self> {
        let mut walk = Self::start(None, path)?;
        walk.go(path, create)?;
        Ok(walk)
    }

    fn start(base: Option<Dir>, path: &Path) -> io::Result<Self> {
        let first = match base {
            Some(dir) if !path.is_absolute() => dir,
            _ => open_anchor(if path.is_absolute() { "/" } else { "." })?,
        };
        Ok(Self { dirs: vec![first], links: 0, missing: Vec::new() })
    }

    fn into_dir(mut self) -> io::Result<Dir> {
        if !self.missing.is_empty() {
            return Err(Errno::NOENT.into());
        }
        self.dirs.pop().ok_or_else(|| Errno::NOENT.into())
    }

    fn here(&self) -> io::Result<&Dir> {
        self.dirs.last().ok_or_else(|| Errno::NOENT.into())
    }

    fn go(&mut self, path: &Path, create: bool) -> io::Result<()> {
        let mut todo: Vec<OsString> = parts(path);
        while let Some(part) = todo.pop() {
            if part == ".." {
                if self.missing.pop().is_none() {
                    self.up()?;
                }
                continue;
            }
            if !self.missing.is_empty() {
                self.missing.push(part);
                continue;
            }
            match self.here()?.enter(&part) {
                Ok(dir) => self.dirs.push(dir),
                Err(error) if create && error.kind() == io::ErrorKind::NotFound => {
                    self.missing.push(part);
                }
                Err(error) => {
                    if self.here()?.kind(&part) != Some(FileType::Symlink) {
                        return Err(error);
                    }
                    let mut links = self.links;
                    let target = follow(self.here()?, &part, &mut links)?;
                    self.links = links;
                    if target.is_absolute() {
                        self.dirs = vec![open_anchor("/")?];
                    }
                    todo.extend(parts(&target));
                }
            }
        }
        Ok(())
    }

    fn up(&mut self) -> io::Result<()> {
        if self.dirs.len() > 1 {
            self.dirs.pop();
            return Ok(());
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(self.here()?, "..", flags, Mode::empty())?;
        self.dirs = vec![Dir::from_fd(fd)];
        Ok(())
    }
}

/// The components of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    parts.collect()
}

fn open_anchor(path: &str) -> io::Result<Dir> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(Dir::from_fd(rustix::fs::open(path, flags, Mode::empty())?))
}

/// The target of a link that may be followed.
fn follow(dir: &Dir, name: &OsStr, links: &mut usize) -> io::Result<std::path::PathBuf> {
    *links += 1;
    if *links > MAX_LINKS {
        return Err(Errno::LOOP.into());
    }
    let stat = dir.stat(name)?;
    let target = dir.read_link(name)?;
    if is_settled(dir, name, &stat) { Ok(target) } else { Err(io::Error::other(YoungLink)) }
}

/// The error for a link that appeared after the start.
#[derive(Debug)]
struct YoungLink;

impl std::fmt::Display for YoungLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a symbolic link on the way was replaced while the program ran")
    }
}

impl std::error::Error for YoungLink {}

/// Returns whether an error is that of a link that appeared after the start.
pub fn is_young_link(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<YoungLink>()).is_some()
}

/// Returns whether a link existed before the program started.
fn is_settled(dir: &Dir, name: &OsStr, stat: &Stat) -> bool {
    if rustix::fs::fstatfs(dir).is_ok_and(|about| u64::try_from(about.f_type) == Ok(PROC)) {
        return true;
    }
    let changed = u64::try_from(stat.st_ctime).ok().and_then(|seconds| {
        let nanos = u32::try_from(stat.st_ctime_nsec).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
    });
    // A time before 1970 is old enough.
    let Some(changed) = changed else { return stat.st_ctime < 0 };
    if changed > start() {
        return false;
    }
    if changed + COARSE < start() {
        return true;
    }
    std::thread::sleep(COARSE);
    let identity = |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_ctime, stat.st_ctime_nsec);
    dir.stat(name).is_ok_and(|now| identity(&now) == identity(stat))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A link created by a test is younger than the start of the tests.
    #[test]
    fn links_that_appear_after_the_start_are_not_followed() {
        note_start();
        std::thread::sleep(Duration::from_millis(50));
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("link")).unwrap();
        symlink("real/file", root.join("name")).unwrap();
        assert!(is_young_link(&open_dir(&root.join("link")).unwrap_err()));
        assert!(is_young_link(&open_or_create_dir(&root.join("link/x"), 0o700).unwrap_err()));
        assert!(is_young_link(&place(&root.join("link/file")).unwrap_err()));
        assert!(is_young_link(&place(&root.join("name")).unwrap_err()));
        assert_eq!(place(&root.join("real/file")).unwrap().name, "file");
    }

    #[test]
    fn links_of_the_system_are_followed() {
        // `/proc/self` is a link of the kernel whose time is always now.
        open_dir(Path::new("/proc/self/fd/..")).unwrap();
        assert_eq!(place(Path::new("/proc/self/status")).unwrap().name, "status");
        let own = open_dir(Path::new("/proc/self/cwd")).unwrap().own_stat().unwrap();
        let here = open_dir(Path::new(".")).unwrap().own_stat().unwrap();
        assert_eq!((own.st_dev, own.st_ino), (here.st_dev, here.st_ino));
    }

    #[test]
    fn missing_directories_are_created_and_dots_resolved() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        open_or_create_dir(&root.join("a/b/../c/./d"), 0o700).unwrap();
        assert!(root.join("a/c/d").is_dir());
        assert!(!root.join("a/b").exists());
        assert!(open_dir(&root.join("a/x")).is_err());
        std::fs::write(root.join("f"), "x").unwrap();
        assert!(open_dir(&root.join("f")).is_err());
        assert!(place(&root.join("a/")).is_err());
        assert!(place(Path::new("/")).is_err());
    }
}
