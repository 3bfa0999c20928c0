//! Replaces the content of one file so that at any moment it is the old one or the new one.
//!
//! Files are named by their path below an open root: see [`guard::tree`]. Between two steps the
//! directory is looked up again, so that a tree may have more directories than a process may open.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use guard::file::{is_not_regular, read_bounded};
use guard::tree::{Place, Tree};
use rustix::fs::{Advice, Gid, Mode, Stat, Uid, XattrFlags};

use super::denial::Denial;

/// A file with several names, before it was replaced under one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HardLinks {
    /// The device and the number of the file.
    pub file: (u64, u64),
    /// The number of names that it had.
    pub names: u64,
}

/// Metadata of a file when its content was compared; shows whether it was written to since.
#[derive(Debug, Clone)]
pub(crate) struct FileState {
    stat: Stat,
}

/// New content in a synced temporary file next to the file that it replaces.
#[derive(Debug)]
pub(crate) struct Replacement<'a> {
    tree: &'a Tree,
    target: &'a Path,
    temporary: String,
}

/// Result of comparing a file with an expected content.
#[derive(Debug)]
pub(crate) enum ContentMatch {
    /// Equal; the state shows later whether the file changed.
    Yes(FileState),
    /// Different, not a regular file, or gone.
    No,
}

/// Compares the regular file `place` with `content`.
pub(crate) fn match_content(place: &Place, content: &[u8]) -> io::Result<ContentMatch> {
    let file = match place.dir.open(&place.name) {
        Ok(file) => file,
        Err(error) if is_gone(&error) => return Ok(ContentMatch::No),
        Err(error) => return Err(error),
    };
    let stat = rustix::fs::fstat(&file)?;
    if u64::try_from(stat.st_size) != Ok(content.len() as u64) {
        return Ok(ContentMatch::No);
    }
    let bytes = read_bounded(&file, content.len() as u64)?;
    let equal = bytes.is_some_and(|bytes| bytes == content);
    Ok(if equal { ContentMatch::Yes(FileState { stat }) } else { ContentMatch::No })
}

/// The content of a regular file, up to `limit` bytes; `None` if it is gone, larger, or not a
/// regular file.
pub(crate) fn content(place: &Place, limit: u64) -> io::Result<Option<Vec<u8>>> {
    match place.dir.open(&place.name) {
        Ok(file) => read_bounded(&file, limit),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error means that the file no longer exists: it, or a directory above it, was removed
/// or replaced by a link or by something else.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
        || is_not_regular(error)
}

impl FileState {
    /// The reason why the user cannot replace the file, as far as it is known beforehand. `path` is
    /// shown.
    pub(crate) fn denied(&self, place: &Place, path: &Path) -> Option<Denial> {
        Denial::foresee(place, path, &self.stat)
    }

    /// The identity of the file, and the number of its names.
    pub(crate) fn linked(&self) -> HardLinks {
        let file = (self.stat.st_dev, self.stat.st_ino);
        HardLinks { file, names: names_of(&self.stat) }
    }
}

#[allow(clippy::useless_conversion, reason = "the type differs between architectures")]
fn names_of(stat: &Stat) -> u64 {
    u64::from(stat.st_nlink)
}

/// Returns the permission bits of a compared file.
pub(crate) fn mode_of(seen: &FileState) -> u32 {
    seen.stat.st_mode & 0o7777
}

/// New content in a temporary file next to the file that it replaces; perhaps not synced yet.
#[derive(Debug)]
pub(crate) struct StagedFile<'a> {
    staged: Replacement<'a>,
    file: File,
}

/// Writes `content` next to `target` under the name `temporary`, with the mode, the owner and the
/// extended attributes of the existing file, and waits until the disk has it. If owner or group
/// cannot be kept, nothing is written, and the error is a [`Denial`].
pub(crate) fn stage<'a>(
    tree: &'a Tree,
    target: &'a Path,
    temporary: &str,
    content: &[u8],
) -> io::Result<Replacement<'a>> {
    stage_unsynced(tree, target, temporary, content)?.settle()
}

