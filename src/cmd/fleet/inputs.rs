//! Reads reports from files, directories and standard input, a few at a time.
#![expect(clippy::disallowed_methods, reason = "reads files that the user named")]

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context as _, ensure};
use rayon::prelude::*;

use super::super::argument_file::open_argument;
use super::search::{find_reports, host_name_of};
use fleet::{Fleet, LabeledSplitter, MAX_DOCUMENT, Piece, Record, RejectReason, Splitter, read};
use machine::collect::read_clock;

/// The largest file, in bytes: one report, or the lines of `verify --json`.
const MAX_FILE: u64 = 64 << 20;
/// As many files are read before their records are put together.
const BATCH: usize = 256;
/// As many bytes of a stream are read before their records are put together.
const BATCH_BYTES: usize = 32 << 20;
/// The longest line that is taken as a whole, in bytes.
const MAX_LINE: usize = MAX_DOCUMENT + (1 << 20);
/// As many documents of a stream wait to be read, however small they are.
const BATCH_DOCUMENTS: usize = 1024;
/// The most documents that are taken of one file: more reports than fit into it are not ours.
const MAX_PER_FILE: usize = 20_000;
/// Labels of launchers on their own lines.
const LAUNCHERS: [&str; 7] = ["srun", "slurmstepd", "pdsh", "clush", "ssh", "kubectl", "salloc"];

/// Lines of a stream that belong to no report.
#[derive(Default)]
pub(super) struct UnrelatedLines {
    pub(super) count: usize,
    pub(super) first: Option<String>,
}

/// The source of a document, and its record or the reason to refuse it.
type Outcome = (String, Result<Record, RejectReason>);

/// Reads all named inputs.
pub(super) fn read_all(inputs: &[PathBuf], fleet: &mut Fleet) -> anyhow::Result<UnrelatedLines> {
    let mut other = UnrelatedLines::default();
    let mut files = Vec::new();
    for input in inputs {
        if input == Path::new("-") {
            read_stream(&mut io::stdin().lock(), fleet, &mut other)
                .context("cannot read standard input")?;
        } else if input.is_dir() {
            let found = find_reports(input)
                .with_context(|| format!("cannot list `{}`", input.display()))?;
            ensure!(
                !found.files.is_empty() || !found.refused.is_empty(),
                "there is no *.json, *.jsonl or *.json.gz in `{}`",
                input.display()
            );
            for (path, why) in found.refused {
                fleet.refuse(&host_name_of(&path), &why);
            }
            files.extend(found.files);
        } else {
            ensure!(input.exists(), "cannot read `{}`: it does not exist", input.display());
            files.push(input.clone());
        }
    }
    for batch in files.chunks(BATCH) {
        let read: Vec<Vec<Outcome>> = batch.par_iter().map(|path| read_file(path)).collect();
        for (source, outcome) in read.into_iter().flatten() {
            add_outcome(&source, outcome, fleet);
        }
    }
    Ok(other)
}

fn add_outcome(source: &str, outcome: Result<Record, RejectReason>, fleet: &mut Fleet) {
    match outcome {
        Ok(record) => fleet.add(record, source),
        Err(RejectReason::Stage) => {}
        Err(refused) => fleet.refuse(source, &refused.to_string()),
    }
}

