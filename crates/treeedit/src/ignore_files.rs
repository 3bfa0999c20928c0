//! Checks the git files that the walk reads before it opens one: a pipe would block it, and a
//! device or a large file would fill the memory.
#![expect(clippy::disallowed_methods, reason = "examines files before the walk opens them")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use guard::file::{open_regular, read_bounded};

use super::walk::SkipReason;

/// Files with patterns in any directory.
const PATTERNS: [&str; 2] = [".gitignore", ".ignore"];
/// The largest file of patterns, in bytes.
const MAX_SIZE: u64 = 4 << 20;
/// The largest file with a path of git, in bytes.
const MAX_PATH: u64 = 8 << 10;

/// The first file of patterns in a directory that must not be opened, and the reason.
pub(crate) fn refuse(dir: &Path) -> Option<(PathBuf, SkipReason)> {
    let own = PATTERNS.iter().find_map(|name| refuse_file(&dir.join(name)));
    own.or_else(|| refuse_git(dir))
}

/// The same for the git files of a work tree.
fn refuse_git(dir: &Path) -> Option<(PathBuf, SkipReason)> {
    let git = dir.join(".git");
    let meta = git.symlink_metadata().ok()?;
    if meta.is_dir() || meta.is_symlink() {
        return refuse_file(&git.join("info/exclude"));
    }
    if let Some(refused) = refuse_file(&git) {
        return Some(refused);
    }
    // A linked work tree, or a submodule.
    let target = read_path(&git)?;
    let target = target.strip_prefix(b"gitdir: ")?;
    let target = dir.join(OsStr::from_bytes(target));
    let common = target.join("commondir");
    if let Some(refused) = refuse_file(&common) {
        return Some(refused);
    }
    let common = read_path(&common).map(|path| target.join(OsStr::from_bytes(&path)));
    refuse_file(&common.unwrap_or(target).join("info/exclude"))
}

fn refuse_file(path: &Path) -> Option<(PathBuf, SkipReason)> {
    // Links are followed, as by the readers of the file.
    let meta = path.metadata().ok()?;
    if !meta.is_file() {
        return Some((path.to_owned(), SkipReason::NotRegular));
    }
    (meta.len() > MAX_SIZE).then(|| (path.to_owned(), SkipReason::TooLarge(meta.len())))
}

/// The first line of a small file.
fn read_path(path: &Path) -> Option<Vec<u8>> {
    let bytes = read_bounded(&open_regular(path).ok()?, MAX_PATH).ok()??;
    bytes.split(|&byte| byte == b'\n').next().map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode};

    use super::*;

    fn pipe(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    }

    #[test]
    fn pipes_and_devices_are_found_before_they_are_opened() {
        for name in [".gitignore", ".ignore", ".git/info/exclude", ".git"] {
            let dir = tempfile::tempdir().unwrap();
            assert!(refuse(dir.path()).is_none());
            pipe(&dir.path().join(name));
            assert_eq!(refuse(dir.path()).unwrap().0, dir.path().join(name));
        }
        for name in ["commondir", "info/exclude"] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(".git"), "gitdir: real\n").unwrap();
            pipe(&dir.path().join("real").join(name));
            assert_eq!(refuse(dir.path()).unwrap().0, dir.path().join("real").join(name));
        }
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join(".ignore")).unwrap();
        assert_eq!(refuse(dir.path()).unwrap().1, SkipReason::NotRegular);
    }
}