/// Does the same as [`stage`] without waiting for the disk: a caller that stages several files and
/// then waits for each waits about as long as for one.
pub(crate) fn stage_unsynced<'a>(
    tree: &'a Tree,
    target: &'a Path,
    temporary: &str,
    content: &[u8],
) -> io::Result<StagedFile<'a>> {
    let place = tree.place(target)?;
    let temporary_name = OsStr::new(temporary);
    place.dir.remove_if_present(temporary_name)?;
    let mut file = place.dir.create_new(temporary_name, 0o600)?;
    let staged = Replacement { tree, target, temporary: temporary.to_owned() };
    let filled = (|| {
        file.write_all(content)?;
        if let Ok(old) = place.dir.open(&place.name) {
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
            let _ = place.dir.remove_file(temporary_name);
            Err(error)
        }
    }
}

/// Makes the kernel start writing the content of a file. The documented purpose of this advice is
/// to drop written pages, but Linux first starts to write them.
pub(crate) fn begin_writing(file: &File) {
    // Without this advice, it only takes longer.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
}

impl<'a> StagedFile<'a> {
    /// Sets the permission bits. The set-user-ID, set-group-ID and sticky bits are not among them:
    /// they stay as on the replaced file, even if the journal of an untrusted tree has other ones.
    pub(crate) fn set_permissions(&self, mode: u32) -> io::Result<()> {
        let set = rustix::fs::fstat(&self.file).and_then(|about| {
            let kept = about.st_mode & 0o7000;
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode & 0o777 | kept))
        });
        set.map_err(|errno| {
            self.staged.discard();
            errno.into()
        })
    }

    /// Waits until the disk has the content.
    pub(crate) fn settle(self) -> io::Result<Replacement<'a>> {
        match self.file.sync_all() {
            Ok(()) => Ok(self.staged),
            Err(error) => {
                self.staged.discard();
                Err(error)
            }
        }
    }
}

/// Gives `new` the owner, the extended attributes (including access lists) and the mode of `old`.
fn keep_attributes(old: &File, new: &File) -> io::Result<()> {
    let about = rustix::fs::fstat(old)?;
    let own = rustix::fs::fstat(new)?;
    if (own.st_uid, own.st_gid) != (about.st_uid, about.st_gid) {
        // This fails for users who are neither superuser nor member of the group: the owner of a
        // file determines who may read and write it, and a conversion must not change it.
        let owner = (Uid::from_raw(about.st_uid), Gid::from_raw(about.st_gid));
        rustix::fs::fchown(new, Some(owner.0), Some(owner.1))
            .map_err(|_| io::Error::from(Denial::of_ownership(&about, &own)))?;
    }
    // Most files have none or a few, and the kernel clears the complete buffer.
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
            // Some are reserved for the kernel or the superuser.
            let _ = rustix::fs::fsetxattr(new, name, &value[..length], XattrFlags::empty());
        }
    }
    Ok(rustix::fs::fchmod(new, Mode::from_raw_mode(about.st_mode & 0o7777))?)
}

impl Replacement<'_> {
    /// Moves the content to its place, if the file there is still the one that was `seen`. Returns
    /// `false` if it is another one, which stays.
    pub(crate) fn commit(self, seen: &FileState) -> io::Result<bool> {
        let place = self.tree.place(self.target)?;
        let unchanged = place.dir.stat(&place.name).is_ok_and(|now| same(&now, &seen.stat));
        if !unchanged {
            self.discard();
            return Ok(false);
        }
        self.force().map(|()| true)
    }

    /// Moves the content to its place, replacing any existing file.
    pub(crate) fn force(self) -> io::Result<()> {
        let place = self.tree.place(self.target)?;
        let temporary = OsStr::new(&self.temporary);
        place.dir.rename(temporary, &place.name).inspect_err(|_| self.discard())
    }

    /// Removes the content.
    pub(crate) fn discard(&self) {
        if let Ok(place) = self.tree.place(self.target) {
            let _ = place.dir.remove_file(OsStr::new(&self.temporary));
        }
    }
}

