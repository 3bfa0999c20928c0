//! The directory for CANN's logs of the children, and the last errors in these logs.
#![expect(
    clippy::disallowed_methods,
    reason = "makes and reads a directory for the logs of children"
)]

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The size of the part read at the end of a log, in bytes.
const TAIL: u64 = 64 << 10;
/// The maximum number of lines shown.
const LINES: usize = 5;
/// The maximum length of a shown line, in bytes.
const MAX_LINE: usize = 500;
/// The maximum number of files examined.
const MAX_FILES: usize = 64;

/// A directory for logs.
#[derive(Debug)]
pub struct Logs {
    /// Removed with its content when this value is dropped.
    temporary: Option<tempfile::TempDir>,
    kept: Option<PathBuf>,
}

impl Logs {
    /// Uses `keep`, which is created if needed, or a temporary directory. If no temporary directory
    /// can be created, CANN writes its logs to the default directory.
    ///
    /// # Errors
    /// `keep` cannot be created.
    pub fn new(keep: Option<&Path>) -> std::io::Result<Self> {
        if let Some(keep) = keep {
            guard::named::open_or_create_dir(keep, 0o777)?;
            return Ok(Self { temporary: None, kept: Some(std::path::absolute(keep)?) });
        }
        let temporary = tempfile::Builder::new().prefix("ascend-doctor-").tempdir().ok();
        Ok(Self { temporary, kept: None })
    }

    /// The directory, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.kept.as_deref().or(self.temporary.as_ref().map(tempfile::TempDir::path))
    }
}

/// A log file and the last lines in it that report errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogTail {
    /// The file.
    pub path: String,
    /// The lines, in order.
    pub lines: String,
}

/// The last errors in the logs below `dir`.
pub fn last_errors(dir: &Path) -> Option<LogTail> {
    let files = walkdir::WalkDir::new(dir).max_depth(6).sort_by_file_name();
    let logs = files.into_iter().filter_map(Result::ok).filter(|entry| {
        entry.file_type().is_file() && entry.path().extension().is_some_and(|ext| ext == "log")
    });
    logs.take(MAX_FILES).filter_map(|entry| read_errors(entry.path())).last()
}

fn read_errors(path: &Path) -> Option<LogTail> {
    let mut file = guard::file::open_regular(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| {
            line.starts_with("[ERROR]") || line.starts_with("[EVENT]") && line.contains("rror")
        })
        .map(|line| &line[..line.floor_char_boundary(MAX_LINE)])
        .collect();
    lines.drain(..lines.len().saturating_sub(LINES));
    (!lines.is_empty())
        .then(|| LogTail { path: path.display().to_string(), lines: lines.join("\n") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_errors_are_taken() {
        let logs = Logs::new(None).unwrap();
        let dir = logs.path().unwrap().join("debug/plog");
        std::fs::create_dir_all(&dir).unwrap();
        let mut text = "[INFO] x\n".repeat(20_000);
        for number in 0..9 {
            text.push_str(&format!("[ERROR] RUNTIME(1,python):{number}\n[INFO] y\n"));
        }
        text.push_str(&format!("[ERROR] {}\n", "错".repeat(1000)));
        std::fs::write(dir.join("plog-1_2.log"), text).unwrap();
        let tail = last_errors(logs.path().unwrap()).unwrap();
        assert_eq!(tail.lines.lines().count(), LINES);
        assert!(tail.lines.starts_with("[ERROR] RUNTIME(1,python):5"), "{}", tail.lines);
        assert!(tail.lines.lines().all(|line| line.len() <= MAX_LINE));
    }
}
