//! Runs the program as an unprivileged user, because permissions have no effect on tests run as
//! root.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::new_without_default,
    reason = "shared by test binaries, which take what they need"
)]

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A user and a group that own nothing.
pub const NOBODY: u32 = 65534;

/// A directory that is accessible to all users, with a copy of the program.
pub struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// Copies the program, because the build directory may be accessible only to its owner.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path(), open.clone()).unwrap();
        let program = dir.path().join("ascend-doctor");
        // By a child process: a file opened for writing in this process would also be open in
        // children of other threads, and could not be executed (ETXTBSY).
        let built = assert_cmd::cargo::cargo_bin("ascend-doctor");
        assert!(Command::new("cp").arg(built).arg(&program).status().unwrap().success());
        std::fs::set_permissions(&program, open.clone()).unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        std::fs::set_permissions(dir.path().join("work"), open).unwrap();
        Self { dir }
    }

    /// The working directory with the files of a test.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// The program in the working directory, run as `nobody`.
    pub fn program(&self) -> Command {
        let mut command = Command::new(self.dir.path().join("ascend-doctor"));
        command.env_clear().current_dir(self.work());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

/// Gives a path and everything below it to `nobody`; a test that is not root already owns it.
pub fn give(path: &Path) {
    if !is_root() {
        return;
    }
    for entry in walkdir::WalkDir::new(path) {
        std::os::unix::fs::lchown(entry.unwrap().path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// Gives one file or directory to a user and a group; only root can.
pub fn own(path: &Path, user: u32, group: u32) {
    chown(path, Some(user), Some(group)).unwrap();
}

/// Whether the test runs as root, which can give files away and read closed files.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Sets the mode of a path.
pub fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
