//! A root with the directories below it that are already open.
//!
//! A tree has more directories than a process may open, and most of them hold many files. Some
//! directories therefore stay open, and the others are opened again when needed.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::dir::{Dir, names};

/// Maximum number of open directories, and their share of the limit of open files.
const MAX_OPEN: usize = 512;
const OPEN_SHARE: u64 = 8;

/// A root.
#[derive(Debug)]
pub struct Tree {
    root: Arc<Dir>,
    known: RwLock<HashMap<PathBuf, Arc<Dir>>>,
    limit: usize,
}

/// A file, named by its open directory.
#[derive(Debug, Clone)]
pub struct Place {
    /// The directory.
    pub dir: Arc<Dir>,
    /// The name in it.
    pub name: OsString,
}

impl Tree {
    /// The directories below `root`.
    pub fn new(root: Dir) -> Self {
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let share = files.and_then(|files| usize::try_from(files / OPEN_SHARE).ok());
        let limit = share.unwrap_or(MAX_OPEN).clamp(2, MAX_OPEN);
        Self { root: Arc::new(root), known: RwLock::default(), limit }
    }

    /// The root.
    pub fn root(&self) -> &Arc<Dir> {
        &self.root
    }

    /// A directory below the root.
    ///
    /// # Errors
    ///
    /// It does not exist, or a component is a link.
    pub fn dir(&self, relative: &Path) -> io::Result<Arc<Dir>> {
        if relative.as_os_str().is_empty() {
            return Ok(Arc::clone(&self.root));
        }
        if let Some(known) = self.recall(relative) {
            return Ok(known);
        }
        let mut dir = Arc::clone(&self.root);
        let mut path = PathBuf::new();
        for name in names(relative)? {
            path.push(name);
            dir = if let Some(known) = self.recall(&path) {
                known
            } else {
                let entered = Arc::new(dir.enter(name)?);
                self.remember(&path, &entered);
                entered
            };
        }
        Ok(dir)
    }

    /// The place of a file below the root.
    ///
    /// # Errors
    ///
    /// As [`Tree::dir`], or the path names no file.
    pub fn place(&self, relative: &Path) -> io::Result<Place> {
        let name = relative.file_name().ok_or(rustix::io::Errno::INVAL)?;
        let parent = relative.parent().unwrap_or(Path::new(""));
        Ok(Place { dir: self.dir(parent)?, name: name.to_owned() })
    }

    /// Opens a regular file below the root for reading.
    ///
    /// # Errors
    ///
    /// As [`Tree::place`] and [`Dir::open`].
    pub fn open(&self, relative: &Path) -> io::Result<File> {
        let place = self.place(relative)?;
        place.dir.open(&place.name)
    }

    fn recall(&self, path: &Path) -> Option<Arc<Dir>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn remember(&self, path: &Path, dir: &Arc<Dir>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // Threads that use a directory hold their own reference to it.
        if known.len() >= self.limit {
            known.clear();
        }
        known.insert(path.to_owned(), Arc::clone(dir));
    }

    /// Drops the open directories.
    pub fn forget(&self) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Place {
    /// Another name in the same directory.
    #[must_use]
    pub fn sibling(&self, name: impl AsRef<OsStr>) -> Self {
        Self { dir: Arc::clone(&self.dir), name: name.as_ref().to_owned() }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "builds trees on disk")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::named::open_dir;

    #[test]
    fn directories_are_opened_again_within_the_limit() {
        let root = tempfile::tempdir().unwrap();
        let mut tree = Tree::new(open_dir(root.path()).unwrap());
        tree.limit = 3;
        for number in 0..20 {
            let dir = root.path().join(format!("a/b{number}/c"));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("f"), "x").unwrap();
        }
        for number in (0..20).chain(0..20) {
            tree.open(&PathBuf::from(format!("a/b{number}/c/f"))).unwrap();
            assert!(tree.known.read().unwrap().len() <= 3);
        }
        assert!(tree.open(Path::new("a/../a/b0/c/f")).is_err());
        assert!(tree.open(Path::new("")).is_err());
    }

    #[test]
    fn a_directory_replaced_by_a_link_is_not_followed() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(root.path().join("d")).unwrap();
        std::fs::write(outside.path().join("f"), "x").unwrap();
        let tree = Tree::new(open_dir(root.path()).unwrap());
        tree.dir(Path::new("d")).unwrap();
        std::fs::rename(root.path().join("d"), root.path().join("old")).unwrap();
        symlink(outside.path(), root.path().join("d")).unwrap();
        assert!(tree.open(Path::new("d/f")).is_err());
        tree.forget();
        assert!(tree.open(Path::new("d/f")).is_err());
    }
}
