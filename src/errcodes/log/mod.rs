//! Logs: from lines to the first cause.
//!
//! ```text
//! inputs -> source (files, archives) -> scan (candidate lines) -> line (fields) -> matcher (hits)
//!        -> rank (causes, consequences), cluster (ranks against each other) -> Diagnosis
//! ```
//!
//! Every stage is a function of the output of the previous stage. Input is streamed; only hits are
//! kept, a bounded number for each file. A line is examined only if it contains one of the literals
//! of `data/errors/signatures/` or a code (see [`matcher`]).

mod advice_text;
mod attendance;
mod cluster;
mod codes;
mod diagnose;
mod diagnosis;
mod end_mark;
mod fallback;
mod follow;
mod frame;
mod gravity;
mod handled_errors;
mod inherited_time;
mod jobs;
mod known;
mod line_fields;
mod matcher;
pub(crate) mod mention;
mod page;
mod prefix;
mod process;

mod proof;
mod rank;
mod redact;
mod role;
mod scan;
mod series;
mod signature;
mod signature_table;
mod source;
mod text;
mod time;
mod timeline;
mod traceback;

pub use diagnose::{Filter, diagnose};
pub use diagnosis::{
    Diagnosis, FaultLocation, FoldedConsequence, Line, MissingEvidence, RankedCause, ReadSummary,
    RejectReason, RejectedCause, Suspect,
};
pub use fallback::find_operator as fallback_operator;
pub use follow::Follower;
pub use line_fields::{Fields, Level};
pub use matcher::{Hit, literals};
pub use page::{DiagnosisMember, ReportOptions, describe_problem, report};
pub use proof::describe_unreadable;
pub use redact::{redact, redact_text};
pub use role::Role;
pub use scan::{FileReport, Limits, Record, scan};
pub use signature::{Edge, Scope, Signature};
pub(crate) use signature_table::check as check_pack;
pub use signature_table::{edges, signatures};
pub use source::{
    Content, EntryKind, Files, Input, LogStreams, OpenError, Problem, ProblemKind, Stream,
    detect_packer, is_archive, open, unpack,
};
pub use time::Time;
pub use timeline::{Moment, RankFailure, RankLine, RankState, Timeline};

use std::collections::BTreeSet;
use std::io;
use std::sync::Mutex;

use base::report::Severity;
use rayon::prelude::*;

/// Maximum number of hits in all logs together, of about a kilobyte each.
const RECORDS: usize = 16_000;

/// The content of the read logs.
#[derive(Debug, Default)]
pub struct Reading {
    /// One for each log, members of archives included.
    pub files: Vec<FileReport>,
    /// Unreadable inputs.
    pub problems: Vec<Problem>,
    /// Number of files in directories that were skipped because of their names or kinds: pipes,
    /// sockets, devices, links to directories.
    pub left_out: usize,
}

impl Reading {
    /// Returns the signatures and codes in the logs, for [`Filter::baseline`].
    pub fn into_rules(self) -> BTreeSet<String> {
        let records = self.files.into_iter().flat_map(|file| file.records);
        records.map(|record| record.hit.rule).collect()
    }
}

/// Reads all inputs, several at a time.
pub fn read(inputs: Vec<Input>, files: &dyn Files) -> Reading {
    let opened = open(inputs, files);
    let share = RECORDS / opened.streams.len().max(1);
    let limits = Limits {
        records: share.clamp(24, Limits::default().records),
        variants: (share / 40).clamp(3, Limits::default().variants),
    };
    let problems = Mutex::new(opened.problems);
    let reports: Vec<Vec<FileReport>> = opened
        .streams
        .par_iter()
        .map(|stream| {
            let mut reports = Vec::new();
            let failed =
                stream.read(files, &mut |name, reader| keep(name, reader, limits, &mut reports));
            if let Ok(mut problems) = problems.lock() {
                problems.extend(failed);
            }
            reports
        })
        .collect();
    let mut problems = problems.into_inner().unwrap_or_default();
    problems.sort();
    Reading { files: reports.into_iter().flatten().collect(), problems, left_out: opened.left_out }
}

/// Returns whether a text states the cause of a failure, not only a code of unknown cause.
pub fn states_cause(text: &str) -> bool {
    let found = scan("", &mut text.as_bytes(), Limits::default()).records;
    let is_failure =
        |cause: &str| crate::cause(cause).is_some_and(|it| it.severity >= Severity::Error);
    found.iter().any(|record| {
        let hit = &record.hit;
        hit.role != Role::Context
            && hit.cause != data::causes::vague::UNKNOWN_ERROR
            && is_failure(&hit.cause)
    })
}

/// Reads a stream in one pass, with the result of a file with the same bytes.
pub fn read_stream(name: &str, stream: impl io::Read, reading: &mut Reading) {
    let files = &mut reading.files;
    let problems = source::unpack_stream(name, stream, &mut |name, reader| {
        keep(name, reader, Limits::default(), files)
    });
    reading.problems.extend(problems);
}

/// Scans a log and adds its report. Fails if the log was not read to its end.
fn keep(
    name: &str,
    reader: &mut dyn io::Read,
    limits: Limits,
    reports: &mut Vec<FileReport>,
) -> io::Result<()> {
    let report = scan(name, reader, limits);
    let ended = report.ended.clone();
    reports.push(report);
    ended.map_or(Ok(()), |reason| Err(io::Error::other(reason)))
}
