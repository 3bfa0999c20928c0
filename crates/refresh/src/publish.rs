//! Replaces several files: all or none.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tempfile::NamedTempFile;

/// New contents of files, written next to the old ones and not yet visible.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    files: Vec<(NamedTempFile, PathBuf)>,
}

impl Batch {
    /// Prepares the new content of a file.
    pub(crate) fn add(&mut self, path: &Path, content: &str) -> Result<()> {
        let dir = path.parent().context("a file needs a directory")?;
        let failed = || format!("cannot write `{}`", path.display());
        std::fs::create_dir_all(dir).with_context(failed)?;
        let mut file = tempfile::Builder::new()
            .prefix(".refresh-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .tempfile_in(dir)
            .with_context(failed)?;
        std::io::Write::write_all(&mut file, content.as_bytes()).with_context(failed)?;
        file.as_file().sync_all().with_context(failed)?;
        self.files.push((file, path.to_owned()));
        Ok(())
    }

    /// Renames all files into place. If one rename fails, the replaced files get their old content
    /// back.
    pub(crate) fn commit(self) -> Result<()> {
        let mut done: Vec<(PathBuf, Option<Vec<u8>>)> = Vec::new();
        for (file, path) in self.files {
            let before = std::fs::read(&path).ok();
            if let Err(error) = file.persist(&path) {
                for (path, before) in done {
                    match before {
                        Some(content) => std::fs::write(&path, content)?,
                        None => std::fs::remove_file(&path)?,
                    }
                }
                return Err(error.error)
                    .with_context(|| format!("cannot replace `{}`", path.display()));
            }
            done.push((path, before));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_rename_restores_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b, c) = (dir.path().join("a"), dir.path().join("b"), dir.path().join("c"));
        std::fs::write(&a, "old").unwrap();
        // A directory cannot be replaced by a file.
        std::fs::create_dir_all(b.join("x")).unwrap();
        let mut batch = Batch::default();
        for path in [&a, &c, &b] {
            batch.add(path, "new").unwrap();
        }
        assert!(batch.commit().unwrap_err().to_string().contains("cannot replace"));
        assert_eq!(std::fs::read_to_string(&a).unwrap(), "old");
        assert!(!c.exists());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file stays");
    }

    #[test]
    fn dropped_batches_change_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut batch = Batch::default();
        batch.add(&dir.path().join("a"), "new").unwrap();
        drop(batch);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
