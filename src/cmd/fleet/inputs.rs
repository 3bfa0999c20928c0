//! Reads reports from files, directories and standard input, a few at a time.
#![expect(clippy::disallowed_methods, reason = "reads files that the user named")]

use std::io::{self, BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context as _, ensure};
use rayon::prelude::*;

use super::super::output::open_argument;
use crate::collect::now;
use crate::fleet::{Fleet, Labelled, MAX_DOCUMENT, Piece, Record, Refused, Splitter, read};

/// The largest file, in bytes: one report, or the lines of `verify --json`.
const MAX_FILE: u64 = 64 << 20;
/// As many files are read before their records are put together.
const BATCH: usize = 256;
/// As many bytes of a stream are read before their records are put together.
const BATCH_BYTES: usize = 32 << 20;
/// The longest line that is taken as a whole, in bytes.
const MAX_LINE: usize = MAX_DOCUMENT + (1 << 20);
/// How deep directories are searched.
const DEPTH: usize = 8;
/// Words that carriers put before lines of their own.
const CARRIERS: [&str; 7] = ["srun", "slurmstepd", "pdsh", "clush", "ssh", "kubectl", "salloc"];

/// Lines of a stream that are no part of any report.
#[derive(Default)]
pub(super) struct Other {
    pub(super) count: usize,
    pub(super) first: Option<String>,
}

/// A document: where it comes from, and what became of it.
type Outcome = (String, Result<Record, Refused>);

/// Reads everything that was named.
pub(super) fn read_all(inputs: &[PathBuf], fleet: &mut Fleet) -> anyhow::Result<Other> {
    let mut other = Other::default();
    let mut files = Vec::new();
    for input in inputs {
        if input == Path::new("-") {
            stream(&mut io::stdin().lock(), fleet, &mut other)
                .context("cannot read standard input")?;
        } else if input.is_dir() {
            let before = files.len();
            for entry in walkdir::WalkDir::new(input).max_depth(DEPTH).sort_by_file_name() {
                let entry = entry.with_context(|| format!("cannot list `{}`", input.display()))?;
                let name = entry.file_name().to_string_lossy();
                let named = [".json", ".jsonl", ".ndjson", ".json.gz"];
                if entry.file_type().is_file() && named.iter().any(|ext| name.ends_with(ext)) {
                    files.push(entry.into_path());
                }
            }
            ensure!(
                files.len() > before,
                "there is no *.json, *.jsonl or *.json.gz in `{}`",
                input.display()
            );
        } else {
            ensure!(input.exists(), "cannot read `{}`: it does not exist", input.display());
            files.push(input.clone());
        }
    }
    for batch in files.chunks(BATCH) {
        let read: Vec<Vec<Outcome>> = batch.par_iter().map(|path| file(path)).collect();
        for (source, outcome) in read.into_iter().flatten() {
            take(&source, outcome, fleet);
        }
    }
    Ok(other)
}

fn take(source: &str, outcome: Result<Record, Refused>, fleet: &mut Fleet) {
    match outcome {
        Ok(record) => fleet.add(record, source),
        Err(Refused::Stage) => {}
        Err(refused) => fleet.refuse(source, &refused.to_string()),
    }
}

