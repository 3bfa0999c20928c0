//! Opens regular files. Pipes, sockets and devices are refused before anything waits for them.
#![expect(clippy::disallowed_methods, reason = "this is the layer that the others use")]

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

/// `NONBLOCK`, because opening a pipe without a writer would wait for one.
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The error for a pipe, a socket, a device or a directory.
pub fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, NotRegular)
}

/// Returns whether an error is that of [`not_regular`].
pub fn is_not_regular(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<NotRegular>()).is_some()
}

#[derive(Debug)]
struct NotRegular;

impl std::fmt::Display for NotRegular {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not a regular file")
    }
}

impl std::error::Error for NotRegular {}

/// Opens a regular file in an open directory; a link is not followed.
pub(crate) fn open_at(dir: impl AsFd, name: &Path) -> io::Result<File> {
    let file = rustix::fs::openat(dir, name, READ | OFlags::NOFOLLOW, Mode::empty());
    // A socket cannot be opened at all.
    regular(File::from(file.map_err(|errno| match errno {
        Errno::NXIO => not_regular(),
        errno => errno.into(),
    })?))
}

/// Opens the regular file at a path. Links are followed: use it for paths of the user.
///
/// # Errors
///
/// It does not exist, cannot be read or is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = rustix::fs::open(path, READ, Mode::empty());
    regular(File::from(file.map_err(|errno| match errno {
        Errno::NXIO => not_regular(),
        errno => errno.into(),
    })?))
}

fn regular(file: File) -> io::Result<File> {
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(file),
        _ => Err(not_regular()),
    }
}

/// Reads at most `limit` bytes of a file; `None` if it has more.
///
/// # Errors
///
/// It cannot be read.
pub fn read_bounded(file: &File, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "12345").unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        for name in ["pipe", "socket"] {
            assert!(is_not_regular(&open_regular(&at(name)).unwrap_err()), "{name}");
        }
        for path in [dir.path(), Path::new("/dev/null"), Path::new("/dev/zero")] {
            assert!(is_not_regular(&open_regular(path).unwrap_err()), "{}", path.display());
        }
        let file = open_regular(&at("link")).unwrap();
        assert_eq!(read_bounded(&file, 4).unwrap(), None);
        let file = open_regular(&at("file")).unwrap();
        assert_eq!(read_bounded(&file, 5).unwrap().unwrap(), b"12345");
        let handle = File::open(dir.path()).unwrap();
        assert!(open_at(&handle, Path::new("link")).is_err());
        assert!(open_at(&handle, Path::new("file")).is_ok());
    }
}
