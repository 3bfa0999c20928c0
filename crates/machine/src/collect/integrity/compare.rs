//! Compares each file with its entry in RECORD.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::manifest::record::Row;
use crate::sysroot::{ReadError, Sysroot};
use base::hash::Sha256;
use base::progress::Progress;
use facts::FileDifference;
use facts::FileKind;

/// A file listed in a RECORD or a manifest.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// Path on the machine.
    pub(super) path: String,
    /// Size in bytes, if listed.
    pub(super) size: Option<u64>,
    /// Hash, if listed.
    pub(super) hash: Option<Sha256>,
    /// The line of RECORD with these values.
    pub(super) line: Option<u32>,
}

impl Target {
    /// Returns whether a required hash is missing. RECORD cannot contain its own.
    pub(super) fn is_unhashed(&self) -> bool {
        self.hash.is_none() && !self.path.ends_with(".dist-info/RECORD")
    }
}

/// The state of a compared file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// As expected, as far as it was examined; its size, and its hash if it was computed.
    Fine(u64, Option<Sha256>),
    /// It exists with a different size.
    Size(u64),
    /// It exists with the right size and different content.
    Content(u64, Sha256),
    /// It does not exist.
    Missing,
    /// It is not a regular file.
    WrongType(&'static str),
    /// Only its size was recorded.
    Partial(u64),
    /// It cannot be read.
    Unreadable(String),
}

/// All files of one RECORD, compared.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Sorted by path on the machine.
    files: Vec<(Target, State)>,
    /// Number of hashed files.
    pub(super) hashed: u32,
    /// Number of hashed bytes.
    pub(super) bytes: u64,
    /// Whether a file could not be hashed because only a part of it was recorded.
    pub(super) partial: bool,
}

/// The files below the site directory that the rows list, and the number of rows that point
/// elsewhere. Those are scripts (`../../bin/torch_npu_run`, which pip rewrites), or rows of a
/// malicious RECORD that points to unrelated files. Byte code is omitted, because the installer
/// creates it.
pub(super) fn targets(site_dir: &str, rows: Vec<Row>) -> (Vec<Target>, u32) {
    let mut targets: Vec<Target> = Vec::with_capacity(rows.len());
    let mut outside = 0;
    for row in rows {
        if row.path.ends_with(".pyc") {
            continue;
        }
        match below(site_dir, &row.path) {
            Some(path) => {
                let (size, hash, line) = (row.size, row.sha256, Some(row.line));
                targets.push(Target { path, size, hash, line });
            }
            None => outside += 1,
        }
    }
    // If a file has several rows, the last one counts.
    targets.sort_by(|a, b| a.path.cmp(&b.path));
    targets.dedup_by(|later, kept| {
        let same = later.path == kept.path;
        if same {
            std::mem::swap(later, kept);
        }
        same
    });
    (targets, outside)
}

/// The path of a row inside the site directory, without `.` and doubled slashes.
pub(super) fn below(site_dir: &str, row: &str) -> Option<String> {
    if row.starts_with('/') {
        return None;
    }
    let mut path = site_dir.trim_end_matches('/').to_owned();
    for part in row.split('/') {
        match part {
            "" | "." => {}
            ".." => return None,
            part => {
                path.push('/');
                path.push_str(part);
            }
        }
    }
    Some(path)
}

impl Comparison {
    /// Compares sizes, then, if `hash` is given, contents.
    pub(super) fn new(sysroot: &Sysroot, targets: Vec<Target>, hash: Option<&Progress>) -> Self {
        let mut states: Vec<(Target, State)> = targets
            .into_par_iter()
            .map(|target| {
                let state = sizes(sysroot, &target);
                (target, state)
            })
            .collect();
        let mut compared = Self::default();
        if let Some(progress) = hash {
            compared.hash(sysroot, &mut states, progress);
        }
        compared.files = states;
        compared
    }

    /// The state of the file at `path`, if it was compared.
    pub(super) fn get(&self, path: &str) -> Option<&State> {
        let at = self.files.binary_search_by(|(target, _)| target.path.as_str().cmp(path));
        at.ok().map(|at| &self.files[at].1)
    }

