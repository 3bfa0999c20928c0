//! Replaces the content of one file so that at any moment it is the old one or the new one.
#![expect(
    clippy::disallowed_methods,
    reason = "writes the tree that is converted; no machine is examined"
)]

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, OFlags, XattrFlags};

use super::denial::Denial;
use super::paths::parent_directory;

/// A file with several names, before it was replaced under one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HardLinks {
    /// The device and the number of the file.
    pub file: (u64, u64),
    /// How many names it had.
    pub names: u64,
}

/// Metadata of a file when its content was compared; shows whether it was written to since.
#[derive(Debug, Clone)]
pub(crate) struct FileState {
    meta: Metadata,
}

/// New content in a synced temporary file next to the file that it replaces.
#[derive(Debug)]
pub(crate) struct Replacement {
    /// Path of the temporary file.
    pub(crate) temporary: PathBuf,
    target: PathBuf,
}

/// Result of comparing a file with an expected content.
#[derive(Debug)]
pub(crate) enum ContentMatch {
    /// Equal; the state shows later whether the file changed.
    Yes(FileState),
    /// Different, not a regular file, or gone.
    No,
}

/// Compares the regular file `path` with `content`.
pub(crate) fn match_content(path: &Path, content: &[u8]) -> io::Result<ContentMatch> {
    let mut file = match open(path) {
        Ok(file) => file,
        Err(error) if is_gone(&error) => return Ok(ContentMatch::No),
        Err(error) => return Err(error),
    };
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() != content.len() as u64 {
        return Ok(ContentMatch::No);
    }
    let mut bytes = Vec::with_capacity(content.len() + 1);
    Read::by_ref(&mut file).take(content.len() as u64 + 1).read_to_end(&mut bytes)?;
    Ok(if bytes == content { ContentMatch::Yes(FileState { meta }) } else { ContentMatch::No })
}

/// The content of a regular file, up to `limit` bytes; `None` if it is gone, larger, or no
/// regular file.
pub(crate) fn content(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Opens what is no symbolic link, and does not wait for the other end of a pipe.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

impl FileState {
    /// What keeps the user from replacing the file, as far as that is known beforehand.
    pub(crate) fn denied(&self, path: &Path) -> Option<Denial> {
        Denial::foresee(path, &self.meta)
    }

    /// Which file it is, and how many names it has.
    pub(crate) fn linked(&self) -> HardLinks {
        HardLinks { file: (self.meta.dev(), self.meta.ino()), names: self.meta.nlink() }
    }
}

/// Returns the permission bits of a compared file.
pub(crate) fn mode_of(seen: &FileState) -> u32 {
    seen.meta.permissions().mode() & 0o7777
}

/// New content in a temporary file next to the file that it replaces; perhaps not synced yet.
#[derive(Debug)]
pub(crate) struct StagedFile {
    staged: Replacement,
    file: File,
}

/// Writes `content` beside `target` under the name `temporary`, with the mode, the owner and
/// the extended attributes of the file that is there, and waits until the disk has it. Where owner
/// or group cannot be kept, nothing is laid, with [`Denial`].
pub(crate) fn stage(target: &Path, temporary: &str, content: &[u8]) -> io::Result<Replacement> {
    stage_unsynced(target, temporary, content)?.settle()
}

/// Does the same as [`stage`] without waiting for the disk: a caller that stages several files and
/// then waits for each waits about as long as for one.
pub(crate) fn stage_unsynced(
    target: &Path,
    temporary: &str,
    content: &[u8],
) -> io::Result<StagedFile> {
    let place = parent_directory(target).join(temporary);
    match std::fs::remove_file(&place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&place)?;
    let staged = Replacement { temporary: place, target: target.to_owned() };
    let filled = (|| {
        file.write_all(content)?;
        if let Ok(old) = open(target) {
            keep_attributes(&old, &file)?;
        }
        Ok(())
    })();
    match filled {
        Ok(()) => {
            begin_writing(&file);
            Ok(StagedFile { staged, file })
        }
        Err(error) => {
            staged.discard();
            Err(error)
        }
    }
}

/// Has the kernel write what a file holds. That it may forget what it has written is what this
/// advice is for elsewhere; that it begins at once is what it does on Linux first.
pub(crate) fn begin_writing(file: &File) {
    // Where that is not to be had, it only takes longer.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
}

impl StagedFile {
    /// Gives it permissions of its own. Whose rights a program takes on is no permission: that stays
    /// as it is on the file that is replaced, whatever a journal says that came with a foreign tree.
    pub(crate) fn set_permissions(&self, mode: u32) -> io::Result<()> {
        let set = self.file.metadata().and_then(|about| {
            let kept = about.permissions().mode() & 0o7000;
            self.file.set_permissions(Permissions::from_mode(mode & 0o777 | kept))
        });
        set.inspect_err(|_| self.staged.discard())
    }

    /// Waits until the disk has the content.
    pub(crate) fn settle(self) -> io::Result<Replacement> {
        match self.file.sync_all() {
            Ok(()) => Ok(self.staged),
            Err(error) => {
                self.staged.discard();
                Err(error)
            }
        }
    }
}

/// Gives `new` the owner, the extended attributes (so also access lists) and the mode of `old`.
fn keep_attributes(old: &File, new: &File) -> io::Result<()> {
    let meta = old.metadata()?;
    let own = new.metadata()?;
    if (own.uid(), own.gid()) != (meta.uid(), meta.gid()) {
        // Who is neither superuser nor member of the group cannot: whose file it is decides who may
        // read and write it, and is nothing that a conversion changes.
        std::os::unix::fs::fchown(new, Some(meta.uid()), Some(meta.gid()))
            .map_err(|_| io::Error::from(Denial::of_ownership(&meta, &own)))?;
    }
    // Most files have none or a few, and the kernel clears all the room that it is given.
    let mut names = vec![0_u8; 1 << 10];
    let mut length = rustix::fs::flistxattr(old, names.as_mut_slice());
    if length == Err(rustix::io::Errno::RANGE) {
        names.resize(64 << 10, 0);
        length = rustix::fs::flistxattr(old, names.as_mut_slice());
    }
    let length = length.unwrap_or(0);
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; 64 << 10];
        if let Ok(length) = rustix::fs::fgetxattr(old, name, value.as_mut_slice()) {
            // Some belong to the kernel or to the superuser alone.
            let _ = rustix::fs::fsetxattr(new, name, &value[..length], XattrFlags::empty());
        }
    }
    new.set_permissions(meta.permissions())
}

