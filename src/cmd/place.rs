//! Where a file goes that the user asked for: beside its place and then into it, or straight into
//! what is no regular file.
#![expect(clippy::disallowed_methods, reason = "writes files that the user named")]

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Seek as _, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Uid};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::leftovers::Watched;

/// How many symbolic links lead on.
const LINKS: usize = 40;

/// What a file is replaced by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// By renaming where that is possible, else by writing into it.
    Any,
    /// By renaming alone: others read it meanwhile.
    Renamed,
}

/// What is at the place of an output.
#[derive(Debug)]
enum Place {
    /// Standard output, by one of its other names.
    Stdout,
    /// A device, a pipe: it is written to as it is.
    Stream,
    /// A file, by its own path.
    There(PathBuf, Metadata),
    /// Nothing, at the end of all links.
    New(PathBuf),
}

/// Lets `fill` write what is at `path` afterwards: as a whole, or not at all where that can be.
///
/// # Errors
///
/// With the reason why it cannot be written, without its name.
pub(super) fn replace(
    path: &Path,
    manner: Manner,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match find(path)? {
        Place::Stdout => buffered(io::stdout().lock(), fill),
        Place::Stream => buffered(OpenOptions::new().write(true).open(path)?, fill),
        Place::New(path) => {
            let mut file = beside(&path, 0o666).map_err(|error| no_room(error, &path))?;
            buffered(file.get_mut().as_file_mut(), fill)?;
            persist(file, &path)
        }
        Place::There(path, meta) => {
            // What may not be written is not replaced either, although its directory allows it.
            let mut old = writable(&path)?;
            match like(&path, &meta, manner)? {
                Some(mut file) => {
                    buffered(file.get_mut().as_file_mut(), fill)?;
                    file.get().as_file().set_permissions(mode(meta.mode() & 0o7777))?;
                    persist(file, &path)
                }
                None => into(&mut old, fill),
            }
        }
    }
}

/// Whether something can be written at `path`, told before the work that it is to hold.
///
/// # Errors
///
/// With the reason why not, as [`replace`].
pub(super) fn replaceable(path: &Path, manner: Manner) -> io::Result<()> {
    match find(path)? {
        Place::Stdout | Place::Stream => Ok(()),
        Place::New(path) => beside(&path, 0o600).map(drop).map_err(|error| no_room(error, &path)),
        Place::There(path, meta) => {
            writable(&path)?;
            like(&path, &meta, manner).map(drop)
        }
    }
}

fn find(path: &Path) -> io::Result<Place> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Place::New(end(path))),
        Err(error) => return Err(error),
    };
    let stdout = rustix::fs::fstat(io::stdout());
    if meta.is_dir() {
        return Err(Errno::ISDIR.into());
    }
    // Opened once more it would begin anew, and a socket cannot be opened.
    if stdout.is_ok_and(|own| (own.st_dev, own.st_ino) == (meta.dev(), meta.ino())) {
        return Ok(Place::Stdout);
    }
    // By its own path, so that a link keeps leading to it.
    Ok(if meta.is_file() { Place::There(path.canonicalize()?, meta) } else { Place::Stream })
}

/// Where a link leads that leads to nothing yet.
fn end(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = directory(&path).join(target);
    }
    path
}

fn writable(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// A file beside `path` that will have owner and group of the one there; none where it has to be
/// written to as it is.
fn like(
    path: &Path,
    meta: &Metadata,
    manner: Manner,
) -> io::Result<Option<Watched<NamedTempFile>>> {
    let file = match beside(path, 0o600) {
        Ok(file) => file,
        Err(error) if !is_forbidden(&error) => return Err(error),
        Err(_) if manner == Manner::Any => return Ok(None),
        Err(error) => {
            let error = no_room(error, path);
            return Err(io::Error::new(
                error.kind(),
                format!("a file that others read is replaced by renaming a new one: {error}"),
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
    if !kept && manner == Manner::Renamed {
        let _ = rustix::fs::fchown(own, None, Some(gid));
    }
    Ok((kept || manner == Manner::Renamed).then_some(file))
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// A file that goes by itself, in the directory of `path`.
fn beside(path: &Path, bits: u32) -> io::Result<Watched<NamedTempFile>> {
    let dir = directory(path);
    let make = || tempfile::Builder::new().permissions(mode(bits)).tempfile_in(dir);
    Watched::new(make, NamedTempFile::path).map_err(without_path)
}

/// Why there is no file beside `path`: it is the directory that does not allow it.
fn no_room(error: io::Error, path: &Path) -> io::Error {
    if !is_forbidden(&error) {
        return error;
    }
    let dir = directory(path).display();
    io::Error::new(error.kind(), format!("no file can be made in `{dir}`: {error}"))
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn persist(file: Watched<NamedTempFile>, path: &Path) -> io::Result<()> {
    file.end(|file| file.persist(path)).map(drop).map_err(|error| error.error)
}

fn buffered(
    out: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    fill(&mut out)?;
    out.flush()
}

/// Writes into a file as it is. What it is to hold is made before: what it held is lost only when
/// there is something for it.
fn into(old: &mut File, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut made = tempfile::tempfile().map_err(without_path)?;
    buffered(&mut made, fill)?;
    made.rewind()?;
    old.set_len(0)?;
    io::copy(&mut made, old)?;
    Ok(())
}

fn mode(bits: u32) -> Permissions {
    Permissions::from_mode(bits)
}

/// A directory for what only this run and its owner may read. It goes with this, and at a signal.
pub(super) fn staging() -> anyhow::Result<Watched<tempfile::TempDir>> {
    let make = || tempfile::Builder::new().permissions(mode(0o700)).tempdir();
    Watched::new(make, tempfile::TempDir::path).map_err(|error| {
        let dir = std::env::temp_dir();
        anyhow::Error::from(without_path(error)).context(format!(
            "cannot make a directory for the recording in `{}`; TMPDIR names another place",
            dir.display()
        ))
    })
}

/// What the system said, without the name that `tempfile` made up and that nobody knows.
fn without_path(error: io::Error) -> io::Error {
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
        replace(path, Manner::Any, |out| out.write_all(text.as_bytes())).unwrap();
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_link_its_target() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("f"), "old").unwrap();
        for bits_wanted in [0o600, 0o640, 0o664] {
            std::fs::set_permissions(at("f"), mode(bits_wanted)).unwrap();
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
        assert!(replace(dir.path(), Manner::Any, |_| Ok(())).is_err(), "a directory");
    }

    #[test]
    fn what_fails_leaves_the_file_and_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "old").unwrap();
        assert!(replace(&file, Manner::Any, |_| Err(io::Error::other("no"))).is_err());
        let mut opened = writable(&file).unwrap();
        assert!(into(&mut opened, |_| Err(io::Error::other("no"))).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        into(&mut opened, |out| out.write_all(b"n")).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "n");
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }
}
