//! Collects the ends of logs, for `bundle`: those that the user named, then the newest of CANN and
//! the driver, within a size limit.

mod text;

use base::text::Text;
use data::fault::Value as _;
use data::faults;
use std::collections::BTreeSet;

use crate::sysroot::{ReadError, SysFile, Sysroot};
use facts::FileKind;
use text::{UnpackBudget, strip_nul_bytes, unpack_end};

/// Maximum number of files in a search.
const FILES: usize = 20_000;
/// Maximum depth of a search.
const DEPTH: usize = 6;
/// Minimum share of the limit for a log, in bytes.
const SHARE: u64 = 256 << 10;

/// The end of a log.
#[derive(Debug)]
pub struct Tail {
    /// Its path on the examined machine.
    pub path: String,
    /// Its size there, in bytes, after decompression.
    pub size: u64,
    /// Whether it is only the end of the log.
    pub cut: bool,
    /// Whether it was compressed.
    pub compressed: bool,
    /// Number of removed NUL bytes.
    pub nul: u64,
    /// Its last lines.
    pub text: Vec<u8>,
}

/// A file that is not in the bundle.
#[derive(Debug)]
pub struct OmittedFile {
    /// The path.
    pub path: String,
    /// The reason.
    pub why: Text,
    /// Whether the omission matters.
    pub missed: Omission,
}

/// Whether an omission matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omission {
    /// The user named the file or its directory with `--add`.
    Requested,
    /// A log that could not be read.
    UnreadLog,
    /// A file without content, or one beyond the size limit.
    Expected,
}

/// The collected logs, and the omitted files.
#[derive(Debug, Default)]
pub struct LogTails {
    /// The ends, in the order of collection.
    pub taken: Vec<Tail>,
    /// Files without a collected end.
    pub left_out: Vec<OmittedFile>,
}

impl LogTails {
    /// Returns whether all logs that the user named were collected.
    pub fn has_all_requested(&self) -> bool {
        self.left_out.iter().all(|left| left.missed != Omission::Requested)
    }
}

/// A log found by a search.
#[derive(Debug)]
struct Log {
    modified: i64,
    path: String,
    missed: Omission,
}

/// Reads the ends of the logs `own` (named by the user) on this machine, `here`, and of those of
/// CANN and the driver `there`.
pub fn collect_tails(here: &Sysroot, own: &[String], there: &Sysroot, limit: u64) -> LogTails {
    let mut found = LogTails::default();
    let mut first = LogSearch::new(here, &|_| true, Omission::Requested);
    for path in own {
        first.add_named(path);
    }
    let mut usual = LogSearch::new(there, &is_log, Omission::UnreadLog);
    for LogLocation { path, asked } in list_locations(there) {
        usual.add_location(&path, asked);
    }
    found.left_out.append(&mut first.omitted);
    // Files without content in unnamed directories are not reported.
    usual.omitted.retain(|left| left.missed != Omission::Expected);
    found.left_out.append(&mut usual.omitted);
    let (mut first, mut usual) = (first.logs, usual.logs);
    let newest_first = |a: &Log, b: &Log| (b.modified, &b.path).cmp(&(a.modified, &a.path));
    first.sort_by(newest_first);
    usual.sort_by(newest_first);
    let mut seen = BTreeSet::new();
    usual.retain(|log| seen.insert(log.path.clone()));

    // Named files come first, complete if possible.
    let whole = first.into_iter().map(|log| (here, log, u64::MAX));
    let share = SHARE.max(limit / 16);
    let parts = usual.into_iter().map(|log| (there, log, share));
    let mut left = limit;
    let mut unpacking = UnpackBudget::default();
    for (sysroot, Log { path, missed, .. }, share) in whole.chain(parts) {
        let most = left.min(share);
        if most == 0 {
            let why = faults::LimitReached.value();
            let missed = if own.contains(&path) { missed } else { Omission::Expected };
            found.left_out.push(OmittedFile { path, why, missed });
            continue;
        }
        match read_tail(sysroot, &path, most, &mut unpacking) {
            Ok(tail) => {
                left -= (tail.text.len() as u64).min(left);
                found.taken.push(tail);
            }
            Err(why) => found.left_out.push(OmittedFile { path, why, missed }),
        }
    }
    found
}

/// A directory that is searched without being named by the user.
struct LogLocation {
    path: String,
    /// Whether it belongs to the examined user.
    asked: bool,
}

/// Lists the log directories of CANN and the driver.
fn list_locations(sysroot: &Sysroot) -> Vec<LogLocation> {
    let env = sysroot.env();
    let own = |name: &str, below: &str| {
        Some(LogLocation { path: format!("{}{below}", env.get(name)?), asked: true })
    };
    let other = |path: &str| Some(LogLocation { path: path.to_owned(), asked: false });
    let mut places: Vec<LogLocation> = [
        own("ASCEND_PROCESS_LOG_PATH", ""),
        own("ASCEND_WORK_PATH", "/log"),
        own("HOME", "/ascend/log"),
        other("/root/ascend/log"),
        other("/var/log/npu"),
        other("/var/log/ascend_seclog"),
        other("/var/log/mindx-dl"),
    ]
    .into_iter()
    .flatten()
    .filter(|place| place.path.starts_with('/'))
    .collect();
    places.dedup_by(|later, earlier| later.path == earlier.path);
    places
}

