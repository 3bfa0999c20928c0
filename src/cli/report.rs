//! Options of `report`.

use std::path::PathBuf;

use clap::Args;

/// Options of `report`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Exit status: 0 if the page is written, regardless of its content.")]
pub struct ReportArgs {
    /// JSON reports, bundles, or `-`
    ///
    /// Output of `check`, `verify`, `audit-ops`, `translate-error` or another subcommand with
    /// `--json`, or of `bundle`; `-` for standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}
