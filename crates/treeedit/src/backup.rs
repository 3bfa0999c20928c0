//! Copies of the originals beside the files (`--backup`).
#![expect(
    clippy::disallowed_methods,
    reason = "writes the tree that is converted; no machine is examined"
)]

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// So many earlier backups of one file are stepped over.
const MAX_BACKUPS: u32 = 1000;

/// Writes `content`, what `path` holds, to `path.bak`, or to `path.bak.1` and so on: an
/// existing backup is never replaced. Returns where.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<PathBuf> {
    for number in 0..MAX_BACKUPS {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 0 {
            OsString::from(".bak")
        } else {
            format!(".bak.{number}").into()
        });
        let place = PathBuf::from(name);
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => other?,
        };
        let filled = file
            .write_all(content)
            .and_then(|()| file.set_permissions(path.metadata()?.permissions()))
            .and_then(|()| file.sync_all());
        if let Err(error) = filled {
            remove(&place);
            return Err(error);
        }
        return Ok(place);
    }
    Err(io::Error::other(data::faults::TooManyBackups { limit: MAX_BACKUPS }.fault()))
}

/// Takes a backup away again: the run failed.
pub(crate) fn remove(place: &Path) {
    let _ = std::fs::remove_file(place);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backup_never_overwrites_a_backup() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.py");
        std::fs::write(&path, "1").unwrap();
        assert_eq!(write(&path, b"1").unwrap(), dir.path().join("a.py.bak"));
        assert_eq!(write(&path, b"2").unwrap(), dir.path().join("a.py.bak.1"));
        assert_eq!(std::fs::read(dir.path().join("a.py.bak")).unwrap(), b"1");
        assert_eq!(std::fs::read(dir.path().join("a.py.bak.1")).unwrap(), b"2");
    }
}
