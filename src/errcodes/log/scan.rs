//! Scans one log from its first byte to its last, in bounded memory.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;
use std::io::{self, Read};
use std::ops::Range;

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashMapExt as _};

mod fill;
mod repeats;

use self::fill::fill;
use self::repeats::{Held, Repeats, without_time};
use super::attendance::Attendance;
use super::matcher::{self, Context, Hit};
use super::mention::Mentions;
use super::time::Time;
use super::traceback::{Step, Traceback};

/// The size of a read, in bytes.
const CHUNK: usize = 256 << 10;
/// The maximum number of bytes examined on either side of a literal: longer lines are cut.
const REACH: usize = 8 << 10;
/// The size of the end of a long log that is searched for ranks, in bytes.
const TAIL: usize = 64 << 10;
/// The distance that is searched backwards for the time of a line without one, in bytes.
const LOOK_BACK: usize = 4 << 10;
/// The largest log whose lines are joined in case a terminal wrapped them, in bytes.
const WRAPPED: usize = 192 << 10;

/// The capture that is a list of ranks: for a large job it continues over many lines, which are
/// kept as one.
const LIST: &str = "ranks";
/// The maximum length of such a list, in bytes: enough for 100,000 ranks.
const LIST_LENGTH: usize = 2 << 20;

/// The limits of the data kept of one log.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Different hits.
    pub records: usize,
    /// Hits of one rule that differ only in their captures.
    pub variants: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { records: 2_000, variants: 24 }
    }
}

/// A hit and how often it occurred.
#[derive(Debug, Clone)]
pub struct Record {
    /// The first one.
    pub hit: Hit,
    /// Its line, counted from 1.
    pub line: u64,
    /// The number of occurrences.
    pub count: u64,
    /// When the last one was written.
    pub last: Option<Time>,
    /// Whether the line states its time. Otherwise it has the time of a line before it.
    pub timed: bool,
}

/// The content of one log.
#[derive(Debug, Clone, Default)]
pub struct FileReport {
    /// The name of the log in reports.
    pub name: String,
    /// Its lines.
    pub lines: u64,
    /// Its bytes, unpacked.
    pub bytes: u64,
    /// The recognized hits, in the order of the first lines.
    pub records: Vec<Record>,
    /// The number of hits that were not kept.
    pub dropped: u64,
    /// Lines that were cut.
    pub cut: u64,
    /// How often each operator was computed on the CPU.
    pub fallbacks: BTreeMap<String, u64>,
    /// The first moment near its start.
    pub first: Option<Time>,
    /// The last moment near its end.
    pub last: Option<Time>,
    /// Whether its last lines contain an end mark of a finished run.
    pub finished: bool,
    /// Why it was not read to its end.
    pub ended: Option<String>,
    /// The ranks of the log, from its first and last lines.
    pub(super) attendance: Attendance,
    /// The programs and words in its first and last lines.
    pub(super) mentions: Mentions,
}

/// Reads a log. If `reader` fails, the report contains the hits before the failure, and the reason.
pub fn scan(name: &str, reader: &mut dyn Read, limits: Limits) -> FileReport {
    let mut scanner = Scanner::new(name, limits);
    if let Err(error) = scanner.run(reader) {
        scanner.report.ended = Some(error.to_string());
    }
    scanner.into_report()
}

pub(super) struct Scanner {
    report: FileReport,
    /// The indices of records, by a hash of the fields that make hits equal, including captures.
    seen: HashMap<u64, usize>,
    /// The number of kept hits that differ only in their captures, by a hash of the rest.
    variants: HashMap<u64, usize>,
    /// The indices of lists that continue over many lines, by the same hash.
    lists: HashMap<u64, usize>,
    /// By record, its key in `seen`.
    keys: Vec<u64>,
    /// The records of each weight.
    weights: BTreeMap<u8, Vec<usize>>,
    hasher: RandomState,
    limits: Limits,
    /// Lines of tracebacks before the current one, if lines come one by one.
    above: Vec<u8>,
    /// A traceback whose end was not reached.
    traceback: Option<Traceback>,
    repeats: Repeats,
}

