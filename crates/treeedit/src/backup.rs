//! Copies of the originals next to the files (`--backup`).

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use guard::tree::{Place, Tree};
use rustix::fs::Mode;

/// The maximum number of existing backups of one file.
const MAX_BACKUPS: u32 = 1000;

/// Writes `content`, the content of the file `relative`, to `relative.bak`, or to `relative.bak.1`
/// and so on: an existing backup is never replaced. Returns the path below the root.
pub(crate) fn write(tree: &Tree, relative: &Path, content: &[u8]) -> io::Result<PathBuf> {
    let place = tree.place(relative)?;
    let mode = place.dir.stat(&place.name)?.st_mode & 0o7777;
    for number in 0..MAX_BACKUPS {
        let mut name = place.name.clone();
        name.push(if number == 0 {
            OsString::from(".bak")
        } else {
            format!(".bak.{number}").into()
        });
        let mut file = match place.dir.create_new(&name, 0o600) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => other?,
        };
        let filled = file
            .write_all(content)
            .and_then(|()| Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?))
            .and_then(|()| file.sync_all());
        if let Err(error) = filled {
            let _ = place.dir.remove_file(&name);
            return Err(error);
        }
        return Ok(relative.with_file_name(name));
    }
    Err(io::Error::other(data::faults::TooManyBackups { limit: MAX_BACKUPS }.fault()))
}

/// Removes a backup of a failed run.
pub(crate) fn remove(tree: &Tree, relative: &Path) {
    if let Ok(Place { dir, name }) = tree.place(relative) {
        let _ = dir.remove_file(&name);
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "builds trees on disk")]
mod tests {
    use super::*;

    #[test]
    fn backup_never_overwrites_a_backup() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.py"), "1").unwrap();
        let tree = Tree::new(guard::named::open_dir(dir.path()).unwrap());
        let path = Path::new("a.py");
        assert_eq!(write(&tree, path, b"1").unwrap(), Path::new("a.py.bak"));
        assert_eq!(write(&tree, path, b"2").unwrap(), Path::new("a.py.bak.1"));
        assert_eq!(std::fs::read(dir.path().join("a.py.bak")).unwrap(), b"1");
        assert_eq!(std::fs::read(dir.path().join("a.py.bak.1")).unwrap(), b"2");
    }
}
