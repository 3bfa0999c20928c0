//! Writes the archive and collects the list of its entries.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use tar::{Builder, EntryType, Header, HeaderMode};

use base::hash::Sha256;
use explain::input::bundle::TOP;
use machine::log_tails::Tail;

/// A file of the archive.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Entry {
    /// Path relative to [`TOP`].
    path: String,
    /// Size in bytes.
    size: u64,
    /// Hash of the content; `None` for partially recorded files.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Size of the original file in bytes, if this is only its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_of: Option<u64>,
    /// Whether the log was compressed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unpacked: bool,
    /// Number of NUL bytes that were removed from the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    nul_bytes: Option<u64>,
}

impl Entry {
    /// Returns whether this is the end of a log.
    pub(super) fn is_log(&self) -> bool {
        self.path.starts_with("logs/")
    }
}

/// The archive that is being written.
pub(super) struct Pack<W: Write> {
    archive: Builder<GzEncoder<W>>,
    /// The entries so far.
    pub(super) entries: Vec<Entry>,
    /// The paths of files and links.
    taken: BTreeSet<String>,
}

impl<W: Write> Pack<W> {
    pub(super) fn new(out: W) -> Self {
        let mut archive = Builder::new(GzEncoder::new(out, Compression::default()));
        // The archive does not contain owners or times of this machine.
        archive.mode(HeaderMode::Deterministic);
        archive.follow_symlinks(false);
        Self { archive, entries: Vec::new(), taken: BTreeSet::new() }
    }

    /// Returns a free path for a file. Redaction can give two files the same path, and the second
    /// gets a number.
    fn reserve_path(&mut self, path: &str) -> String {
        let numbered = (2..).map(|number| format!("{path}~{number}"));
        let mut places = std::iter::once(path.to_owned()).chain(numbered);
        let free = places.find(|place| !self.taken.contains(place)).unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }

    /// Adds a file.
    pub(super) fn add(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        let path = self.reserve_path(path);
        self.archive.append_data(&mut header, format!("{TOP}/{path}"), content)?;
        self.entries.push(Entry {
            path,
            size: content.len() as u64,
            sha256: Some(Sha256::of(content).hex()),
            ..Entry::default()
        });
        Ok(())
    }

    /// Adds the end of a log, and lists how it differs from the file.
    pub(super) fn add_log(&mut self, path: &str, content: &[u8], log: &Tail) -> io::Result<()> {
        self.add(path, content)?;
        if let Some(entry) = self.entries.last_mut() {
            entry.end_of = log.cut.then_some(log.size);
            entry.unpacked = log.compressed;
            entry.nul_bytes = Some(log.nul).filter(|&count| count > 0);
        }
        Ok(())
    }

    /// Adds a partially recorded file. Its holes take no space.
    pub(super) fn add_sparse(&mut self, path: &str, file: &Path) -> io::Result<()> {
        let size = file.symlink_metadata()?.len();
        let path = self.reserve_path(path);
        self.archive.append_path_with_name(file, format!("{TOP}/{path}"))?;
        self.entries.push(Entry { path, size, ..Entry::default() });
        Ok(())
    }

    /// Adds an empty directory.
    pub(super) fn add_directory(&mut self, path: &str) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Directory);
        header.set_size(0);
        header.set_mode(0o755);
        self.archive.append_data(&mut header, format!("{TOP}/{path}/"), io::empty())
    }

    /// Adds a symbolic link.
    pub(super) fn add_link(&mut self, path: &str, target: &Path) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_size(0);
        header.set_mode(0o777);
        let path = self.reserve_path(path);
        self.archive.append_link(&mut header, format!("{TOP}/{path}"), target)
    }

    /// Ends the archive.
    pub(super) fn finish(self) -> io::Result<()> {
        self.archive.into_inner()?.finish()?.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_the_same_redacted_path_are_both_kept() {
        let mut pack = Pack::new(Vec::new());
        for content in [b"a", b"b"] {
            pack.add("logs/home/***/x.log", content).unwrap();
        }
        let paths: Vec<&str> = pack.entries.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["logs/home/***/x.log", "logs/home/***/x.log~2"]);
    }
}
