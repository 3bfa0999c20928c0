//! Open directories, and operations on their entries.
//!
//! The kernel resolves one name at a time and never follows a link, so replacing a directory by a
//! link during a run cannot redirect a write. A directory that is moved while it is open stays the
//! same directory: moving it requires the permission to do so.
#![expect(clippy::disallowed_methods, reason = "this is the layer that the others use")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::file;

/// Maximum depth of a tree to remove.
const MAX_DEPTH: usize = 256;
/// Maximum number of names tried for a temporary file.
const MAX_NAMES: usize = 64;

/// An open directory.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A directory without read permission can be entered, but not listed.
const ENTER: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Dir {
    pub(crate) const fn from_fd(fd: OwnedFd) -> Self {
        Self { fd }
    }

    /// Opens a directory in this one. A link is refused.
    ///
    /// # Errors
    ///
    /// There is no such directory, or the name is a link.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let fd = rustix::fs::openat(&self.fd, single(name)?, ENTER, Mode::empty())?;
        Ok(Self { fd })
    }

    /// Opens this directory again.
    ///
    /// # Errors
    ///
    /// The process has too many open files.
    pub fn duplicate(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()? })
    }

    /// Opens a directory below this one, component by component.
    ///
    /// # Errors
    ///
    /// As [`Dir::enter`], or the path contains `..` or is absolute.
    pub fn descend(&self, relative: &Path) -> io::Result<Self> {
        let mut dir = self.duplicate()?;
        for name in names(relative)? {
            dir = dir.enter(name)?;
        }
        Ok(dir)
    }

    /// Opens a directory below this one and creates its missing components.
    ///
    /// # Errors
    ///
    /// As [`Dir::descend`], or a directory cannot be created.
    pub fn descend_or_create(&self, relative: &Path, mode: u32) -> io::Result<Self> {
        let mut dir = self.duplicate()?;
        for name in names(relative)? {
            dir = dir.enter_or_create(name, mode)?;
        }
        Ok(dir)
    }

    /// Opens a directory in this one and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// As [`Dir::enter`], or the directory cannot be created.
    pub fn enter_or_create(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        match self.enter(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        match self.create_dir(name, mode) {
            // Another thread may have created it first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => other?,
        }
        self.enter(name)
    }

    /// Opens a regular file in this directory. Links, pipes, sockets and devices are refused.
    ///
    /// # Errors
    ///
    /// There is no such file, it cannot be read, or it is not a regular file.
    pub fn open(&self, name: &OsStr) -> io::Result<File> {
        file::open_at(&self.fd, Path::new(single(name)?))
    }

    /// Creates a file that did not exist.
    ///
    /// # Errors
    ///
    /// The name is taken, or files cannot be created here.
    pub fn create_new(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(mode);
        Ok(rustix::fs::openat(&self.fd, single(name)?, flags | OFlags::CLOEXEC, mode)?.into())
    }

    /// Opens a regular file for writing; with `mode` it is created if it does not exist.
    ///
    /// # Errors
    ///
    /// As [`Dir::open`].
    pub fn open_for_writing(&self, name: &OsStr, mode: Option<u32>) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let create = if mode.is_some() { OFlags::CREATE } else { OFlags::empty() };
        let mode = Mode::from_raw_mode(mode.unwrap_or_default());
        let flags = flags | OFlags::CLOEXEC | create;
        let file = match rustix::fs::openat(&self.fd, single(name)?, flags, mode) {
            // A pipe without a reader, or a socket.
            Err(Errno::NXIO) => return Err(file::not_regular()),
            other => other?,
        };
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(file::not_regular());
        }
        Ok(file.into())
    }

    /// Creates a file with a free name that begins with `prefix`.
    ///
    /// # Errors
    ///
    /// As [`Dir::create_new`].
    pub fn create_temporary(&self, prefix: &str, mode: u32) -> io::Result<(OsString, File)> {
        with_free_name(prefix, |name| self.create_new(name, mode))
    }

    /// Creates a directory with a free name that begins with `prefix`.
    ///
    /// # Errors
    ///
    /// As [`Dir::create_dir`].
    pub fn create_temporary_dir(&self, prefix: &str, mode: u32) -> io::Result<(OsString, Self)> {
        with_free_name(prefix, |name| {
            self.create_dir(name, mode)?;
            self.enter(name)
        })
    }

    /// Status of an entry itself.
    ///
    /// # Errors
    ///
    /// There is no such entry.
    pub fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(rustix::fs::statat(&self.fd, single(name)?, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Kind of an entry; `None` if there is none.
    pub fn kind(&self, name: &OsStr) -> Option<FileType> {
        self.stat(name).ok().map(|stat| FileType::from_raw_mode(stat.st_mode))
    }

    /// Status of the directory.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn own_stat(&self) -> io::Result<Stat> {
        Ok(rustix::fs::fstat(&self.fd)?)
    }

    /// Returns whether this user may write to an entry (`None`: create entries).
    ///
    /// # Errors
    ///
    /// With the reason why not.
    pub fn check_writable(&self, name: Option<&OsStr>) -> Result<(), Errno> {
        let access =
            if name.is_some() { Access::WRITE_OK } else { Access::WRITE_OK | Access::EXEC_OK };
        let name = name.unwrap_or(OsStr::new("."));
        rustix::fs::accessat(&self.fd, name, access, AtFlags::empty())
    }

    /// Target of a link.
    ///
    /// # Errors
    ///
    /// The entry is not a link.
    pub fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(&self.fd, single(name)?, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
    }

    /// Creates a directory.
    ///
    /// # Errors
    ///
    /// The name is taken, or directories cannot be created here.
    pub fn create_dir(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.fd, single(name)?, Mode::from_raw_mode(mode))?)
    }

    /// Creates a link.
    ///
    /// # Errors
    ///
    /// The name is taken, or links cannot be created here.
    pub fn symlink(&self, target: &Path, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.fd, single(name)?)?)
    }

    /// Renames an entry within this directory; an entry that has the new name is replaced.
    ///
    /// # Errors
    ///
    /// There is no such entry, or it cannot be renamed.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, single(from)?, &self.fd, single(to)?)?)
    }

    /// Removes an entry that is not a directory.
    ///
    /// # Errors
    ///
    /// There is no such entry, or it cannot be removed.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, single(name)?, AtFlags::empty())?)
    }

    /// Removes an entry that is not a directory, if there is one.
    ///
    /// # Errors
    ///
    /// It cannot be removed.
    pub fn remove_if_present(&self, name: &OsStr) -> io::Result<()> {
        match self.remove_file(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// It is not empty, or cannot be removed.
    pub fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, single(name)?, AtFlags::REMOVEDIR)?)
    }

    /// Removes an entry and everything below it. Links are removed, not followed.
    ///
    /// # Errors
    ///
    /// Something cannot be removed.
    pub fn remove_all(&self, name: &OsStr) -> io::Result<()> {
        self.remove_below(name, 0)
    }

    fn remove_below(&self, name: &OsStr, depth: usize) -> io::Result<()> {
        match self.remove_file(name) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {}
            // POSIX defines `EPERM` for directories.
            Err(error) if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) => {}
            other => return other,
        }
        if depth > MAX_DEPTH {
            return Err(Errno::NAMETOOLONG.into());
        }
        let inner = self.enter(name)?;
        for (entry, _) in inner.entries()? {
            inner.remove_below(&entry, depth + 1)?;
        }
        self.remove_dir(name)
    }

    /// Names and kinds of all entries, in the order of the file system.
    ///
    /// # Errors
    ///
    /// The directory cannot be read.
    pub fn entries(&self) -> io::Result<Vec<(OsString, FileType)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, ".", flags, Mode::empty())?;
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::new(fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let name = OsStr::from_bytes(name);
            let kind = match entry.file_type() {
                FileType::Unknown => self.kind(name).unwrap_or(FileType::Unknown),
                known => known,
            };
            entries.push((name.to_owned(), kind));
        }
        Ok(entries)
    }

    /// Sets the permission bits of the directory.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A descriptor opened with `O_PATH` does not accept a new mode.
        let fd = rustix::fs::openat(&self.fd, ".", flags, Mode::empty())?;
        Ok(rustix::fs::fchmod(fd, Mode::from_raw_mode(mode))?)
    }

    /// Waits until the names in the directory are on disk.
    ///
    /// # Errors
    ///
    /// The disk fails.
    pub fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, ".", flags, Mode::empty())?;
        Ok(rustix::fs::fsync(fd)?)
    }
}

