//! The ends of the logs that may say what happened: the newest first, within a limit.

use std::collections::BTreeSet;

use crate::ordered::Arrange as _;
use crate::sysroot::{FileKind, SysFile, Sysroot};

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
    /// Its size there, in bytes.
    pub(super) size: u64,
    /// The last lines of it.
    pub(super) text: Vec<u8>,
}

/// What goes in, and what does not.
#[derive(Debug, Default)]
pub(super) struct Tails {
    pub(super) taken: Vec<Tail>,
    /// Paths, each with why it was left out.
    pub(super) left_out: Vec<(String, String)>,
}

/// Reads the ends of the logs `own` (named by the user) on this machine, `here`, and of those of CANN
/// and the driver `there`.
pub(super) fn tails(here: &Sysroot, own: &[String], there: &Sysroot, limit: u64) -> Tails {
    let mut found = Tails::default();
    let mut first: Vec<(i64, String)> = Vec::new();
    for path in own {
        if here.exists(path) {
            gather(here, path, &|_| true, 0, &mut first);
        } else {
            found.left_out.push((path.clone(), "it is not there".to_owned()));
        }
    }
    let mut usual = Vec::new();
    for place in places(there) {
        gather(there, &place, &is_log, 0, &mut usual);
    }
    // The newest first.
    first.arrange_by(|a, b| b.cmp(a));
    usual.arrange_by(|a, b| b.cmp(a));
    let mut seen = BTreeSet::new();
    usual.retain(|(_, path)| seen.insert(path.clone()));

    // What the user names comes first, and whole if it can.
    let whole = first.into_iter().map(|(_, path)| (here, path, u64::MAX));
    let share = SHARE.max(limit / 16);
    let parts = usual.into_iter().map(|(_, path)| (there, path, share));
    let mut left = limit;
    for (sysroot, path, share) in whole.chain(parts) {
        let most = left.min(share);
        if most == 0 {
            found.left_out.push((path, "the limit of --limit was reached".to_owned()));
            continue;
        }
        match tail(sysroot, &path, most) {
            Ok(tail) => {
                left -= (tail.text.len() as u64).min(left);
                found.taken.push(tail);
            }
            Err(why) => found.left_out.push((path, why)),
        }
    }
    found
}

/// Where CANN and the driver write their logs.
fn places(sysroot: &Sysroot) -> Vec<String> {
    let env = sysroot.env();
    let named = |name: &str, below: &str| Some(format!("{}{below}", env.get(name)?));
    let mut places: Vec<String> = [
        named("ASCEND_PROCESS_LOG_PATH", ""),
        named("ASCEND_WORK_PATH", "/log"),
        named("HOME", "/ascend/log"),
        Some("/root/ascend/log".to_owned()),
        Some("/var/log/npu".to_owned()),
        Some("/var/log/ascend_seclog".to_owned()),
        Some("/var/log/mindx-dl".to_owned()),
    ]
    .into_iter()
    .flatten()
    .filter(|path| path.starts_with('/'))
    .collect();
    places.dedup();
    places
}

fn is_log(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    (lower.contains("log") || lower.ends_with(".txt")) && !lower.ends_with(".gz")
}

fn gather(
    sysroot: &Sysroot,
    path: &str,
    wanted: &dyn Fn(&str) -> bool,
    depth: usize,
    files: &mut Vec<(i64, String)>,
) {
    if files.len() >= FILES || depth > DEPTH {
        return;
    }
    let Ok(stat) = sysroot.lstat(path) else { return };
    match stat.kind {
        FileKind::File => files.push((stat.modified.unwrap_or(0), path.to_owned())),
        // A link that was named is followed; one in a directory may lead in a circle.
        FileKind::Link if depth == 0 => {
            if let Ok(real) = sysroot.real(path) {
                gather(sysroot, &real, wanted, 1, files);
            }
        }
        FileKind::Directory => {
            for (name, kind) in sysroot.entries(path).unwrap_or_default() {
                let below = format!("{}/{name}", path.trim_end_matches('/'));
                if kind == FileKind::Directory || kind == FileKind::File && wanted(&name) {
                    gather(sysroot, &below, wanted, depth + 1, files);
                }
            }
        }
        _ => {}
    }
}

/// At most the last `most` bytes, from the beginning of a line on.
fn tail(sysroot: &Sysroot, path: &str, most: u64) -> Result<Tail, String> {
    let file: SysFile = sysroot.open(path).map_err(|error| error.to_string())?;
    if file.is_partial() {
        return Err("only a part of it was recorded".to_owned());
    }
    let size = file.len();
    let begin = size.saturating_sub(most);
    let mut text = vec![0; usize::try_from(size - begin).map_err(|_| "it is too large")?];
    let count = file.read_at(&mut text, begin).map_err(|error| error.to_string())?;
    text.truncate(count);
    if begin > 0 {
        let line = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
        text.drain(..line);
    }
    if text.iter().take(4096).any(|&byte| byte == 0) {
        return Err("it is no text".to_owned());
    }
    Ok(Tail { path: path.to_owned(), size, text })
}