/// The outcome for a hit.
enum Fate {
    /// It is kept, or counted, under this key.
    Kept(u64),
    /// It exceeds a limit.
    Dropped,
    /// It belongs to a list that continues over several lines.
    Listed,
}

impl Scanner {
    pub(super) fn new(name: &str, limits: Limits) -> Self {
        Self {
            report: FileReport { name: name.to_owned(), ..FileReport::default() },
            seen: HashMap::new(),
            variants: HashMap::new(),
            lists: HashMap::new(),
            keys: Vec::new(),
            weights: BTreeMap::new(),
            hasher: RandomState::default(),
            limits,
            above: Vec::new(),
            traceback: None,
            repeats: Repeats::default(),
        }
    }

    pub(super) fn into_report(mut self) -> FileReport {
        let above = std::mem::take(&mut self.above);
        self.end_inside_traceback(&above, self.report.lines);
        // A specific hit may have replaced an earlier one.
        self.report.records.sort_by_key(|record| record.line);
        self.report
    }

    /// Whether the next line may end a traceback.
    pub(super) fn is_in_traceback(&self) -> bool {
        self.traceback.is_some()
    }

    /// Counts a line without a literal.
    pub(super) fn count_line(&mut self, line: &[u8]) {
        self.remember_line(line);
        self.report.lines += 1;
        self.report.bytes += line.len() as u64;
        self.report.last = Time::find(line).or(self.report.last);
    }

    /// Examines one complete line, and returns the new hits.
    pub(super) fn take(&mut self, line: &[u8]) -> Vec<Hit> {
        let number = self.report.lines + 1;
        self.scan_region(line);
        self.remember_line(line);
        self.report.lines = number;
        self.report.bytes += line.len() as u64;
        self.report.last = Time::find(line).or(self.report.last);
        let new = self.report.records.iter().filter(|record| record.line == number);
        new.map(|record| record.hit.clone()).collect()
    }

    /// Keeps the context for later lines: the frames of a traceback, and their entry in a report of
    /// torchrun.
    fn remember_line(&mut self, line: &[u8]) {
        let entry = || line.trim_ascii_end().ends_with(b"]:") || line.starts_with(b"Root Cause (");
        if memchr::memmem::find(line, b"File \"").is_some() || entry() {
            if self.above.len() + line.len() > LOOK_BACK {
                self.above.clear();
            }
            self.above.extend_from_slice(&line[..line.len().min(LOOK_BACK)]);
        }
    }

    fn run(&mut self, reader: &mut dyn Read) -> io::Result<()> {
        let mut buffer: Vec<u8> = Vec::with_capacity(CHUNK);
        let mut small = true;
        let mut decoder = None;
        loop {
            let kept = buffer.len();
            let more = fill(reader, &mut buffer, &mut decoder, self.report.bytes == 0 && kept == 0);
            self.report.bytes += (buffer.len() - kept) as u64;
            let ended = !matches!(more, Ok(true));
            if self.report.first.is_none() && kept == 0 {
                self.report.first = find_first_time(&buffer[..buffer.len().min(LOOK_BACK)]);
            }
            small &= ended && kept == 0 && buffer.len() <= WRAPPED;
            let whole = if ended {
                buffer.len()
            } else if let Some(at) = memchr::memrchr(b'\n', &buffer) {
                at + 1
            } else {
                // A line without an end: the rest is enough to recognize its kind.
                self.report.cut += 1;
                buffer.len().saturating_sub(REACH)
            };
            let first_line = self.report.lines;
            if first_line == 0 {
                self.report.attendance.read(&buffer[..whole]);
                self.report.mentions.read(&buffer[..whole]);
            } else if ended {
                let tail = &buffer[..whole];
                let tail = &tail[tail.len().saturating_sub(TAIL)..];
                self.report.attendance.read(tail);
                self.report.mentions.read(tail);
            }
            self.scan_region(&buffer[..whole]);
            if small {
                self.scan_wrapped(&buffer[..whole], first_line);
            }
            if ended {
                let tail = &buffer[buffer.len().saturating_sub(LOOK_BACK)..];
                self.end_inside_traceback(tail, self.report.lines);
                self.report.last = find_last_time(tail).or(self.report.last);
                self.report.finished = super::end_mark::is_finished(tail);
                if buffer.last().is_some_and(|byte| *byte != b'\n') {
                    self.report.lines += 1;
                }
                return more.map(|_| ());
            }
            self.report.last = find_last_time(&buffer[whole.saturating_sub(LOOK_BACK)..whole]);
            buffer.drain(..whole);
        }
    }

