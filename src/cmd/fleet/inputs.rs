//! Reads reports from files, directories and standard input, a few at a time.
#![expect(clippy::disallowed_methods, reason = "reads files that the user named")]

use data::{OrFault as _, faults};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::ensure;
use rayon::prelude::*;

use super::super::argument_file::open_argument;
use super::search::{find_reports, host_name_of};
use fleet::{
    DocumentResult, Fleet, RejectReason, SiteJudge, UnrelatedLines, read_documents, read_stream,
};
use machine::collect::read_clock;

/// Maximum size of a file, in bytes: one report, or the lines of `verify --json`.
const MAX_FILE: u64 = 64 << 20;
/// Number of files to read before their records are merged.
const BATCH: usize = 256;

/// Reads all named inputs. `judge` checks each report against the expectations of a site.
pub(super) fn read_all(
    inputs: &[PathBuf],
    fleet: &mut Fleet,
    judge: Option<SiteJudge<'_>>,
) -> anyhow::Result<UnrelatedLines> {
    let mut other = UnrelatedLines::default();
    let mut files = Vec::new();
    for input in inputs {
        if input == Path::new("-") {
            read_stream(&mut io::stdin().lock(), fleet, &mut other, &now, judge)
                .or_fault(|| faults::CannotReadStdin.fault())?;
        } else if input.is_dir() {
            let found = find_reports(input)
                .or_fault(|| faults::CannotList { path: input.display() }.fault())?;
            ensure!(
                !found.files.is_empty() || !found.refused.is_empty(),
                faults::NoReportsIn { path: input }.fault()
            );
            for (path, why) in found.refused {
                fleet.refuse(&host_name_of(&path), why);
            }
            files.extend(found.files);
        } else {
            ensure!(input.exists(), faults::CannotReadMissing { path: input }.fault());
            files.push(input.clone());
        }
    }
    for batch in files.chunks(BATCH) {
        let read: Vec<Vec<DocumentResult>> =
            batch.par_iter().map(|path| read_file(path, judge)).collect();
        for (source, outcome) in read.into_iter().flatten() {
            fleet.add_outcome(&source, outcome);
        }
    }
    Ok(other)
}

/// Reads a file, which usually holds one report.
fn read_file(path: &Path, judge: Option<SiteJudge<'_>>) -> Vec<DocumentResult> {
    let source = host_name_of(path);
    match read_content(path) {
        Ok((bytes, written)) => read_documents(&bytes, &source, written, judge),
        Err(error) => vec![(source, Err(RejectReason::Form(data::describe(&error))))],
    }
}

/// Returns the current time, in seconds since 1970, UTC.
fn now() -> Option<i64> {
    read_clock().and_then(|now| i64::try_from(now).ok())
}

/// Returns the decompressed content of a file and its modification time.
fn read_content(path: &Path) -> io::Result<(Vec<u8>, Option<i64>)> {
    let file = open_argument(path)?;
    let meta = file.metadata()?;
    let written = meta.modified().ok().filter(|_| meta.is_file());
    let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let written = written.and_then(|since| i64::try_from(since.as_secs()).ok());
    let mut bytes = Vec::new();
    let too_large = || io::Error::other(faults::LargerThan { limit: MAX_FILE }.fault());
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