    /// Hashes all files with the right size, on all cores, the largest first, so that no core is
    /// left with a large file at the end.
    fn hash(&mut self, sysroot: &Sysroot, states: &mut [(Target, State)], progress: &Progress) {
        let mut queue: Vec<(usize, u64)> = states
            .iter()
            .enumerate()
            .filter(|(_, (target, _))| target.hash.is_some())
            .filter_map(|(index, (_, state))| match state {
                State::Fine(size, _) => Some((index, *size)),
                _ => None,
            })
            .collect();
        queue.sort_by_key(|&(index, size)| (std::cmp::Reverse(size), index));
        let total = queue.iter().map(|(_, size)| size).sum();
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let tell = |bytes: u64| {
            let before = done.fetch_add(bytes, Ordering::Relaxed);
            progress.report(before + bytes, total);
        };
        let work = |_: rayon::BroadcastContext<'_>| {
            let mut mine = Vec::new();
            while let Some(&(index, size)) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
                mine.push((index, contents(sysroot, &states[index].0, size, &tell)));
            }
            mine
        };
        for (index, state) in rayon::broadcast(work).into_iter().flatten() {
            match &state {
                State::Fine(size, _) | State::Content(size, _) => {
                    self.hashed += 1;
                    self.bytes += size;
                }
                State::Partial(_) => self.partial = true,
                _ => {}
            }
            states[index].1 = state;
        }
    }

    /// The files that differ: code before metadata, then by path.
    pub(super) fn differences(&self) -> Vec<FileDifference> {
        let mut found: Vec<FileDifference> =
            self.files.iter().filter_map(|(target, state)| difference(target, state)).collect();
        found.sort_by_key(|difference| difference.path.contains(".dist-info/"));
        found
    }
}

/// Compares one file with its expected size and hash.
pub(super) fn compare_one(sysroot: &Sysroot, target: &Target) -> State {
    match sizes(sysroot, target) {
        State::Fine(size, _) if target.hash.is_some() => contents(sysroot, target, size, &|_| ()),
        state => state,
    }
}

fn sizes(sysroot: &Sysroot, target: &Target) -> State {
    match sysroot.stat(&target.path) {
        Ok(stat) if stat.kind != FileKind::File => State::WrongType(stat.kind.describe()),
        Ok(stat) if target.size.is_some_and(|size| size != stat.size) => State::Size(stat.size),
        Ok(stat) => State::Fine(stat.size, None),
        Err(ReadError::NotFound | ReadError::NotDirectory) => State::Missing,
        Err(error) => State::Unreadable(error.to_string()),
    }
}

fn contents(sysroot: &Sysroot, target: &Target, size: u64, progress: &dyn Fn(u64)) -> State {
    match sysroot.sha256(&target.path, progress) {
        Ok(hash) if Some(hash) == target.hash => State::Fine(size, Some(hash)),
        Ok(hash) => State::Content(size, hash),
        Err(ReadError::Partial) => State::Partial(size),
        Err(ReadError::NotFound | ReadError::NotDirectory) => State::Missing,
        Err(ReadError::NotRegular(what)) => State::WrongType(what.describe()),
        Err(error) => State::Unreadable(error.to_string()),
    }
}

/// The difference in the form of the facts; `None` if there is none.
pub(super) fn difference(target: &Target, state: &State) -> Option<FileDifference> {
    let size = || target.size.map(|size| size.to_string()).unwrap_or_default();
    let (kind, expected, found) = match state {
        State::Fine(..) | State::Partial(_) => return None,
        State::Size(have) => ("size", size(), have.to_string()),
        State::Content(_, hash) => {
            let expected = target.hash.map(spell).unwrap_or_default();
            ("hash", expected, spell(*hash))
        }
        State::Missing => ("missing", size(), String::new()),
        State::WrongType(what) => ("type", String::new(), (*what).to_owned()),
        State::Unreadable(why) => ("unreadable", String::new(), why.clone()),
    };
    let (path, line) = (target.path.clone(), target.line);
    Some(FileDifference { path, kind: kind.to_owned(), expected, found, line })
}

/// The hash in the notation of RECORD.
fn spell(hash: Sha256) -> String {
    format!("sha256={}", hash.base64url())
}