    /// Examines the candidate lines in a text of complete lines.
    fn scan_region(&mut self, text: &[u8]) {
        let (mut at, mut counted) = (0, 0);
        self.end_traceback(text, 0, self.report.lines + 1);
        while let Some(end) = matcher::next_candidate(text, at) {
            let (start, stop) = find_logical_line(text, at, end);
            self.report.lines += count_newlines(&text[counted..start]);
            counted = start;
            let line = self.report.lines + 1;
            self.scan_line(text, start, stop, line);
            if let Some(begun) = Traceback::begin(&text[start..stop]) {
                self.traceback = Some(begun);
                self.end_traceback(text, stop + 1, line + 1);
            }
            at = stop.max(end);
        }
        self.report.lines += count_newlines(&text[counted..]);
    }

    /// Searches for the end of a traceback, from a line that begins at `from`, and keeps its hits.
    fn end_traceback(&mut self, text: &[u8], mut from: usize, mut line: u64) {
        let Some(mut traceback) = self.traceback.take() else { return };
        while from < text.len() {
            let end = memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at);
            let raw = text[from..end.min(from + REACH)].trim_ascii_end();
            match traceback.advance(raw) {
                Step::Inside => {}
                Step::Over => return,
                Step::Raised(at) => {
                    let before = &text[from.saturating_sub(LOOK_BACK)..from];
                    let above =
                        if before.is_empty() { self.above.clone() } else { before.to_vec() };
                    let mut found = matcher::examine_raised(raw, &above, at);
                    let time = || find_last_time(before);
                    for hit in std::mem::take(&mut found.hits) {
                        self.keep(hit, line, time, |span| found.text(span));
                    }
                    return;
                }
            }
            from = end + 1;
            line += 1;
        }
        self.traceback = Some(traceback);
    }

    /// Keeps the location if the log ends inside a traceback. `tail` is the end of the log, `lines`
    /// its number of lines.
    fn end_inside_traceback(&mut self, tail: &[u8], lines: u64) {
        if self.traceback.take().is_none() {
            return;
        }
        let Some((mut found, start)) = matcher::examine_cut(tail) else { return };
        let line = (lines + 1).saturating_sub(count_newlines(&tail[start..])).max(1);
        for hit in std::mem::take(&mut found.hits) {
            self.keep(hit, line, || find_last_time(tail), |span| found.text(span));
        }
    }

    fn scan_line(&mut self, text: &[u8], start: usize, stop: usize, line: u64) {
        if stop - start >= 2 * REACH {
            self.report.cut += 1;
        }
        let raw = &text[start..stop];
        let key = self.hasher.hash_one(without_time(raw));
        let before = &text[start.saturating_sub(LOOK_BACK)..start];
        if self.count_repeat(key, raw, before) {
            return;
        }
        let above = if before.is_empty() { self.above.as_slice() } else { before };
        let mut found = matcher::examine(raw, above);
        let mut held = Held { fallback: found.fallback.take(), ..Held::default() };
        let mut alone = match found.context {
            Context::Alone => true,
            Context::Frame => {
                held.frame = Some(self.hasher.hash_one(matcher::frame_above(raw, above)));
                true
            }
            Context::Lines => false,
        };
        self.count_fallback(held.fallback.as_deref());
        let time = || find_last_time(&text[start.saturating_sub(LOOK_BACK)..start]);
        for hit in std::mem::take(&mut found.hits) {
            match self.keep(hit, line, time, |span| found.text(span)) {
                Fate::Kept(key) => held.kept.push(key),
                Fate::Dropped => held.dropped += 1,
                Fate::Listed => alone = false,
            }
        }
        if alone {
            self.repeats.remember(key, held);
        }
    }

    /// Counts a line that was read before with another time.
    fn count_repeat(&mut self, key: u64, raw: &[u8], before: &[u8]) -> bool {
        let Some(held) = self.repeats.get(key) else { return false };
        if let Some(frame) = held.frame {
            let above = if before.is_empty() { self.above.as_slice() } else { before };
            if self.hasher.hash_one(matcher::frame_above(raw, above)) != frame {
                return false;
            }
        }
        // If a more specific hit has replaced one of its hits, the line is read again.
        if held.kept.iter().any(|key| !self.seen.contains_key(key)) {
            return false;
        }
        let time = if held.kept.is_empty() { None } else { Time::find(raw) };
        for key in &held.kept {
            let record = &mut self.report.records[self.seen[key]];
            record.count += 1;
            record.last = time.or(record.last);
        }
        self.report.dropped += held.dropped;
        let fallback = held.fallback.clone();
        self.count_fallback(fallback.as_deref());
        true
    }

    fn count_fallback(&mut self, operator: Option<&str>) {
        let Some(operator) = operator else { return };
        if let Some(count) = self.report.fallbacks.get_mut(operator) {
            *count += 1;
        } else if self.report.fallbacks.len() < self.limits.records {
            self.report.fallbacks.insert(operator.to_owned(), 1);
        }
    }

    /// Keeps a hit, or adds it to the count of an equal one.
    fn keep(
        &mut self,
        mut hit: Hit,
        line: u64,
        time: impl Fn() -> Option<Time>,
        text: impl Fn(&Range<usize>) -> (String, String),
    ) -> Fate {
        let fields = &hit.fields;
        let kind = (&hit.rule, fields.rank, fields.container, fields.device, fields.pid);
        // A failure after warnings with the same text is another line of evidence.
        let same = (kind, &hit.captures, hit.gravity as u8);
        let (key, kind) = (self.hasher.hash_one(same), self.hasher.hash_one(kind));
        if let Some(index) = self.seen.get(&key) {
            let record = &mut self.report.records[*index];
            record.count += 1;
            record.last = hit.fields.time.or(record.last);
            return Fate::Kept(key);
        }
        if let Some((_, more)) = hit.captures.iter().find(|(name, _)| *name == LIST)
            && let Some(place) = self.lists.get(&kind)
            && let Some(record) = self.report.records.get_mut(*place)
            && record.hit.rule == hit.rule
            && let Some((_, list)) = record.hit.captures.iter_mut().find(|(name, _)| *name == LIST)
        {
            if list.len() < LIST_LENGTH {
                list.push(' ');
                list.push_str(more);
            }
            record.count += 1;
            record.hit.gravity = record.hit.gravity.max(hit.gravity);
            return Fate::Listed;
        }
        let variants = self.variants.get(&kind).copied().unwrap_or(0);
        let place = if variants < self.limits.variants { self.find_slot(hit.weight) } else { None };
        let Some(place) = place else {
            self.report.dropped += 1;
            return Fate::Dropped;
        };
        let timed = hit.fields.time.is_some();
        hit.fields.time = hit.fields.time.or_else(time).or(self.report.last);
        (hit.text, hit.matched) = text(&hit.span);
        let is_list = hit.captures.iter().any(|(name, _)| *name == LIST);
        if is_list {
            self.lists.insert(kind, place);
        }
        self.variants.insert(kind, variants + 1);
        self.seen.insert(key, place);
        self.weights.entry(hit.weight).or_default().push(place);
        let last = hit.fields.time;
        let record = Record { hit, line, count: 1, last, timed };
        if let Some(old) = self.report.records.get_mut(place) {
            *old = record;
            self.keys[place] = key;
        } else {
            self.report.records.push(record);
            self.keys.push(key);
        }
        if is_list { Fate::Listed } else { Fate::Kept(key) }
    }

    /// The slot for a hit of this weight: if there are too many, the least specific one is removed.
    fn find_slot(&mut self, weight: u8) -> Option<usize> {
        let free = self.report.records.len();
        if free < self.limits.records {
            return Some(free);
        }
        let mut least = self.weights.first_entry().filter(|least| *least.key() < weight)?;
        // The last of them, because the first occurrences are more useful.
        let place = least.get_mut().pop()?;
        if least.get().is_empty() {
            least.remove();
        }
        self.seen.remove(&self.keys[place]);
        self.report.dropped += 1;
        Some(place)
    }

    /// Scans lines that a terminal or a form wrapped within a word, for a literal across the end of
    /// a line.
    fn scan_wrapped(&mut self, text: &[u8], first_line: u64) {
        const NEAR: usize = 48;
        let mut start = 0;
        for (line, end) in (first_line + 1..).zip(memchr::memchr_iter(b'\n', text)) {
            let next = end + 1;
            if end - start >= 40 && next < text.len() {
                let before = &text[end - NEAR.min(end - start)..end];
                let after = &text[next..text.len().min(next + NEAR)];
                let joined = [before, after].concat();
                if is_crossing(&joined, before.len()) {
                    let stop =
                        memchr::memchr(b'\n', &text[next..]).map_or(text.len(), |at| next + at);
                    let stop = stop.min(next + REACH);
                    let begin = start.max(end.saturating_sub(REACH));
                    let whole = [&text[begin..end], &text[next..stop]].concat();
                    let before = &text[begin.saturating_sub(LOOK_BACK)..begin];
                    let mut found = matcher::examine(&whole, before);
                    let time = || find_last_time(&text[start.saturating_sub(LOOK_BACK)..start]);
                    for hit in std::mem::take(&mut found.hits) {
                        if !self.report.records.iter().any(|record| record.hit.rule == hit.rule) {
                            self.keep(hit, line, time, |span| found.text(span));
                        }
                    }
                }
            }
            start = next;
        }
    }
}

