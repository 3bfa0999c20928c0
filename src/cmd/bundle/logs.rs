//! The ends of the logs that may say what happened: the newest first, within a limit.

use std::collections::BTreeSet;

use super::text::{Unpacking, readable, unpacked};
use facts::FileKind;
use machine::sysroot::{ReadError, SysFile, Sysroot};

/// The most files that are looked at.
const FILES: usize = 20_000;
/// How deep directories are searched.
const DEPTH: usize = 6;
/// The least share of the limit that a log gets, in bytes.
const SHARE: u64 = 256 << 10;

/// The end of a log.
#[derive(Debug)]
pub(super) struct Tail {
    /// Its path on the examined machine.
    pub(super) path: String,
    /// Its size there, in bytes; of a compressed one what it unpacks to.
    pub(super) size: u64,
    /// Whether this is only the end of it.
    pub(super) cut: bool,
    /// Whether it was compressed.
    pub(super) compressed: bool,
    /// How many NUL bytes were taken out.
    pub(super) nul: u64,
    /// The last lines of it.
    pub(super) text: Vec<u8>,
}

/// What does not go in.
#[derive(Debug)]
pub(super) struct Left {
    /// The path.
    pub(super) path: String,
    /// Why.
    pub(super) why: String,
    /// Who misses it.
    pub(super) missed: Missed,
}

/// Who misses what does not go in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missed {
    /// Who named it with `--add`, or a directory in which it lies.
    Named,
    /// Who helps: it is a log, and could not be read.
    Log,
    /// Nobody: it has no content of its own, or the limit did what it is for.
    Nobody,
}

/// What goes in, and what does not.
#[derive(Debug, Default)]
pub(super) struct Tails {
    pub(super) taken: Vec<Tail>,
    pub(super) left_out: Vec<Left>,
}

/// A log that is looked for.
#[derive(Debug)]
struct Log {
    modified: i64,
    path: String,
    missed: Missed,
}

/// Reads the ends of the logs `own` (named by the user) on this machine, `here`, and of those of CANN
/// and the driver `there`.
pub(super) fn tails(here: &Sysroot, own: &[String], there: &Sysroot, limit: u64) -> Tails {
    let mut found = Tails::default();
    let mut first = Search::new(here, &|_| true, Missed::Named);
    for path in own {
        first.named(path);
    }
    let mut usual = Search::new(there, &is_log, Missed::Log);
    for Usual { path, asked } in places(there) {
        usual.place(&path, asked);
    }
    found.left_out.append(&mut first.passed);
    // What has no content in the usual places nobody asked for.
    usual.passed.retain(|left| left.missed != Missed::Nobody);
    found.left_out.append(&mut usual.passed);
    let (mut first, mut usual) = (first.logs, usual.logs);
    let newest_first = |a: &Log, b: &Log| (b.modified, &b.path).cmp(&(a.modified, &a.path));
    first.sort_by(newest_first);
    usual.sort_by(newest_first);
    let mut seen = BTreeSet::new();
    usual.retain(|log| seen.insert(log.path.clone()));

    // What the user names comes first, and whole if it can.
    let whole = first.into_iter().map(|log| (here, log, u64::MAX));
    let share = SHARE.max(limit / 16);
    let parts = usual.into_iter().map(|log| (there, log, share));
    let mut left = limit;
    let mut unpacking = Unpacking::default();
    for (sysroot, Log { path, missed, .. }, share) in whole.chain(parts) {
        let most = left.min(share);
        if most == 0 {
            let why = "the limit of --limit was reached".to_owned();
            let missed = if own.contains(&path) { missed } else { Missed::Nobody };
            found.left_out.push(Left { path, why, missed });
            continue;
        }
        match tail(sysroot, &path, most, &mut unpacking) {
            Ok(tail) => {
                left -= (tail.text.len() as u64).min(left);
                found.taken.push(tail);
            }
            Err(why) => found.left_out.push(Left { path, why, missed }),
        }
    }
    found
}

/// A place in which logs are looked for unasked.
struct Usual {
    path: String,
    /// Whether it is that of the user under examination.
    asked: bool,
}

