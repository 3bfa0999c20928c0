//! Why this user may not replace a file.
//!
//! A file is replaced by one of its own mode, owner and group, or not at all: written in place it
//! would be half written when the run is killed, and whoever shares it by a hard link would get the
//! new content too.
#![expect(
    clippy::disallowed_methods,
    reason = "looks at the tree that is converted; no machine is examined"
)]

use std::fmt;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use rustix::io::Errno;

use super::paths::parent_directory;

/// What keeps a user from replacing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// It is read-only, and this user may change that.
    ReadOnly,
    /// It belongs to this other user, and is not for all to write.
    Foreign(u32),
    /// New files may not be laid into its directory.
    Directory(PathBuf),
    /// The file system is mounted so that nothing can be written.
    FileSystem,
    /// A new file cannot be given to its owner.
    Owner(u32),
    /// A new file cannot be given to its group.
    Group(u32),
    /// The system says no for a reason of its own, in its words.
    Refused(String),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadOnly => write!(f, "it is read-only"),
            Self::Foreign(owner) => write!(f, "it belongs to user {owner}"),
            Self::Directory(dir) => write!(f, "its directory `{}` is read-only", dir.display()),
            Self::FileSystem => write!(f, "its file system is read-only"),
            Self::Owner(owner) => write!(f, "a new file cannot be given to its owner, {owner}"),
            Self::Group(group) => write!(f, "a new file cannot be given to its group, {group}"),
            Self::Refused(words) => write!(f, "{words}"),
        }
    }
}

impl std::error::Error for Denied {}

impl From<Denied> for io::Error {
    fn from(denied: Denied) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, denied)
    }
}

impl Denied {
    /// What an error says about one file and nothing about others, if it does.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        if let Some(denied) = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            return Some(denied.clone());
        }
        match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem => Some(Self::FileSystem),
            io::ErrorKind::PermissionDenied => Some(Self::Refused(error.to_string())),
            _ => None,
        }
    }

    /// What stands in the way of replacing the file that was looked at, as far as that can be told
    /// beforehand. A file that nobody may write is protected on purpose, also from a superuser.
    pub(crate) fn before(path: &Path, meta: &Metadata) -> Option<Self> {
        let me = rustix::process::geteuid();
        let owner = meta.uid();
        let mine = me.is_root() || me.as_raw() == owner;
        let closed = || if mine { Self::ReadOnly } else { Self::Foreign(owner) };
        if meta.mode() & 0o222 == 0 {
            return Some(closed());
        }
        match rustix::fs::access(path, Access::WRITE_OK) {
            Ok(()) => {}
            Err(Errno::ROFS) => return Some(Self::FileSystem),
            Err(Errno::ACCESS) => return Some(closed()),
            Err(other) => return Some(Self::Refused(io::Error::from(other).to_string())),
        }
        let dir = parent_directory(path);
        match rustix::fs::access(dir, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => None,
            Err(Errno::ROFS) => Some(Self::FileSystem),
            Err(_) => Some(Self::Directory(dir.to_owned())),
        }
    }

    /// Whom a new file could not be given to: the owner where he is another, else the group.
    pub(crate) fn to_give(old: &Metadata, new: &Metadata) -> Self {
        if old.uid() == new.uid() { Self::Group(old.gid()) } else { Self::Owner(old.uid()) }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_that_nobody_may_write_is_protected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.py");
        std::fs::write(&path, "x").unwrap();
        assert_eq!(Denied::before(&path, &path.metadata().unwrap()), None);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(Denied::before(&path, &path.metadata().unwrap()), Some(Denied::ReadOnly));
    }

    #[test]
    fn errors_that_concern_others_are_none_of_a_file() {
        assert_eq!(Denied::of(&io::Error::from(Errno::NOSPC)), None);
        assert_eq!(Denied::of(&io::Error::from(Errno::ROFS)), Some(Denied::FileSystem));
        assert_eq!(Denied::of(&Denied::Owner(7).into()), Some(Denied::Owner(7)));
        assert!(matches!(Denied::of(&io::Error::from(Errno::PERM)), Some(Denied::Refused(_))));
    }
}
