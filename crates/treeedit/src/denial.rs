//! Reasons why this user cannot replace a file.
//!
//! A file is replaced by one with the same mode, owner and group, or not at all: a write in place
//! would leave half a file if the run is killed, and would also change its other hard links.
#![expect(clippy::disallowed_methods, reason = "asks for the user who writes")]

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use base::text::Text;
use data::fault::Value as _;
use data::faults;
use guard::tree::Place;
use rustix::fs::Stat;
use rustix::io::Errno;

use super::paths::parent_directory;

/// A reason why a user cannot replace a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    /// It is read-only, and this user may change that.
    ReadOnly,
    /// It belongs to this other user, and is not writable for all.
    Foreign(u32),
    /// No files can be created in its directory.
    Directory(PathBuf),
    /// The file system is mounted read-only.
    FileSystem,
    /// A new file cannot be given to its owner.
    Owner(u32),
    /// A new file cannot be given to its group.
    Group(u32),
    /// The system refuses for another reason, with this message.
    Refused(Text),
}

impl Denial {
    /// The message for users.
    pub fn text(&self) -> Text {
        match self {
            Self::ReadOnly => faults::ReadOnly.value(),
            Self::Foreign(uid) => faults::ForeignOwner { uid }.value(),
            Self::Directory(path) => faults::DirectoryReadOnly { path }.value(),
            Self::FileSystem => faults::FileSystemReadOnly.value(),
            Self::Owner(uid) => faults::CannotKeepOwner { uid }.value(),
            Self::Group(gid) => faults::CannotKeepGroup { gid }.value(),
            Self::Refused(words) => words.clone(),
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text().en)
    }
}

impl std::error::Error for Denial {}

impl From<Denial> for io::Error {
    fn from(denied: Denial) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, denied)
    }
}

impl Denial {
    /// Returns the reason in an error that concerns only this file; `None` for other errors.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        if let Some(denied) = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            return Some(denied.clone());
        }
        match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem => Some(Self::FileSystem),
            io::ErrorKind::PermissionDenied => Some(Self::Refused(error.value())),
            _ => None,
        }
    }

    /// Returns the reason if it is known before the attempt. A file without write permission for
    /// anyone is protected on purpose, also from a superuser.
    pub(crate) fn foresee(place: &Place, path: &Path, stat: &Stat) -> Option<Self> {
        let me = rustix::process::geteuid();
        let owner = stat.st_uid;
        let mine = me.is_root() || me.as_raw() == owner;
        let closed = || if mine { Self::ReadOnly } else { Self::Foreign(owner) };
        if stat.st_mode & 0o222 == 0 {
            return Some(closed());
        }
        match place.dir.check_writable(Some(&place.name)) {
            Ok(()) => {}
            Err(Errno::ROFS) => return Some(Self::FileSystem),
            Err(Errno::ACCESS) => return Some(closed()),
            Err(other) => return Some(Self::Refused(io::Error::from(other).value())),
        }
        match place.dir.check_writable(None) {
            Ok(()) => None,
            Err(Errno::ROFS) => Some(Self::FileSystem),
            Err(_) => Some(Self::Directory(parent_directory(path).to_owned())),
        }
    }

    /// Returns the reason for a failed change of ownership: the owner if it differs, else the group.
    pub(crate) fn of_ownership(old: &Stat, new: &Stat) -> Self {
        if old.st_uid == new.st_uid { Self::Group(old.st_gid) } else { Self::Owner(old.st_uid) }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn file_without_write_permission_is_protected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.py");
        std::fs::write(&path, "x").unwrap();
        let place = guard::named::place(&path).unwrap();
        let foreseen = || Denial::foresee(&place, &path, &place.dir.stat(&place.name).unwrap());
        assert_eq!(foreseen(), None);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(foreseen(), Some(Denial::ReadOnly));
    }

    #[test]
    fn only_errors_of_one_file_are_denials() {
        assert_eq!(Denial::of(&io::Error::from(Errno::NOSPC)), None);
        assert_eq!(Denial::of(&io::Error::from(Errno::ROFS)), Some(Denial::FileSystem));
        assert_eq!(Denial::of(&Denial::Owner(7).into()), Some(Denial::Owner(7)));
        assert!(matches!(Denial::of(&io::Error::from(Errno::PERM)), Some(Denial::Refused(_))));
    }
}
