//! `report`: renders JSON output of other runs as a page for people.

use data::{OrFault as _, faults};
use std::path::Path;

use anyhow::ensure;

use super::argument_file::read_argument_by;
use super::output::Output;
use crate::cli::ReportArgs;
use base::report::ExitStatus;
use explain::input::bundle::{is_bundle, member};
use render::{Document, Format, read_document, render_documents};

/// Maximum size of a report, in bytes; its page takes about five times as much memory.
const LIMIT: u64 = 32 << 20;
/// Maximum total size of all reports of a page, in bytes.
const TOGETHER: u64 = 64 << 20;
/// Maximum size of a bundle, in bytes.
const BUNDLE: u64 = 256 << 20;
/// Maximum number of reports on one page.
const FILES: usize = 200;

pub(super) fn run(args: &ReportArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    output.only(Format::Html, "report")?;
    ensure!(args.files.len() <= FILES, faults::TooManyReports { n: FILES }.fault());
    let mut left = TOGETHER;
    let documents: Vec<(String, Document)> =
        args.files.iter().map(|file| read(file, &mut left)).collect::<anyhow::Result<_>>()?;
    output
        .write(|out, style| render_documents(&documents, style.lang, out))
        .or_fault(|| faults::FailedToWritePage.fault())?;
    Ok(ExitStatus::Clean)
}

/// Reads one report, for other subcommands than `report`.
pub(super) fn read_report(file: &Path) -> anyhow::Result<Document> {
    read(file, &mut LIMIT.clone()).map(|(_, document)| document)
}

fn read(file: &Path, left: &mut u64) -> anyhow::Result<(String, Document)> {
    let shown = file.display().to_string();
    let mut bytes = read_argument_by(file, |head| if is_bundle(head) { BUNDLE } else { LIMIT })?;
    if is_bundle(&bytes) {
        bytes = member(&bytes, "check.json", LIMIT)
            .or_fault(|| faults::CannotShow { path: &shown }.fault())?;
    }
    *left = left
        .checked_sub(bytes.len() as u64)
        .or_fault(|| faults::ReportsTooLarge { path: &shown, limit: TOGETHER }.fault())?;
    let document =
        read_document(&bytes).or_fault(|| faults::CannotShow { path: &shown }.fault())?;
    Ok((shown, document))
}