/// Returns whether a file name is that of a log, plain or compressed.
fn is_log(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let plain = lower.strip_suffix(".gz").unwrap_or(&lower);
    !plain.ends_with(".tar") && (plain.contains("log") || plain.ends_with(".txt"))
}

/// A search for logs.
struct LogSearch<'a> {
    sysroot: &'a Sysroot,
    wanted: &'a dyn Fn(&str) -> bool,
    /// The kind of omission if a file cannot be read.
    missed: Omission,
    logs: Vec<Log>,
    omitted: Vec<OmittedFile>,
}

impl<'a> LogSearch<'a> {
    fn new(sysroot: &'a Sysroot, wanted: &'a dyn Fn(&str) -> bool, missed: Omission) -> Self {
        Self { sysroot, wanted, missed, logs: Vec::new(), omitted: Vec::new() }
    }

    /// Searches a directory that may be missing. Missing access to directories of other users is
    /// not reported.
    fn add_location(&mut self, path: &str, asked: bool) {
        match self.sysroot.lstat(path) {
            Err(ReadError::NotFound) => {}
            Err(error) if asked => self.omit(path, error.text(), self.missed),
            _ => self.gather(path, 0),
        }
    }

    /// Searches a path that the user named, and reports why it has no files.
    fn add_named(&mut self, path: &str) {
        let before = (self.logs.len(), self.omitted.len());
        let why = match self.sysroot.stat(path) {
            Err(error) => error.text(),
            Ok(stat) if stat.kind == FileKind::Directory => {
                if let Err(error) = self.sysroot.entries(path) {
                    error.text()
                } else {
                    self.gather(path, 0);
                    if before != (self.logs.len(), self.omitted.len()) {
                        return;
                    }
                    faults::NoFileInIt.value()
                }
            }
            Ok(stat) if stat.kind == FileKind::File => {
                self.gather(path, 0);
                return;
            }
            Ok(stat) => ReadError::NotRegular(stat.kind).text(),
        };
        self.omit(path, why, self.missed);
    }

    fn gather(&mut self, path: &str, depth: usize) {
        if self.logs.len() >= FILES || depth > DEPTH {
            return;
        }
        let Ok(stat) = self.sysroot.lstat(path) else { return };
        match stat.kind {
            FileKind::File => self.logs.push(Log {
                modified: stat.modified.unwrap_or(0),
                path: path.to_owned(),
                missed: self.missed,
            }),
            // Only named links are followed, because links in directories may form a cycle.
            FileKind::Link if depth == 0 => {
                if let Ok(real) = self.sysroot.real(path) {
                    self.gather(&real, 1);
                }
            }
            FileKind::Directory => {
                let entries = self.sysroot.entries(path).unwrap_or_else(|error| {
                    self.omit(path, error.text(), self.missed);
                    Vec::new()
                });
                for (name, kind) in entries {
                    let below = format!("{}/{name}", path.trim_end_matches('/'));
                    match kind {
                        FileKind::Directory => self.gather(&below, depth + 1),
                        FileKind::File if (self.wanted)(&name) => {
                            self.gather(&below, depth + 1);
                        }
                        FileKind::File => {}
                        other => {
                            let why = ReadError::NotRegular(other).text();
                            self.omit(&below, why, Omission::Expected);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Records an omitted file.
    fn omit(&mut self, path: &str, why: Text, missed: Omission) {
        if self.omitted.len() < FILES {
            self.omitted.push(OmittedFile { path: path.to_owned(), why, missed });
        }
    }
}

/// The last `most` bytes at most, starting at the beginning of a line.
fn read_tail(
    sysroot: &Sysroot,
    path: &str,
    most: u64,
    unpacking: &mut UnpackBudget,
) -> Result<Tail, Text> {
    let file: SysFile = sysroot.open(path).map_err(|error| error.text())?;
    if file.is_partial() {
        return Err(faults::RecordedInPart.value());
    }
    let mut head = [0; 2];
    let count = file.read_at(&mut head, 0).map_err(|error| error.value())?;
    let compressed = count == 2 && head == [0x1f, 0x8b];
    let (mut text, size) =
        if compressed { unpack_end(&file, most, unpacking)? } else { read_end(&file, most)? };
    let cut = (text.len() as u64) < size;
    if cut {
        let line = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
        text.drain(..line);
    }
    let nul = strip_nul_bytes(&mut text)?;
    Ok(Tail { path: path.to_owned(), size, cut, compressed, nul, text })
}

/// The last bytes of a file, and its size.
fn read_end(file: &SysFile, most: u64) -> Result<(Vec<u8>, u64), Text> {
    let size = file.len();
    let begin = size.saturating_sub(most);
    let mut text = vec![0; usize::try_from(size - begin).map_err(|_| faults::TooLarge.value())?];
    let count = file.read_at(&mut text, begin).map_err(|error| error.value())?;
    text.truncate(count);
    // The file may have been truncated after its size was read.
    Ok((text, begin + count as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_recognized_by_name() {
        for name in ["plog-1_20260101.log", "device-0.log.1.gz", "a.txt", "A.LOG.GZ"] {
            assert!(is_log(name), "{name}");
        }
        for name in ["core.1", "logs.tar.gz", "a.bin"] {
            assert!(!is_log(name), "{name}");
        }
    }
}
