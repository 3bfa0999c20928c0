//! Translates a stream while it is written, line by line.

use std::collections::BTreeSet;

use super::matcher::{self, Hit};
use super::role::Role;
use super::scan::{FileReport, Limits, Scanner};

/// The maximum length of a line, in bytes; longer lines are cut.
const LINE: usize = 64 << 10;

/// Reads a stream piece by piece, and keeps the records for a diagnosis at its end.
pub struct Follower {
    scanner: Scanner,
    /// The unfinished line.
    line: Vec<u8>,
    /// Causes that were already returned, with their rank: several signatures match one failure.
    returned: BTreeSet<(String, Option<u32>)>,
}

impl Follower {
    /// Creates a reader of the log `name`.
    pub fn new(name: &str) -> Self {
        Self {
            scanner: Scanner::new(name, Limits::default()),
            line: Vec::new(),
            returned: BTreeSet::new(),
        }
    }

    /// Adds bytes, and returns the new causes in the lines that they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Hit> {
        let mut found = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE.saturating_sub(self.line.len()).min(part.len());
            self.line.extend_from_slice(&part[..room]);
            if part.ends_with(b"\n") {
                self.end_line(&mut found);
            }
        }
        found
    }

    /// Ends the stream, and returns the report.
    pub fn finish(mut self) -> FileReport {
        if !self.line.is_empty() {
            self.end_line(&mut Vec::new());
        }
        self.scanner.into_report()
    }

    fn end_line(&mut self, found: &mut Vec<Hit>) {
        let line = std::mem::take(&mut self.line);
        if !self.scanner.is_in_traceback() && matcher::next_candidate(&line, 0).is_none() {
            self.scanner.count_line(&line);
            return;
        }
        let new = self.scanner.take(&line);
        found.extend(new.into_iter().filter(|hit| {
            hit.role >= Role::Consequence
                && !hit.cause.is_empty()
                && self
                    .returned
                    .insert((hit.cause.clone(), hit.fields.rank.or(hit.fields.container)))
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_line_of_a_traceback_is_returned_without_literal() {
        let mut follower = Follower::new("-");
        let frame =
            b"Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    f(x)\n";
        assert!(follower.feed(frame).is_empty());
        assert_eq!(follower.feed(b"cv2.error: OpenCV(4.10.0) a.cpp:1: error\n").len(), 1);
        assert!(follower.feed(b"queue.Empty\n").is_empty());
    }

    #[test]
    fn cause_is_returned_once_at_the_end_of_its_line() {
        let mut follower = Follower::new("-");
        assert!(follower.feed(b"step 1\nRuntimeError: NPU out of ").is_empty());
        let hits = follower.feed(b"memory\nstep 2\n");
        assert_eq!(hits.len(), 1);
        assert!(follower.feed(b"RuntimeError: NPU out of memory\n").is_empty());
        let report = follower.finish();
        assert_eq!((report.lines, report.records.len(), report.records[0].count), (4, 1, 2));
        assert_eq!(report.records[0].line, 2);
    }
}
