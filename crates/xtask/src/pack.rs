//! `cargo xtask pack`: writes a data pack of the tables below `data/`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

/// Runs the example of the data crate that writes the pack. xtask itself links no crate of the
/// program.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--package", "ascend-doctor-data", "--example", "write_pack"]);
    command.arg("--").arg(std::path::absolute(&options.output)?);
    Ok(command.status().context("cargo does not start")?.success())
}

/// Options of `pack`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// File to write, which `minisign -S` then signs
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}