/// Where CANN and the driver write their logs.
fn places(sysroot: &Sysroot) -> Vec<Usual> {
    let env = sysroot.env();
    let own = |name: &str, below: &str| {
        Some(Usual { path: format!("{}{below}", env.get(name)?), asked: true })
    };
    let other = |path: &str| Some(Usual { path: path.to_owned(), asked: false });
    let mut places: Vec<Usual> = [
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

/// Whether a file in the usual places is a log, as it is or compressed.
fn is_log(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let plain = lower.strip_suffix(".gz").unwrap_or(&lower);
    !plain.ends_with(".tar") && (plain.contains("log") || plain.ends_with(".txt"))
}

/// A search for logs.
struct Search<'a> {
    sysroot: &'a Sysroot,
    wanted: &'a dyn Fn(&str) -> bool,
    /// Who misses what it finds.
    missed: Missed,
    logs: Vec<Log>,
    passed: Vec<Left>,
}

impl<'a> Search<'a> {
    fn new(sysroot: &'a Sysroot, wanted: &'a dyn Fn(&str) -> bool, missed: Missed) -> Self {
        Self { sysroot, wanted, missed, logs: Vec::new(), passed: Vec::new() }
    }

    /// A place that may not be there. That one of others may not even be looked for says nothing.
    fn place(&mut self, path: &str, asked: bool) {
        match self.sysroot.lstat(path) {
            Err(ReadError::NotFound) => {}
            Err(error) if asked => self.pass(path, error.to_string(), self.missed),
            _ => self.gather(path, 0),
        }
    }

    /// What the user named: that nothing can be had of it is said.
    fn named(&mut self, path: &str) {
        let before = (self.logs.len(), self.passed.len());
        let why = match self.sysroot.stat(path) {
            Err(error) => error.to_string(),
            Ok(stat) if stat.kind == FileKind::Directory => {
                if let Err(error) = self.sysroot.entries(path) {
                    error.to_string()
                } else {
                    self.gather(path, 0);
                    if before != (self.logs.len(), self.passed.len()) {
                        return;
                    }
                    "there is no file in it".to_owned()
                }
            }
            Ok(stat) if stat.kind == FileKind::File => {
                self.gather(path, 0);
                return;
            }
            Ok(stat) => ReadError::NotRegular(stat.kind.describe()).to_string(),
        };
        self.pass(path, why, self.missed);
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
            // A link that was named is followed; one in a directory may lead in a circle.
            FileKind::Link if depth == 0 => {
                if let Ok(real) = self.sysroot.real(path) {
                    self.gather(&real, 1);
                }
            }
            FileKind::Directory => {
                let entries = self.sysroot.entries(path).unwrap_or_else(|error| {
                    self.pass(path, error.to_string(), self.missed);
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
                            let why = ReadError::NotRegular(other.describe()).to_string();
                            self.pass(&below, why, Missed::Nobody);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes what was found and is not looked at.
    fn pass(&mut self, path: &str, why: String, missed: Missed) {
        if self.passed.len() < FILES {
            self.passed.push(Left { path: path.to_owned(), why, missed });
        }
    }
}

/// At most the last `most` bytes, from the beginning of a line on.
fn tail(
    sysroot: &Sysroot,
    path: &str,
    most: u64,
    unpacking: &mut Unpacking,
) -> Result<Tail, String> {
    let file: SysFile = sysroot.open(path).map_err(|error| error.to_string())?;
    if file.is_partial() {
        return Err("only a part of it was recorded".to_owned());
    }
    let mut head = [0; 2];
    let count = file.read_at(&mut head, 0).map_err(|error| error.to_string())?;
    let compressed = count == 2 && head == [0x1f, 0x8b];
    let (mut text, size) =
        if compressed { unpacked(&file, most, unpacking)? } else { plain(&file, most)? };
    let cut = (text.len() as u64) < size;
    if cut {
        let line = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
        text.drain(..line);
    }
    let nul = readable(&mut text)?;
    Ok(Tail { path: path.to_owned(), size, cut, compressed, nul, text })
}

/// The last bytes of a file, and its size.
fn plain(file: &SysFile, most: u64) -> Result<(Vec<u8>, u64), String> {
    let size = file.len();
    let begin = size.saturating_sub(most);
    let mut text = vec![0; usize::try_from(size - begin).map_err(|_| "it is too large")?];
    let count = file.read_at(&mut text, begin).map_err(|error| error.to_string())?;
    text.truncate(count);
    // What became shorter while it was read is there as it is now.
    Ok((text, begin + count as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_known_by_name() {
        for name in ["plog-1_20260101.log", "device-0.log.1.gz", "a.txt", "A.LOG.GZ"] {
            assert!(is_log(name), "{name}");
        }
        for name in ["core.1", "logs.tar.gz", "a.bin"] {
            assert!(!is_log(name), "{name}");
        }
    }
}
