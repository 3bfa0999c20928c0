//! `cargo xtask accuracy`: measures the share of right results on labeled samples, and compares
//! each figure with a recorded minimum.
//!
//! The samples are third-party files outside of the repository: `logs/` with documented root
//! causes, `samples/ops/` with the operators that PyTorch reports, `samples/host/` with version
//! files and outputs of npu-smi. No test reads them. An absent or unreadable sample is an error,
//! never a smaller total.

mod directories;
mod host;
mod logs;
mod measurement;
mod minimums;
mod models;
mod probe;
mod random;
mod report;
mod variants;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use walkdir::WalkDir;

use self::minimums::Minimums;
use self::probe::Probe;
use self::variants::Draw;
use crate::workspace;

/// Examples for the help text.
pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask accuracy
  cargo xtask accuracy --shared ../shared --misses
  cargo xtask accuracy --json

The minimums are in crates/xtask/src/accuracy/minimums.tsv. Raise them with the change that
improves a figure.

Exit status: 0 every figure reaches its minimum, 1 a figure is below, 2 samples cannot be read";

/// Options of `accuracy`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Directory with labelled logs and samples [default: ../shared of the workspace]
    #[arg(long, value_name = "DIR")]
    shared: Option<PathBuf>,

    /// Program to measure [default: a debug build of the workspace]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    /// List the samples with a wrong result
    #[arg(long)]
    misses: bool,

    /// Write the figures as JSON
    #[arg(long)]
    json: bool,

    /// Number of variants of logs of each kind; the minimums are those of the default
    #[arg(long, value_name = "N", default_value_t = 200)]
    variants: u64,

    /// Seed of the variants
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Time limit of each process
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
}

/// Measures the accuracy. Returns whether every figure reaches its minimum.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let shared = options.shared.clone().unwrap_or_else(|| workspace::root().join("../shared"));
    ensure!(shared.is_dir(), "there is no directory `{}` with samples", shared.display());
    let program = match &options.program {
        Some(path) => path.canonicalize().with_context(|| cannot_read(path))?,
        None => workspace::build("debug")?,
    };
    let probe = Probe::new(program, Duration::from_secs(options.timeout));
    let mut measurements = logs::measure(&probe, &shared.join("logs"))?;
    measurements.extend(models::measure(&probe, &shared.join("samples/ops"))?);
    measurements.extend(host::measure(&probe, &shared.join("samples/host"))?);
    let draw = Draw { count: options.variants, seed: options.seed };
    let logs = logs::single_files(&shared.join("logs"))?;
    let harmless = shared.join("facts/errors_benign_dev.json");
    measurements.extend(variants::measure(&probe, &shared.join("logs"), &logs, &harmless, draw)?);
    measurements.extend(directories::measure(&probe, options.seed)?);
    let rows = Minimums::read()?.compare(measurements)?;
    if options.json {
        print!("{}", report::json(&rows));
    } else {
        print!("{}", report::text(&rows, options.misses));
    }
    Ok(rows.iter().all(minimums::Row::passed))
}

/// Reads a sample, or a file about samples.
fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| cannot_read(path))
}

/// Checks that a sample can be read: a file, or all files of a directory.
fn ensure_readable(path: &Path) -> Result<()> {
    for entry in WalkDir::new(path) {
        let entry = entry.with_context(|| cannot_read(path))?;
        if entry.file_type().is_file() {
            read(entry.path())?;
        }
    }
    Ok(())
}

/// Reads a JSON file about samples.
fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&read(path)?).with_context(|| cannot_read(path))
}

/// Returns the names of the files of a directory of samples, sorted.
fn file_names(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| cannot_read(dir))? {
        let entry = entry.with_context(|| cannot_read(dir))?;
        if entry.path().is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read `{}`", path.display())
}

#[cfg(test)]
mod tests;
