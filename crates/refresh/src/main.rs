//! `cargo xtask refresh`: extracts the tables below `data/` from public sources.
//!
//! Data flows in one direction: [`manifest`] names the sources, [`repository`] and [`package`] read
//! them, one module of [`extract`] turns them into a [`table::Table`], [`overlay`] adds the manual
//! rows, [`diff`] compares the result with the file in the work tree, and [`publish`] replaces all
//! changed files or none.
//!
//! Must not touch: files outside `data/` and its cache. It runs `git` and `curl`, but no program of
//! a source. Sources are read as data: sizes are bounded, and code in them is never executed.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool for maintainers"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the restrictions of the product's clippy.toml do not apply to maintainer tools"
)]

mod check;
mod context;
mod diff;
mod document;
mod extract;
mod manifest;
mod manifest_edit;
mod markup;
mod overlay;
mod package;
mod package_lock;
mod prefetch;
mod publish;
mod refresh;
mod remote_zip;
mod report;
mod repository;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Extract the tables of ascend-doctor from their public sources
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Extract tables from their sources and rewrite the changed ones
    #[command(after_help = refresh::EXAMPLES)]
    Refresh(refresh::Options),
    /// Check the invariants of all tables, without network and sources
    CheckData(check::Options),
}

/// Exit status: 0 done, 1 an invariant is violated, 2 the task could not run.
fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Refresh(options) => refresh::run(&options),
        Task::CheckData(options) => check::run(&options),
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