/// Reads a file: mostly one report.
fn file(path: &Path) -> Vec<Outcome> {
    // By convention the file is named after its host: that is what it is called where the report
    // cannot say it.
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = [".json", ".jsonl", ".ndjson"].iter().find_map(|ext| stem.strip_suffix(ext));
    let source = stem.map_or_else(|| name.clone(), str::to_owned);
    let (bytes, written) = match content(path) {
        Ok(read) => read,
        Err(error) => return vec![(source, Err(Refused::Form(error.to_string())))],
    };
    let arrived = |mut record: Record| {
        record.arrived = written;
        record
    };
    let whole = read(&bytes);
    if !matches!(whole, Err(Refused::Form(_) | Refused::Stage)) {
        return vec![(source, whole.map(arrived))];
    }
    // Several documents, one after the other; or a damaged one.
    let (mut splitter, mut pieces) = (Splitter::default(), Vec::new());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        splitter.line(line, false, &mut pieces);
    }
    splitter.end(&mut pieces);
    let mut out: Vec<Outcome> = Vec::new();
    for piece in pieces {
        let outcome = match piece {
            Piece::Document(bytes) => read(&bytes).map(arrived),
            Piece::Broken(_) => Err(Refused::Form("it breaks off".to_owned())),
            Piece::Other(_) => continue,
        };
        out.push((source.clone(), outcome));
    }
    let told = |outcome: &Outcome| !matches!(outcome, (_, Err(Refused::Stage)));
    if !out.iter().any(told) {
        let why = match whole {
            Err(Refused::Stage) => Refused::Form("stages without the report at the end".to_owned()),
            Err(refused) => refused,
            Ok(_) => return out,
        };
        return vec![(source, Err(why))];
    }
    out
}

/// What is in a file, and when it was written.
fn content(path: &Path) -> io::Result<(Vec<u8>, Option<i64>)> {
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
fn stream(input: &mut impl io::BufRead, fleet: &mut Fleet, other: &mut Other) -> io::Result<()> {
    let mut labelled = Labelled::default();
    let mut pieces = Vec::new();
    let mut line = Vec::new();
    let mut heard = Heard::default();
    let mut pending = 0;
    loop {
        line.clear();
        let count = (&mut *input).take(MAX_LINE as u64).read_until(b'\n', &mut line)?;
        if count == 0 {
            break;
        }
        labelled.line(&line, &mut pieces);
        pending += count;
        if pending >= BATCH_BYTES {
            heard.take(&mut pieces, fleet, other);
            pending = 0;
        }
    }
    labelled.end(&mut pieces);
    heard.take(&mut pieces, fleet, other);
    heard.end(fleet);
    Ok(())
}

/// Which hosts of a stream sent a report, and what the others said instead.
#[derive(Default)]
struct Heard {
    hosts: std::collections::BTreeMap<String, Option<String>>,
    documents: usize,
}

impl Heard {
    fn take(
        &mut self,
        pieces: &mut Vec<(Option<String>, Piece)>,
        fleet: &mut Fleet,
        other: &mut Other,
    ) {
        // A stream arrives while it is made: what was just read was made just now.
        let arrived = now().and_then(|now| i64::try_from(now).ok());
        let outcomes: Vec<_> = std::mem::take(pieces)
            .into_par_iter()
            .map(|(label, piece)| {
                let outcome = match piece {
                    Piece::Document(bytes) => Ok(read(&bytes)),
                    Piece::Broken(_) => Ok(Err(Refused::Form("it breaks off".to_owned()))),
                    Piece::Other(line) => Err(line),
                };
                (label, outcome)
            })
            .collect();
        for (label, outcome) in outcomes {
            match (label, outcome) {
                (Some(label), Ok(outcome)) => {
                    if matches!(outcome, Err(Refused::Stage)) {
                        let said = Some("stages without the report at the end".to_owned());
                        self.hosts.entry(label.clone()).or_insert(said);
                    } else {
                        self.hosts.insert(label.clone(), None);
                    }
                    let outcome = outcome.map(|record| Record { arrived, ..record });
                    take(&label, outcome, fleet);
                }
                (None, Ok(outcome)) => {
                    self.documents += 1;
                    let outcome = outcome.map(|record| Record { arrived, ..record });
                    take(&format!("#{}", self.documents), outcome, fleet);
                }
                (Some(label), Err(line)) if !CARRIERS.contains(&label.as_str()) => {
                    self.hosts.entry(label).or_insert(Some(line));
                }
                (_, Err(line)) => {
                    other.count += 1;
                    other.first.get_or_insert(line);
                }
            }
        }
    }

    /// Hosts that spoke and sent no report are not well.
    fn end(self, fleet: &mut Fleet) {
        for (host, said) in self.hosts {
            if let Some(said) = said {
                fleet.refuse(&host, &format!("no report, but: {said}"));
            }
        }
    }
}
