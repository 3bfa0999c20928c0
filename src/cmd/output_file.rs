//! Writes output files that the user named.
//!
//! A regular file is written next to its place and renamed, so that readers see the old or the new
//! content. Pipes and devices are written directly.
#![expect(clippy::disallowed_methods, reason = "writes files that the user named")]

use data::faults;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Seek as _, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Uid};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::cleanup::SignalGuard;

/// Maximum length of a chain of symbolic links.
const MAX_LINKS: usize = 40;

/// How a file is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplaceMode {
    /// By renaming if possible, else by writing into the file.
    RenameOrWrite,
    /// Only by renaming, because other programs may read the file at any time.
    RenameOnly,
}

/// The kind of file at an output path.
#[derive(Debug)]
enum Destination {
    /// Standard output under another name.
    Stdout,
    /// A device or a pipe.
    Stream,
    /// A regular file, by its canonical path.
    Existing(PathBuf, Metadata),
    /// No file yet, with all links resolved.
    New(PathBuf),
}

/// Replaces the file at `path` by what `fill` writes. If `fill` fails, the old content remains
/// where renaming is possible.
///
/// # Errors
///
/// With the reason why it cannot be written, without its name.
pub(super) fn replace(
    path: &Path,
    mode: ReplaceMode,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match find_destination(path)? {
        Destination::Stdout => write_buffered(io::stdout().lock(), fill),
        Destination::Stream => write_buffered(OpenOptions::new().write(true).open(path)?, fill),
        Destination::New(path) => {
            let mut file = temp_file_next_to(&path, 0o666)
                .map_err(|error| explain_missing_temp_file(error, &path))?;
            write_buffered(file.get_mut().as_file_mut(), fill)?;
            persist(file, &path)
        }
        Destination::Existing(path, meta) => {
            // A file without write permission is not replaced, even if its directory allows it.
            let mut old = open_for_writing(&path)?;
            match create_replacement(&path, &meta, mode)? {
                Some(mut file) => {
                    write_buffered(file.get_mut().as_file_mut(), fill)?;
                    file.get().as_file().set_permissions(permissions(meta.mode() & 0o7777))?;
                    persist(file, &path)
                }
                None => overwrite(&mut old, fill),
            }
        }
    }
}

/// Checks that [`replace`] can write to `path`, before the work whose result it holds.
///
/// # Errors
///
/// With the reason why not, as [`replace`].
pub(super) fn check_replaceable(path: &Path, mode: ReplaceMode) -> io::Result<()> {
    match find_destination(path)? {
        Destination::Stdout | Destination::Stream => Ok(()),
        Destination::New(path) => temp_file_next_to(&path, 0o600)
            .map(drop)
            .map_err(|error| explain_missing_temp_file(error, &path)),
        Destination::Existing(path, meta) => {
            open_for_writing(&path)?;
            create_replacement(&path, &meta, mode).map(drop)
        }
    }
}

fn find_destination(path: &Path) -> io::Result<Destination> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Destination::New(follow_links(path)));
        }
        Err(error) => return Err(error),
    };
    let stdout = rustix::fs::fstat(io::stdout());
    if meta.is_dir() {
        return Err(Errno::ISDIR.into());
    }
    // Opening it again would start at its beginning, and a socket cannot be opened.
    if stdout.is_ok_and(|own| (own.st_dev, own.st_ino) == (meta.dev(), meta.ino())) {
        return Ok(Destination::Stdout);
    }
    // The canonical path, so that a symbolic link stays a link.
    Ok(if meta.is_file() {
        Destination::Existing(path.canonicalize()?, meta)
    } else {
        Destination::Stream
    })
}

/// Returns the target of a dangling chain of links.
fn follow_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = parent_dir(&path).join(target);
    }
    path
}

