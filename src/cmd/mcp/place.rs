//! The directories that tools may read.
#![expect(clippy::disallowed_methods, reason = "resolves paths that a client names")]

use std::path::{Path, PathBuf};

use data::{OrFault as _, faults};

/// The allowed directories, without links.
#[derive(Debug)]
pub(super) struct Roots(Vec<PathBuf>);

impl Roots {
    /// Opens the directories of the option, or by default the working directory.
    ///
    /// # Errors
    ///
    /// If one of them does not exist.
    pub(super) fn open(named: &[PathBuf]) -> anyhow::Result<Self> {
        let own = [PathBuf::from(".")];
        let named = if named.is_empty() { &own[..] } else { named };
        let resolve = |path: &PathBuf| {
            let shown = path.display();
            Ok(path.canonicalize().or_fault(|| faults::CannotRead { path: shown }.fault())?)
        };
        Ok(Self(named.iter().map(resolve).collect::<anyhow::Result<_>>()?))
    }

    /// Resolves a path that a client names. Relative ones start at the first root.
    ///
    /// # Errors
    ///
    /// If it does not exist, or leads out of the roots, also by a link. Both errors are the same,
    /// so that they do not reveal which files exist.
    pub(super) fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let start = self.0.first().map_or(Path::new("/"), PathBuf::as_path);
        let resolved = start.join(path).canonicalize().ok();
        let inside = resolved.filter(|path| self.0.iter().any(|root| path.starts_with(root)));
        inside.ok_or_else(|| {
            let roots: Vec<String> = self.0.iter().map(|root| root.display().to_string()).collect();
            format!("`{path}` is not in the allowed directories: {}", roots.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("a.log"), "x").unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), inner.join("link")).unwrap();
        let roots = Roots::open(&[inner]).unwrap();
        assert!(roots.resolve("a.log").is_ok() && roots.resolve(".").is_ok());
        let missing = roots.resolve("none").unwrap_err().replace("none", "");
        for hostile in ["../secret", "/etc/passwd", "link", "a.log/../../secret"] {
            let error = roots.resolve(hostile).unwrap_err();
            assert_eq!(error.replace(hostile, ""), missing, "{hostile}");
        }
    }
}
