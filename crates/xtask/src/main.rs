//! Maintenance tasks of the workspace: `cargo xtask same` compares two builds of `ascend-doctor`
//! over the same inputs, `cargo xtask accuracy` measures the share of right results on labeled
//! samples, `cargo xtask times` measures build times against their limits.
//!
//! xtask starts programs and reads their output. It links no crate of the product, so it builds in
//! seconds and can compare builds of any commit. It must not write into the work tree or into the
//! inputs named on its command line: programs run on copies in temporary directories. The only
//! exceptions are a release build in Cargo's target directory, `--fixtures`, `--diffs`, the code of
//! `cargo xtask faults` and `cargo xtask messages`, the schemas of `cargo xtask schemas`, the file
//! of `cargo xtask pack` and the reference pages of `cargo xtask docs`, which git ignores.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool for developers"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the restrictions of the product's clippy.toml do not apply to developer tools"
)]

mod accuracy;
mod docs;
mod faults;
mod fixtures;
mod messages;
mod pack;
mod page;
mod process;
mod refresh;
mod same;
mod schemas;
mod times;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Maintenance tasks of the ascend-doctor workspace
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Measure the share of right results on labelled samples against recorded minimums
    #[command(after_help = accuracy::EXAMPLES)]
    Accuracy(accuracy::Options),
    /// Write the reference pages
    Docs(docs::Options),
    /// Write the code that names the errors of `data/faults.toml`
    Faults,
    /// Write the code that names the messages of `data/`
    Messages,
    /// Write the tables below `data/` as a data pack
    Pack(pack::Options),
    /// Build the offline page
    Page(page::Options),
    /// Compare the output of two builds over the same inputs
    #[command(after_help = same::EXAMPLES)]
    Same(same::Options),
    /// Write the JSON Schemas of all documents
    Schemas(schemas::Options),
    /// Extract tables from their public sources: `refresh --help`
    #[command(disable_help_flag = true)]
    Refresh(refresh::Arguments),
    /// Check the invariants of all tables: `check-data --help`
    #[command(disable_help_flag = true)]
    CheckData(refresh::Arguments),
    /// Measure build times from a clean clone against their limits
    #[command(after_help = times::EXAMPLES)]
    Times(times::Options),
}

/// Exit status: 0 passed, 1 differences, missed limits or minimums, 2 the task could not run.
fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Accuracy(options) => accuracy::run(&options),
        Task::Docs(options) => docs::run(&options),
        Task::Faults => faults::run(),
        Task::Messages => messages::run(),
        Task::Pack(options) => pack::run(&options),
        Task::Page(options) => page::run(&options),
        Task::Same(options) => same::run(&options),
        Task::Schemas(options) => schemas::run(&options),
        Task::Refresh(arguments) => refresh::run("refresh", &arguments),
        Task::CheckData(arguments) => refresh::run("check-data", &arguments),
        Task::Times(options) => times::run(&options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
