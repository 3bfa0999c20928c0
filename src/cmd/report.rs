//! `report`: what other runs wrote in JSON, as a page for people who would rather look than read.

use std::path::Path;

use anyhow::{Context as _, ensure};

use super::bundle::{is_bundle, member};
use super::output::{Output, read_argument};
use crate::cli::ReportArgs;
use crate::render::{Document, Format, read_document, render_documents};
use crate::report::ExitStatus;

/// The most that is read of a report, in bytes.
const LIMIT: u64 = 64 << 20;
/// The most that is read of a bundle, in bytes.
const BUNDLE: u64 = 256 << 20;
/// The most reports on one page.
const FILES: usize = 200;

pub(super) fn run(args: &ReportArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    output.only(Format::Html, "report")?;
    ensure!(args.files.len() <= FILES, "a page holds at most {FILES} reports");
    let documents: Vec<(String, Document)> =
        args.files.iter().map(|file| read(file)).collect::<anyhow::Result<_>>()?;
    output
        .write(|out, style| render_documents(&documents, style.lang, out))
        .context("failed to write the page")?;
    Ok(ExitStatus::Clean)
}

fn read(file: &Path) -> anyhow::Result<(String, Document)> {
    let shown = file.display().to_string();
    let mut bytes = read_argument(file, BUNDLE)?;
    if is_bundle(&bytes) {
        bytes = member(&bytes, "check.json", LIMIT)
            .with_context(|| format!("cannot show `{shown}`"))?;
    }
    ensure!(
        bytes.len() as u64 <= LIMIT,
        "`{shown}` is larger than the {LIMIT} bytes that are read of a report"
    );
    let document = read_document(&bytes).with_context(|| format!("cannot show `{shown}`"))?;
    Ok((shown, document))
}
