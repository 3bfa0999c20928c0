//! Files that are parts of one log: `train.log.2.gz`, `train.log.1` and `train.log`.

use std::collections::{BTreeMap, BTreeSet};

use super::scan::FileReport;

/// Endings of compressed files.
const COMPRESSED: [&str; 5] = [".gz", ".xz", ".bz2", ".zst", ".Z"];

/// Puts the parts of each log next to each other, the oldest first.
pub(super) fn order(files: &mut [FileReport]) {
    let newest: BTreeSet<String> = files.iter().map(|file| plain(&file.name).to_owned()).collect();
    let mut place: BTreeMap<String, usize> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        place.entry(part(&file.name, &newest).0.to_owned()).or_insert(index);
    }
    files.sort_by_cached_key(|file| {
        let (log, generation) = part(&file.name, &newest);
        (place.get(log).copied(), std::cmp::Reverse(generation))
    });
}

/// The log of each file, and the number of lines in its older parts.
#[derive(Debug, Clone)]
pub(super) struct Logs {
    parts: Vec<Part>,
}

/// The place of a file in its log.
#[derive(Debug, Clone)]
struct Part {
    name: String,
    log: usize,
    before: u64,
}

impl Logs {
    /// The logs of `files`, sorted by [`order`].
    pub(super) fn new(files: &[FileReport]) -> Self {
        let newest = files.iter().map(|file| plain(&file.name).to_owned()).collect();
        let mut parts: Vec<Part> = Vec::with_capacity(files.len());
        for (index, file) in files.iter().enumerate() {
            let name = part(&file.name, &newest).0;
            let older = index.checked_sub(1).map(|older| (&parts[older], files[older].lines));
            let (log, before) = match older.filter(|(older, _)| older.name == name) {
                Some((older, lines)) => (older.log, older.before + lines),
                None => (index, 0),
            };
            parts.push(Part { name: name.to_owned(), log, before });
        }
        Self { parts }
    }

    /// The name of the log of a file.
    pub(super) fn name(&self, file: usize) -> &str {
        &self.parts[file].name
    }

    /// The index of the log of a file.
    pub(super) fn log(&self, file: usize) -> usize {
        self.parts[file].log
    }

    /// The number of a line in its log, counted from 1.
    pub(super) fn position(&self, file: usize, line: u64) -> u64 {
        self.parts[file].before + line
    }
}

/// The name without the ending of a compressed file.
fn plain(name: &str) -> &str {
    COMPRESSED.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The log of a file, and the age of the part. A number at the end proves nothing: `out.0` and
/// `out.1` may belong to two ranks. Among rotated files, one has no number.
fn part<'a>(name: &'a str, newest: &BTreeSet<String>) -> (&'a str, u32) {
    let plain = plain(name);
    let numbered = plain.rsplit_once('.').and_then(|(log, number)| {
        let generation: u32 = number.parse().ok()?;
        (number.len() <= 3 && newest.contains(log)).then_some((log, generation))
    });
    numbered.unwrap_or((plain, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(names: &[&str]) -> Vec<(String, usize, u64)> {
        let report = |name: &&str| {
            let mut file =
                super::super::scan(name, &mut &b"a\nb\n"[..], super::super::Limits::default());
            file.name = (*name).to_owned();
            file
        };
        let mut files: Vec<FileReport> = names.iter().map(report).collect();
        order(&mut files);
        let logs = Logs::new(&files);
        let named = files.iter().enumerate();
        named.map(|(at, file)| (file.name.clone(), logs.log(at), logs.position(at, 1))).collect()
    }

    #[test]
    fn rotated_parts_are_one_log() {
        let row = |name: &str, log, position| (name.to_owned(), log, position);
        assert_eq!(
            ordered(&["d/a.log", "d/a.log.1", "d/a.log.2.gz", "d/b.log"]),
            [
                row("d/a.log.2.gz", 0, 1),
                row("d/a.log.1", 0, 3),
                row("d/a.log", 0, 5),
                row("d/b.log", 3, 1)
            ]
        );
    }

    #[test]
    fn numbers_alone_are_no_rotation() {
        let logs: Vec<usize> =
            ordered(&["out.0", "out.1", "x/a.log.1"]).into_iter().map(|row| row.1).collect();
        assert_eq!(logs, [0, 1, 2]);
    }
}
