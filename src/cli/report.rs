//! Options of `report`.

use std::path::PathBuf;

use clap::Args;

/// Options of `report`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Exit status: 0 if the page is written, for any content.")]
pub struct ReportArgs {
    /// JSON reports, bundles, or `-`
    ///
    /// Written by `check`, `verify`, `audit-ops`, `translate-error` or another subcommand with
    /// `--json`, or by `bundle`; `-` for standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}
