//! Detects inputs that a program changed.
//!
//! Most cases read shared inputs. A program that writes to them would change the result of later
//! cases, and the comparison of working directories would not detect it.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use walkdir::WalkDir;

/// The maximum number of changed paths that are listed.
const SHOWN: usize = 20;

/// Sizes, modes and times of all entries below some directories.
#[derive(Debug)]
pub(crate) struct Snapshot {
    entries: BTreeMap<PathBuf, Entry>,
}

/// Size, mode, and time of the last modification in seconds and nanoseconds.
type Entry = (u64, u32, i64, i64);

impl Snapshot {
    /// Reads the directories.
    pub(crate) fn take<'a>(dirs: impl IntoIterator<Item = &'a Path>) -> Result<Self> {
        let mut entries = BTreeMap::new();
        for dir in dirs {
            for entry in WalkDir::new(dir) {
                let entry = entry?;
                let data = entry.metadata()?;
                let seen = (data.len(), data.mode(), data.mtime(), data.mtime_nsec());
                entries.insert(entry.into_path(), seen);
            }
        }
        Ok(Self { entries })
    }

    /// Returns the paths that were added, removed or changed since, with a limit.
    pub(crate) fn changed_since(&self, earlier: &Self) -> Vec<String> {
        let differs = |path: &&PathBuf| self.entries.get(*path) != earlier.entries.get(*path);
        let known = self.entries.keys().filter(differs);
        let removed = earlier.entries.keys().filter(|path| !self.entries.contains_key(*path));
        known.chain(removed).take(SHOWN).map(|path| path.display().to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_changed_and_removed_files_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        for name in ["changed", "removed", "same"] {
            std::fs::write(file(name), "1").unwrap();
        }
        let before = Snapshot::take([dir.path()]).unwrap();
        assert!(Snapshot::take([dir.path()]).unwrap().changed_since(&before).is_empty());
        std::fs::write(file("changed"), "22").unwrap();
        std::fs::remove_file(file("removed")).unwrap();
        std::fs::write(file("added"), "1").unwrap();
        let changed = Snapshot::take([dir.path()]).unwrap().changed_since(&before);
        let names: Vec<&str> = changed.iter().filter_map(|path| path.rsplit('/').next()).collect();
        assert!(["added", "changed", "removed"].iter().all(|name| names.contains(name)));
        assert!(!names.contains(&"same"));
    }
}
