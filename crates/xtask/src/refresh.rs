//! `cargo xtask refresh` and `cargo xtask check-data`: run by the crate `refresh`, which links
//! readers of the product. xtask itself links none.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Args;

/// Arguments for the crate `refresh`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    rest: Vec<OsString>,
}

/// Runs a task of the crate `refresh`.
pub(crate) fn run(task: &str, arguments: &Arguments) -> Result<bool> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--package", "refresh", "--", task]).args(&arguments.rest);
    match command.status().context("cannot start cargo")?.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        // The crate has printed the error already.
        _ => bail!("{task} failed"),
    }
}