/// Reads a file, which usually holds one report.
fn read_file(path: &Path) -> Vec<Outcome> {
    let source = host_name_of(path);
    let (bytes, written) = match read_content(path) {
        Ok(read) => read,
        Err(error) => return vec![(source, Err(RejectReason::Form(error.to_string())))],
    };
    let arrived = |mut record: Record| {
        record.arrived = written;
        record
    };
    let whole = read(&bytes);
    if !matches!(whole, Err(RejectReason::Form(_) | RejectReason::Stage)) {
        return vec![(source, whole.map(arrived))];
    }
    // Several documents, one after the other; or a damaged one.
    let (mut splitter, mut out, mut more) = (Splitter::default(), Vec::new(), 0_usize);
    let mut take = |piece| {
        let outcome = match piece {
            Piece::Document(bytes) => read(&bytes).map(arrived),
            Piece::Broken(_) => Err(RejectReason::Form("it breaks off".to_owned())),
            Piece::Other(_) => return,
        };
        match outcome {
            Err(RejectReason::Stage) => {}
            _ if out.len() >= MAX_PER_FILE => more += 1,
            outcome => out.push((source.clone(), outcome)),
        }
    };
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        splitter.line(line, false, &mut take);
    }
    splitter.end(&mut take);
    if more > 0 {
        let why = format!("{more} documents after the {MAX_PER_FILE} that are read of one file");
        out.push((source.clone(), Err(RejectReason::Form(why))));
    }
    if out.is_empty() {
        let why = match whole {
            Err(RejectReason::Stage) => {
                RejectReason::Form("stages without the report at the end".to_owned())
            }
            Err(refused) => refused,
            Ok(_) => return out,
        };
        return vec![(source, Err(why))];
    }
    out
}

/// Returns the decompressed content of a file and its modification time.
fn read_content(path: &Path) -> io::Result<(Vec<u8>, Option<i64>)> {
    let file = open_argument(path)?;
    let meta = file.metadata()?;
    let written = meta.modified().ok().filter(|_| meta.is_file());
    let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let written = written.and_then(|since| i64::try_from(since.as_secs()).ok());
    let mut bytes = Vec::new();
    let too_large = || io::Error::other(format!("it is larger than {MAX_FILE} bytes"));
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        flate2::read::MultiGzDecoder::new(bytes.as_slice())
            .take(MAX_FILE + 1)
            .read_to_end(&mut plain)?;
        bytes = plain;
    }
    if bytes.len() as u64 > MAX_FILE {
        return Err(too_large());
    }
    Ok((bytes, written))
}

/// Reads a stream to its end.
fn read_stream(
    input: &mut impl io::BufRead,
    fleet: &mut Fleet,
    other: &mut UnrelatedLines,
) -> io::Result<()> {
    let mut labelled = LabeledSplitter::default();
    let mut line = Vec::new();
    let mut hosts = StreamHosts {
        fleet,
        other,
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

/// The hosts of a stream: those that sent a report, and a line of each of the others.
struct StreamHosts<'a> {
    fleet: &'a mut Fleet,
    other: &'a mut UnrelatedLines,
    hosts: BTreeMap<String, Option<String>>,
    /// How many documents without a name before them there were.
    count: usize,
    /// Documents that are read together, and their bytes.
    waiting: Vec<(Option<String>, Piece)>,
    bytes: usize,
}

impl StreamHosts<'_> {
    /// Adds the next piece of the stream. Documents are queued. Of other lines, one is kept for each
    /// host and one for all lines without a host, so that memory stays bounded.
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
        let arrived = read_clock().and_then(|now| i64::try_from(now).ok());
        self.bytes = 0;
        let outcomes: Vec<_> = std::mem::take(&mut self.waiting)
            .into_par_iter()
            .map(|(label, piece)| {
                let outcome = match piece {
                    Piece::Document(bytes) => read(&bytes),
                    _ => Err(RejectReason::Form("it breaks off".to_owned())),
                };
                (label, outcome.map(|record| Record { arrived, ..record }))
            })
            .collect();
        for (label, outcome) in outcomes {
            let Some(label) = label else {
                self.count += 1;
                add_outcome(&format!("#{}", self.count), outcome, self.fleet);
                continue;
            };
            if matches!(outcome, Err(RejectReason::Stage)) {
                let said = Some("stages without the report at the end".to_owned());
                self.hosts.entry(label.clone()).or_insert(said);
            } else {
                self.hosts.insert(label.clone(), None);
            }
            add_outcome(&label, outcome, self.fleet);
        }
    }

    /// Refuses hosts that sent lines but no report.
    fn refuse_silent_hosts(self) {
        for (host, said) in self.hosts {
            if let Some(said) = said {
                self.fleet.refuse(&host, &format!("no report, but: {said}"));
            }
        }
    }
}
