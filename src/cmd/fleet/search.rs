//! Finds reports in a directory that the user named.
#![expect(clippy::disallowed_methods, reason = "lists directories that the user named")]

use base::text::Text;
use data::fault::Value as _;
use data::faults;
use std::collections::BTreeSet;
use std::fs::FileType;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use base::walk_error;

/// Maximum depth of the search.
const DEPTH: usize = 8;
/// File name extensions of reports.
const ENDINGS: [&str; 4] = [".json", ".jsonl", ".ndjson", ".json.gz"];

/// Files with names of reports.
#[derive(Debug, Default)]
pub(super) struct ReportFiles {
    /// Files, by name.
    pub(super) files: Vec<PathBuf>,
    /// Paths that cannot be reports, with the reason: special files, which are not opened because a
    /// pipe could block, and unreadable directories.
    pub(super) refused: Vec<(PathBuf, Text)>,
}

/// Returns the host name in a file name, for reports that do not contain one.
pub(super) fn host_name_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending));
    stem.map_or_else(|| name.clone(), str::to_owned)
}

/// Returns the reports in a directory and below.
pub(super) fn find_reports(dir: &Path) -> io::Result<ReportFiles> {
    let mut found = ReportFiles::default();
    let mut links = Vec::new();
    let mut seen = BTreeSet::new();
    for entry in walkdir::WalkDir::new(dir).max_depth(DEPTH).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            // An unreadable subdirectory affects only the reports in it.
            Err(error) if error.depth() > 0 => {
                let place = error.path().unwrap_or(dir).to_owned();
                let why = faults::ItsDirectoryUnreadable { why: walk_error::cause(&error) }
                    .fault()
                    .text();
                found.refused.push((place, why));
                continue;
            }
            Err(error) => return Err(walk_error::cause(&error)),
        };
        let name = entry.file_name().to_string_lossy();
        let kind = entry.file_type();
        if kind.is_dir() || !ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        if kind.is_file() {
            let meta = entry.metadata().map_err(|error| walk_error::cause(&error))?;
            seen.insert((meta.dev(), meta.ino()));
            found.files.push(entry.into_path());
        } else if kind.is_symlink() {
            links.push(entry.into_path());
        } else {
            found.refused.push((entry.into_path(), describe_special_file(kind)));
        }
    }
    // A link next to its target (`latest.json`) is the same report.
    for link in links {
        match link.metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(meta) if !meta.is_file() => {
                found.refused.push((link, describe_special_file(meta.file_type())));
            }
            Ok(meta) => {
                if seen.insert((meta.dev(), meta.ino())) {
                    found.files.push(link);
                }
            }
            Err(error) => {
                let target = link.read_link().unwrap_or_default();
                let why = if error.kind() == io::ErrorKind::NotFound {
                    faults::LinkDangles { target: target.display() }.value()
                } else {
                    error.value()
                };
                found.refused.push((link, why));
            }
        }
    }
    found.files.sort();
    Ok(found)
}

fn describe_special_file(kind: FileType) -> Text {
    let what = if kind.is_fifo() {
        faults::APipe.value()
    } else if kind.is_socket() {
        faults::ASocket.value()
    } else {
        faults::ADevice.value()
    };
    faults::NotRegularSkipped { what }.fault().text()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_and_pipes_are_refused_unopened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("a.json"), "{}").unwrap();
        symlink("a.json", at("latest.json")).unwrap();
        symlink("gone.json", at("b.json")).unwrap();
        symlink("c.json", at("c.json")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("d"), "{}").unwrap();
        symlink(elsewhere.path().join("d"), at("d.json")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at("e.json"), fifo, mode, 0).unwrap();
        std::fs::write(at("notes.txt"), "").unwrap();
        let found = find_reports(dir.path()).unwrap();
        assert_eq!(found.files, [at("a.json"), at("d.json")]);
        let why = |name: &str| {
            let refused = found.refused.iter().find(|(path, _)| *path == at(name));
            refused.map(|(_, why)| why.en.as_str()).unwrap_or_default()
        };
        assert!(why("b.json").contains("broken symbolic link to `gone.json`"), "{found:?}");
        assert!(!why("c.json").is_empty(), "a link to itself");
        assert!(why("e.json").contains("a pipe"), "{found:?}");
        assert_eq!(found.refused.len(), 3);
    }

    #[test]
    fn file_name_is_the_host_name() {
        for name in ["n1.json", "n1.json.gz", "n1.ndjson", "n1.jsonl"] {
            assert_eq!(host_name_of(Path::new(name)), "n1", "{name}");
        }
        assert_eq!(host_name_of(Path::new("x/n1.txt")), "n1.txt");
    }
}
