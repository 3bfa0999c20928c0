//! `cargo xtask docs`: writes the reference pages.

use std::process::Command;

use anyhow::{Context as _, Result};

/// Runs the example of the program that writes `docs/reference/`, or the directory `out`. xtask
/// itself links no crate of the program.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--package", "ascend-doctor", "--example", "gen_docs", "--"]);
    command.args(&options.out);
    Ok(command.status().context("cargo does not start")?.success())
}

/// Options of `docs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Directory that is replaced by the pages [default: docs/reference]
    #[arg(value_name = "DIR")]
    out: Option<std::path::PathBuf>,
}
