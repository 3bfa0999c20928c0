//! Runs the command lines of a case in a new working directory.
//!
//! All programs run at the same path, one after the other, and the directory is renamed afterwards.
//! So paths in the output, and line breaks that depend on their lengths, are equal without
//! normalization.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use walkdir::WalkDir;

use super::case::{Case, Input};
use super::program::Program;
use crate::process::{Output, Status};

/// The outputs of a case and its working directory.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) outputs: Vec<Output>,
    pub(crate) tree: PathBuf,
}

impl Observation {
    /// Returns whether a command line exceeded the time limit.
    pub(crate) fn timed_out(&self) -> bool {
        self.outputs.iter().any(|output| output.status == Status::TimedOut)
    }

    /// Returns whether a command line was rejected as wrong usage.
    pub(crate) fn refused(&self) -> bool {
        self.outputs.iter().any(|output| output.status == Status::Exited(2))
    }
}

/// Name of the working directory below the place of a case.
pub(crate) const WORK: &str = "work";

/// Runs a case and keeps its working directory as `place/name`.
pub(crate) fn observe(
    program: &Program,
    case: &Case,
    place: &Path,
    name: &str,
) -> Result<Observation> {
    let work = place.join(WORK);
    std::fs::create_dir_all(&work)?;
    for input in &case.inputs {
        match input {
            Input::File { name, content } => {
                let path = work.join(name);
                if let Some(parent) = path.parent() {
                    std::fs::create_dir_all(parent)?;
                }
                std::fs::write(&path, content)?;
            }
            Input::Copy { name, from } => copy(from, &work.join(name))?,
        }
    }
    let mut outputs = Vec::new();
    for step in &case.steps {
        let output = program.run(case, step, &work)?;
        let ended = output.status == Status::TimedOut;
        outputs.push(output);
        if ended {
            break;
        }
    }
    let tree = place.join(name);
    std::fs::rename(&work, &tree)?;
    Ok(Observation { outputs, tree })
}

/// Copies a file or directory with modes and symbolic links. Files are never hard links, because
/// `convert` reports files with several names.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    let cannot = |path: &Path| format!("cannot copy `{}`", path.display());
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let path = entry.path();
        let target = match path.strip_prefix(from) {
            Ok(rest) if !rest.as_os_str().is_empty() => to.join(rest),
            _ => to.to_owned(),
        };
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(&target).with_context(|| cannot(path))?;
        } else if entry.file_type().is_symlink() {
            let link = std::fs::read_link(path)?;
            std::os::unix::fs::symlink(link, &target).with_context(|| cannot(path))?;
        } else if entry.file_type().is_file() {
            std::fs::copy(path, &target).with_context(|| cannot(path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_keep_links_and_modes() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        std::fs::create_dir_all(from.join("a")).unwrap();
        std::fs::write(from.join("a/run.sh"), "x").unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(from.join("a/run.sh"), mode).unwrap();
        std::os::unix::fs::symlink("a/run.sh", from.join("link")).unwrap();
        let to = dir.path().join("to");
        copy(&from, &to).unwrap();
        let copied = std::fs::metadata(to.join("a/run.sh")).unwrap();
        assert_eq!(copied.permissions().mode() & 0o777, 0o755);
        assert_eq!(std::fs::read_link(to.join("link")).unwrap(), Path::new("a/run.sh"));
        copy(&from.join("a/run.sh"), &dir.path().join("single")).unwrap();
        assert_eq!(std::fs::read(dir.path().join("single")).unwrap(), b"x");
    }
}