/// A name of one component: the kernel must not resolve more than one.
fn single(name: &OsStr) -> io::Result<&OsStr> {
    let is_single =
        !matches!(name.as_bytes(), b"" | b"." | b"..") && !name.as_bytes().contains(&b'/');
    if is_single { Ok(name) } else { Err(Errno::INVAL.into()) }
}

/// The components of a path below a directory.
///
/// # Errors
///
/// The path is absolute or contains `..`.
pub fn names(relative: &Path) -> io::Result<Vec<&OsStr>> {
    let mut names = Vec::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Errno::INVAL.into());
            }
        }
    }
    Ok(names)
}

fn with_free_name<T>(
    prefix: &str,
    mut create: impl FnMut(&OsStr) -> io::Result<T>,
) -> io::Result<(OsString, T)> {
    for _ in 0..MAX_NAMES {
        let random = std::hash::RandomState::new().build_hasher().finish();
        let name = OsString::from(format!("{prefix}{random:016x}"));
        match create(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(|made| (name, made)),
        }
    }
    Err(Errno::EXIST.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::named::open_dir;

    fn name(text: &str) -> &OsStr {
        OsStr::new(text)
    }

    #[test]
    fn links_are_never_followed() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("f"), "x").unwrap();
        symlink(outside.path(), root.path().join("dir")).unwrap();
        symlink(outside.path().join("f"), root.path().join("f")).unwrap();
        let dir = open_dir(root.path()).unwrap();
        assert!(dir.enter(name("dir")).is_err());
        assert!(dir.descend(Path::new("dir")).is_err());
        assert!(dir.descend_or_create(Path::new("dir/deeper"), 0o700).is_err());
        assert!(dir.open(name("f")).is_err());
        assert!(dir.open_for_writing(name("f"), Some(0o600)).is_err());
        assert!(dir.create_new(name("f"), 0o600).is_err());
        dir.remove_all(name("dir")).unwrap();
        dir.remove_all(name("f")).unwrap();
        assert_eq!(std::fs::read_to_string(outside.path().join("f")).unwrap(), "x");
    }

    #[test]
    fn names_have_one_component() {
        let root = tempfile::tempdir().unwrap();
        let dir = open_dir(root.path()).unwrap();
        for bad in ["", ".", "..", "a/b", "/a", "../a", "a/"] {
            assert!(dir.create_new(name(bad), 0o600).is_err(), "{bad}");
            assert!(dir.enter(name(bad)).is_err(), "{bad}");
            assert!(dir.remove_all(name(bad)).is_err(), "{bad}");
            assert!(dir.rename(name(bad), name("x")).is_err(), "{bad}");
        }
        assert!(dir.descend(Path::new("../a")).is_err());
        assert!(dir.descend(Path::new("/a")).is_err());
        assert!(dir.descend_or_create(Path::new("a/./b"), 0o700).is_ok());
        assert!(root.path().join("a/b").is_dir());
    }

    #[test]
    fn trees_are_removed_and_listed() {
        let root = tempfile::tempdir().unwrap();
        let dir = open_dir(root.path()).unwrap();
        let inner = dir.descend_or_create(Path::new("a/b/c"), 0o700).unwrap();
        inner.create_new(name("f"), 0o600).unwrap();
        inner.symlink(Path::new("/"), name("l")).unwrap();
        assert_eq!(inner.read_link(name("l")).unwrap(), Path::new("/"));
        assert_eq!(inner.entries().unwrap().len(), 2);
        let (temporary, _) = inner.create_temporary(".t-", 0o600).unwrap();
        inner.rename(&temporary, name("f")).unwrap();
        inner.sync().unwrap();
        inner.set_mode(0o750).unwrap();
        assert_eq!(inner.own_stat().unwrap().st_mode & 0o7777, 0o750);
        dir.remove_all(name("a")).unwrap();
        assert!(dir.entries().unwrap().is_empty());
    }

    #[test]
    fn pipes_are_not_opened_for_writing() {
        let root = tempfile::tempdir().unwrap();
        let dir = open_dir(root.path()).unwrap();
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(&dir, "pipe", FileType::Fifo, mode, 0).unwrap();
        assert!(file::is_not_regular(&dir.open_for_writing(name("pipe"), None).unwrap_err()));
        assert!(file::is_not_regular(&dir.open(name("pipe")).unwrap_err()));
    }
}