/// Whether a literal begins before `at` and ends after it.
fn is_crossing(joined: &[u8], at: usize) -> bool {
    let mut from = 0;
    while let Some(end) = matcher::next_candidate(joined, from) {
        if end > at {
            // It may be entirely behind `at`; then the text up to `at` plays no part.
            return matcher::next_candidate(&joined[at..], 0).is_none_or(|alone| at + alone != end);
        }
        from = end;
    }
    false
}

/// The line around a literal that ends at `end`, not before `from`. Lines end with a line feed, a
/// carriage return, or the two characters `\n` of a text in JSON.
fn find_logical_line(text: &[u8], from: usize, end: usize) -> (usize, usize) {
    let lowest = from.max(end.saturating_sub(REACH));
    let mut start = lowest;
    let mut upper = end;
    while let Some(at) = memchr::memrchr3(b'\n', b'\r', b'\\', &text[lowest..upper]) {
        let at = lowest + at;
        if let Some(length) = line_end_length(text, at) {
            start = at + length;
            break;
        }
        upper = at;
    }
    let highest = text.len().min(end + REACH);
    let mut lower = end;
    while let Some(at) = memchr::memchr3(b'\n', b'\r', b'\\', &text[lower..highest]) {
        let at = lower + at;
        if line_end_length(text, at).is_some() {
            return (start, at);
        }
        lower = at + 1;
    }
    (start, highest)
}

/// The length of the line ending at `at`, if there is one.
fn line_end_length(text: &[u8], at: usize) -> Option<usize> {
    match text[at] {
        b'\\' => matches!(text.get(at + 1), Some(b'n' | b'r')).then_some(2),
        _ => Some(1),
    }
}

fn count_newlines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

fn find_first_time(text: &[u8]) -> Option<Time> {
    text.split(|byte| *byte == b'\n').find_map(Time::find)
}

fn find_last_time(text: &[u8]) -> Option<Time> {
    text.rsplit(|byte| *byte == b'\n').find_map(Time::find)
}

#[cfg(test)]
mod tests;
