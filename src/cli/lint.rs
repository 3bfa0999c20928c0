//! Options of `lint`.

use std::path::PathBuf;

use clap::Args;

/// Options of `lint`.
#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = "Exit status: 1 if a statement contradicts the tables, 3 if no statement was \
    found or no table decides one, 0 if all agree."
)]
pub struct LintArgs {
    /// Documents, scripts, directories of them, or `-`
    ///
    /// Markdown pages, agent skills, Dockerfiles, scripts, requirements files, directories of
    /// these, or `-` for a page on standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}
