//! Options of `report`.

use std::path::PathBuf;

use clap::Args;

/// Options of `report`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor check --json > check.json\n  \
    ascend-doctor report check.json --output report.html\n  \
    ascend-doctor report check.json verify.json audit.json --output report.html\n  \
    ascend-doctor check --json | ascend-doctor report - --output report.html\n\n\
    Exit status: 0 when the page is written, whatever it says.")]
pub struct ReportArgs {
    /// What `check`, `verify`, `audit-ops`, `translate-error` or another subcommand wrote with
    /// `--json`; a bundle; `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}
