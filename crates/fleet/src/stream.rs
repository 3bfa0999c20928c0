//! Reads a stream that carries the reports of many hosts.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};

use rayon::prelude::*;

use super::fleet_reports::Fleet;
use super::record::{Record, RejectReason, SiteJudge, read_and_judge};
use super::split::{LabeledSplitter, MAX_DOCUMENT, Piece};

/// Number of bytes of queued documents that are read together.
const BATCH_BYTES: usize = 32 << 20;
/// Maximum length of a line that is not split, in bytes.
const MAX_LINE: usize = MAX_DOCUMENT + (1 << 20);
/// Maximum number of queued documents.
const BATCH_DOCUMENTS: usize = 1024;
/// Labels that launchers put before lines that are not from a host.
const LAUNCHERS: [&str; 7] = ["srun", "slurmstepd", "pdsh", "clush", "ssh", "kubectl", "salloc"];

/// Lines of a stream that belong to no report.
#[derive(Debug, Default)]
pub struct UnrelatedLines {
    /// Their number.
    pub count: usize,
    /// The first of them.
    pub first: Option<String>,
}

/// Reads a stream to its end. `now` returns the current time: seconds since 1970, UTC. `judge`
/// compares each report with the expectations of a site.
///
/// # Errors
///
/// Reading failed.
pub fn read_stream(
    input: &mut impl BufRead,
    fleet: &mut Fleet,
    other: &mut UnrelatedLines,
    now: &dyn Fn() -> Option<i64>,
    judge: Option<SiteJudge<'_>>,
) -> io::Result<()> {
    let mut labelled = LabeledSplitter::default();
    let mut line = Vec::new();
    let mut hosts = StreamHosts {
        fleet,
        other,
        now,
        judge,
        hosts: BTreeMap::new(),
        count: 0,
        waiting: Vec::new(),
        bytes: 0,
    };
    loop {
        line.clear();
        let count = (&mut *input).take(MAX_LINE as u64).read_until(b'\n', &mut line)?;
        if count == 0 {
            break;
        }
        labelled.line(&line, &mut |label, piece| hosts.add_piece(label, piece));
    }
    labelled.end(&mut |label, piece| hosts.add_piece(label, piece));
    hosts.read_waiting();
    hosts.refuse_silent_hosts();
    Ok(())
}

/// The hosts of a stream: those with a report, and a line of each of the others.
struct StreamHosts<'a> {
    fleet: &'a mut Fleet,
    other: &'a mut UnrelatedLines,
    now: &'a dyn Fn() -> Option<i64>,
    judge: Option<SiteJudge<'a>>,
    hosts: BTreeMap<String, Option<String>>,
    /// Number of documents without a label.
    count: usize,
    /// Queued documents with their labels, and their size.
    waiting: Vec<(Option<String>, Piece)>,
    bytes: usize,
}

impl StreamHosts<'_> {
    /// Adds the next piece of the stream. Documents are queued. Of other lines, one is kept for
    /// each host and one for all lines without a host, so that memory stays bounded.
    fn add_piece(&mut self, label: Option<&str>, piece: Piece) {
        match piece {
            Piece::Other(line) => {
                let Some(label) = label.filter(|label| !LAUNCHERS.contains(label)) else {
                    self.other.count += 1;
                    self.other.first.get_or_insert(line);
                    return;
                };
                if !self.hosts.contains_key(label) {
                    self.hosts.insert(label.to_owned(), Some(line));
                }
            }
            Piece::Document(ref bytes) | Piece::Broken(ref bytes) => {
                self.bytes += bytes.len();
                self.waiting.push((label.map(str::to_owned), piece));
                if self.bytes >= BATCH_BYTES || self.waiting.len() >= BATCH_DOCUMENTS {
                    self.read_waiting();
                }
            }
        }
    }

    /// Reads the queued documents.
    fn read_waiting(&mut self) {
        // Streams arrive while they are written, so that the current time is that of the report.
        let (arrived, judge) = ((self.now)(), self.judge);
        self.bytes = 0;
        let outcomes: Vec<_> = std::mem::take(&mut self.waiting)
            .into_par_iter()
            .map(|(label, piece)| {
                let outcome = match piece {
                    Piece::Document(bytes) => read_and_judge(&bytes, judge),
                    _ => Err(RejectReason::Form(data::faults::BreaksOff.value())),
                };
                (label, outcome.map(|record| Record { arrived, ..record }))
            })
            .collect();
        for (label, outcome) in outcomes {
            let Some(label) = label else {
                self.count += 1;
                self.fleet.add_outcome(&format!("#{}", self.count), outcome);
                continue;
            };
            if matches!(outcome, Err(RejectReason::Stage)) {
                let line = Some("stages without the final report".to_owned());
                self.hosts.entry(label.clone()).or_insert(line);
            } else {
                self.hosts.insert(label.clone(), None);
            }
            self.fleet.add_outcome(&label, outcome);
        }
    }

    /// Refuses hosts that sent lines but no report.
    fn refuse_silent_hosts(self) {
        for (host, line) in self.hosts {
            if let Some(line) = line {
                self.fleet.refuse(&host, data::faults::NoReportBut { text: line }.value());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_without_report_are_refused() {
        let report = r#"{"schema": "ascend-doctor/check/1", "host": {"name": "a"}}"#;
        let input = format!("loading\nsrun: queued\na: {report}\nb: command not found\n");
        let (mut fleet, mut other) = (Fleet::default(), UnrelatedLines::default());
        read_stream(&mut input.as_bytes(), &mut fleet, &mut other, &|| Some(7), None).unwrap();
        assert_eq!(fleet.hosts["a"].check.as_ref().unwrap().arrived, Some(7));
        assert_eq!((fleet.hosts.len(), fleet.unread.len()), (1, 1), "{:?}", fleet.unread);
        assert_eq!(fleet.unread[0].source, "b");
        assert_eq!(fleet.unread[0].why.en, "no report, only: command not found");
        assert_eq!((other.count, other.first.as_deref()), (2, Some("loading")));
    }
}