fn open_for_writing(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Creates a temporary file with the owner and group of `path`. Returns `None` if `path` itself
/// has to be overwritten.
fn create_replacement(
    path: &Path,
    meta: &Metadata,
    mode: ReplaceMode,
) -> io::Result<Option<SignalGuard<NamedTempFile>>> {
    let file = match temp_file_next_to(path, 0o600) {
        Ok(file) => file,
        Err(error) if !is_forbidden(&error) => return Err(error),
        Err(_) if mode == ReplaceMode::RenameOrWrite => return Ok(None),
        Err(error) => {
            let error = explain_missing_temp_file(error, path);
            return Err(io::Error::new(
                error.kind(),
                faults::ReplacedByRenaming { why: &error }.fault(),
            ));
        }
    };
    let own = file.get().as_file().metadata()?;
    if (own.uid(), own.gid()) == (meta.uid(), meta.gid()) {
        return Ok(Some(file));
    }
    let (uid, gid) = (Uid::from_raw(meta.uid()), Gid::from_raw(meta.gid()));
    let own = file.get().as_file();
    let kept = rustix::fs::fchown(own, Some(uid), Some(gid)).is_ok();
    if !kept && mode == ReplaceMode::RenameOnly {
        let _ = rustix::fs::fchown(own, None, Some(gid));
    }
    Ok((kept || mode == ReplaceMode::RenameOnly).then_some(file))
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Creates a temporary file in the directory of `path`.
fn temp_file_next_to(path: &Path, bits: u32) -> io::Result<SignalGuard<NamedTempFile>> {
    let dir = parent_dir(path);
    let make = || tempfile::Builder::new().permissions(permissions(bits)).tempfile_in(dir);
    SignalGuard::new(make, NamedTempFile::path).map_err(strip_temp_path)
}

/// Names the directory of `path` in an error that it caused.
fn explain_missing_temp_file(error: io::Error, path: &Path) -> io::Error {
    if !is_forbidden(&error) {
        return error;
    }
    let dir = parent_dir(path).display();
    io::Error::new(error.kind(), faults::NoNewFileIn { dir, why: &error }.fault())
}

fn parent_dir(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn persist(file: SignalGuard<NamedTempFile>, path: &Path) -> io::Result<()> {
    file.end(|file| file.persist(path)).map(drop).map_err(|error| error.error)
}

fn write_buffered(
    out: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    fill(&mut out)?;
    out.flush()
}

/// Overwrites the content of a file. The new content is generated first, so that a failure keeps
/// the old one.
fn overwrite(
    old: &mut File,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut made = tempfile::tempfile().map_err(strip_temp_path)?;
    write_buffered(&mut made, fill)?;
    made.rewind()?;
    old.set_len(0)?;
    io::copy(&mut made, old)?;
    Ok(())
}

fn permissions(bits: u32) -> Permissions {
    Permissions::from_mode(bits)
}

/// Creates a temporary directory with access only for its owner. It is removed on drop and at a
/// signal.
pub(super) fn create_private_dir() -> anyhow::Result<SignalGuard<tempfile::TempDir>> {
    let make = || tempfile::Builder::new().permissions(permissions(0o700)).tempdir();
    SignalGuard::new(make, tempfile::TempDir::path).map_err(|error| {
        let dir = std::env::temp_dir();
        faults::CannotMakeRecordingDirectory { dir }.fault().because(strip_temp_path(error)).into()
    })
}

/// Removes the random file name that `tempfile` adds to an error.
fn strip_temp_path(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => Errno::NOENT.into(),
        io::ErrorKind::NotADirectory => Errno::NOTDIR.into(),
        io::ErrorKind::PermissionDenied => Errno::ACCESS.into(),
        io::ErrorKind::ReadOnlyFilesystem => Errno::ROFS.into(),
        io::ErrorKind::StorageFull => Errno::NOSPC.into(),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o7777
    }

    fn write(path: &Path, text: &str) {
        replace(path, ReplaceMode::RenameOrWrite, |out| out.write_all(text.as_bytes())).unwrap();
    }

    #[test]
    fn replaced_file_keeps_mode_and_link_target() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("f"), "old").unwrap();
        for bits_wanted in [0o600, 0o640, 0o664] {
            std::fs::set_permissions(at("f"), permissions(bits_wanted)).unwrap();
            write(&at("f"), "new");
            assert_eq!(bits(&at("f")), bits_wanted);
        }
        std::os::unix::fs::symlink("f", at("link")).unwrap();
        std::os::unix::fs::symlink("link", at("more")).unwrap();
        write(&at("more"), "through");
        assert_eq!(std::fs::read_link(at("more")).unwrap(), Path::new("link"));
        assert_eq!(std::fs::read_link(at("link")).unwrap(), Path::new("f"));
        assert_eq!(std::fs::read_to_string(at("f")).unwrap(), "through");
        std::os::unix::fs::symlink("to come", at("new")).unwrap();
        write(&at("new"), "there");
        assert_eq!(std::fs::read_to_string(at("to come")).unwrap(), "there");
        assert!(
            replace(dir.path(), ReplaceMode::RenameOrWrite, |_| Ok(())).is_err(),
            "a directory"
        );
    }

    #[test]
    fn failed_write_leaves_old_file_and_no_temp_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "old").unwrap();
        assert!(
            replace(&file, ReplaceMode::RenameOrWrite, |_| Err(io::Error::other("no"))).is_err()
        );
        let mut opened = open_for_writing(&file).unwrap();
        assert!(overwrite(&mut opened, |_| Err(io::Error::other("no"))).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        overwrite(&mut opened, |out| out.write_all(b"n")).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "n");
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }
}