impl Replacement {
    /// Moves the content to its place, if the file there is still the one that was `seen`.
    /// `false`: it is not, and stays.
    pub(crate) fn commit(self, seen: &FileState) -> io::Result<bool> {
        let unchanged = self.target.symlink_metadata().is_ok_and(|now| same(&now, &seen.meta));
        if !unchanged {
            self.discard();
            return Ok(false);
        }
        self.force().map(|()| true)
    }

    /// Moves the content to its place, whatever is there.
    pub(crate) fn force(self) -> io::Result<()> {
        std::fs::rename(&self.temporary, &self.target).inspect_err(|_| self.discard())
    }

    /// Takes the content away again.
    pub(crate) fn discard(&self) {
        let _ = std::fs::remove_file(&self.temporary);
    }
}

fn same(a: &Metadata, b: &Metadata) -> bool {
    let identity = |meta: &Metadata| {
        (
            (meta.dev(), meta.ino(), meta.size(), meta.mode()),
            (meta.mtime(), meta.mtime_nsec(), meta.uid(), meta.gid()),
        )
    };
    // A name that was taken away changes this time too: the same file may stand in the tree twice,
    // and the other name of it holds its new content already.
    let touched = |meta: &Metadata| (meta.ctime(), meta.ctime_nsec());
    identity(a) == identity(b) && (touched(a) == touched(b) || a.nlink() < b.nlink())
}

/// Waits until the disk has the names in a directory.
pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.py");
        std::fs::write(&path, content).unwrap();
        (dir, path)
    }

    fn seen(path: &Path, content: &[u8]) -> FileState {
        match match_content(path, content).unwrap() {
            ContentMatch::Yes(seen) => seen,
            ContentMatch::No => panic!("{} holds something else", path.display()),
        }
    }

    #[test]
    fn replacement_keeps_mode_and_attributes() {
        let (dir, path) = file(b"old");
        std::fs::set_permissions(&path, Permissions::from_mode(0o750)).unwrap();
        let named = rustix::fs::setxattr(&path, "user.note", b"kept", XattrFlags::empty()).is_ok();
        let seen = seen(&path, b"old");
        let staged = stage(&path, ".t", b"newer").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert!(staged.commit(&seen).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"newer");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o750);
        if named {
            let mut value = vec![0; 16];
            let length = rustix::fs::getxattr(&path, "user.note", value.as_mut_slice()).unwrap();
            assert_eq!(&value[..length], b"kept");
        }
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn changed_file_is_not_replaced() {
        let (dir, path) = file(b"old");
        let seen = seen(&path, b"old");
        let staged = stage(&path, ".t", b"new").unwrap();
        std::fs::write(&path, b"mine").unwrap();
        assert!(!staged.commit(&seen).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn both_hard_links_are_replaced() {
        let (dir, path) = file(b"old");
        let other = dir.path().join("b.py");
        std::fs::hard_link(&path, &other).unwrap();
        let seen = [seen(&path, b"old"), seen(&other, b"old")];
        assert!(stage(&path, ".t", b"new").unwrap().commit(&seen[0]).unwrap());
        assert_eq!(std::fs::read(&other).unwrap(), b"old");
        assert!(stage(&other, ".t", b"new").unwrap().commit(&seen[1]).unwrap());
        assert_eq!(std::fs::read(&other).unwrap(), b"new");
        std::fs::write(&other, b"NEW").unwrap();
        std::fs::hard_link(&other, dir.path().join("c.py")).unwrap();
        assert!(!stage(&other, ".t", b"x").unwrap().commit(&seen[1]).unwrap());
    }

    #[test]
    fn links_and_missing_files_do_not_match() {
        let (dir, path) = file(b"old");
        let link = dir.path().join("link.py");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(match_content(&link, b"old").unwrap(), ContentMatch::No));
        assert!(matches!(
            match_content(&dir.path().join("none"), b"old").unwrap(),
            ContentMatch::No
        ));
        assert!(matches!(match_content(&path, b"Old").unwrap(), ContentMatch::No));
        assert_eq!(content(&path, 2).unwrap(), None);
    }
}
