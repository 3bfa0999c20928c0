//! `cargo xtask schemas`: writes the JSON Schemas of all documents.

use std::process::Command;

use anyhow::{Context as _, Result};

/// Runs the example of the program that writes `docs/schema/`. xtask itself links no crate of the
/// program.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--package", "ascend-doctor", "--example", "gen_schemas"]);
    if options.freeze {
        command.args(["--", "--freeze"]);
    }
    Ok(command.status().context("cargo does not start")?.success())
}

/// Options of `schemas`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Write the copies that later schemas are compared with. For a release
    #[arg(long)]
    freeze: bool,
}