fn same(a: &Stat, b: &Stat) -> bool {
    let identity = |stat: &Stat| {
        (
            (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mode),
            (stat.st_mtime, stat.st_mtime_nsec, stat.st_uid, stat.st_gid),
        )
    };
    // Removing another name also changes this time: the same file may be in the tree twice, and its
    // other name already has its new content.
    let touched = |stat: &Stat| (stat.st_ctime, stat.st_ctime_nsec);
    identity(a) == identity(b) && (touched(a) == touched(b) || a.st_nlink < b.st_nlink)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "builds trees on disk")]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use super::*;

    fn file(content: &[u8]) -> (tempfile::TempDir, Tree, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.py");
        std::fs::write(&path, content).unwrap();
        let tree = Tree::new(guard::named::open_dir(dir.path()).unwrap());
        (dir, tree, path)
    }

    const NAME: &str = "a.py";

    fn matched(tree: &Tree, name: &str, content: &[u8]) -> ContentMatch {
        match_content(&tree.place(Path::new(name)).unwrap(), content).unwrap()
    }

    fn seen(tree: &Tree, name: &str, content: &[u8]) -> FileState {
        match matched(tree, name, content) {
            ContentMatch::Yes(seen) => seen,
            ContentMatch::No => panic!("{name} holds something else"),
        }
    }

    fn staged<'a>(tree: &'a Tree, name: &'a str, content: &[u8]) -> Replacement<'a> {
        stage(tree, Path::new(name), ".t", content).unwrap()
    }

    #[test]
    fn replacement_keeps_mode_and_attributes() {
        let (dir, tree, path) = file(b"old");
        std::fs::set_permissions(&path, Permissions::from_mode(0o750)).unwrap();
        let named = rustix::fs::setxattr(&path, "user.note", b"kept", XattrFlags::empty()).is_ok();
        let seen = seen(&tree, NAME, b"old");
        let staged = staged(&tree, NAME, b"newer");
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
        let (dir, tree, path) = file(b"old");
        let seen = seen(&tree, NAME, b"old");
        let staged = staged(&tree, NAME, b"new");
        std::fs::write(&path, b"mine").unwrap();
        assert!(!staged.commit(&seen).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn both_hard_links_are_replaced() {
        let (dir, tree, path) = file(b"old");
        let other = dir.path().join("b.py");
        std::fs::hard_link(&path, &other).unwrap();
        let seen = [seen(&tree, NAME, b"old"), seen(&tree, "b.py", b"old")];
        assert!(staged(&tree, NAME, b"new").commit(&seen[0]).unwrap());
        assert_eq!(std::fs::read(&other).unwrap(), b"old");
        assert!(staged(&tree, "b.py", b"new").commit(&seen[1]).unwrap());
        assert_eq!(std::fs::read(&other).unwrap(), b"new");
        std::fs::write(&other, b"NEW").unwrap();
        std::fs::hard_link(&other, dir.path().join("c.py")).unwrap();
        assert!(!staged(&tree, "b.py", b"x").commit(&seen[1]).unwrap());
    }

    #[test]
    fn links_and_missing_files_do_not_match() {
        let (dir, tree, path) = file(b"old");
        std::os::unix::fs::symlink(&path, dir.path().join("link.py")).unwrap();
        for (name, text) in [("link.py", b"old"), ("none", b"old"), (NAME, b"Old")] {
            assert!(matches!(matched(&tree, name, text), ContentMatch::No), "{name}");
        }
        assert_eq!(content(&tree.place(Path::new(NAME)).unwrap(), 2).unwrap(), None);
    }
}
