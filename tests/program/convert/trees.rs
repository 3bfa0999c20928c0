//! Trees of sources, the program run on them, and the resulting content.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A source with one place to change, and its result.
pub(crate) const BEFORE: &str = "import torch\nx = torch.zeros(1, device='cuda')\n";
pub(crate) const AFTER: &str = "import torch\nimport torch_npu\nx = torch.zeros(1, device='npu')\n";

/// A directory with files in it.
pub(crate) struct Tree {
    dir: TempDir,
}

/// The content of a tree: path, then content with mode, or the target of a link.
pub(crate) type Content = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Tree {
    /// A tree of `files` below `project/`.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(tree.root()).unwrap();
        for (name, text) in files {
            tree.write(name, text.as_bytes());
        }
        tree
    }

    /// The root that is converted.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// The directory around the root.
    pub(crate) fn around(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// The content of the root, without the journal.
    pub(crate) fn content(&self) -> Content {
        let mut content = content_of(&self.root());
        content.retain(|path, _| !path.starts_with(".ascend-doctor"));
        content
    }

    /// Runs `convert -r project` with further arguments, next to the root.
    pub(crate) fn convert(&self, args: &[&str]) -> Run {
        let mut all = vec!["-r", "project"];
        all.extend_from_slice(args);
        self.run(&all)
    }

    /// Runs `convert` next to the root.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command().args(args).output().unwrap())
    }

    /// A command that runs `convert` next to the root.
    pub(crate) fn command(&self) -> Command {
        let mut command = program();
        command.current_dir(self.around()).arg("convert");
        command
    }
}

/// All entries below a directory.
pub(crate) fn content_of(root: &Path) -> Content {
    let mut content = Content::new();
    for entry in walkdir::WalkDir::new(root).min_depth(1) {
        let entry = entry.unwrap();
        let meta = entry.path().symlink_metadata().unwrap();
        let bytes = if meta.is_symlink() {
            use std::os::unix::ffi::OsStrExt as _;
            std::fs::read_link(entry.path()).unwrap().as_os_str().as_bytes().to_vec()
        } else if meta.is_file() {
            std::fs::read(entry.path()).unwrap()
        } else {
            Vec::new()
        };
        let relative = entry.path().strip_prefix(root).unwrap().to_owned();
        content.insert(relative, (meta.permissions().mode(), bytes));
    }
    content
}

/// The program in an environment without variables that change its output.
pub(crate) fn program() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("ascend-doctor"));
    command.env_clear().env("ASCEND_DOCTOR_NOW", "1795392000");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// The result of a run.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Asserts the status, and shows all output on failure.
    #[track_caller]
    pub(crate) fn ended(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that the output contains `words`.
    #[track_caller]
    pub(crate) fn said(self, words: &str) -> Self {
        // Reports wrap lines.
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let all = format!("{} {}", flat(&self.stdout), flat(&self.stderr));
        assert!(all.contains(words), "nobody said `{words}`:\n{}\n{}", self.stdout, self.stderr);
        self
    }
}
