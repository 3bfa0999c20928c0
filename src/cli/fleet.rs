//! Options of `fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use fleet::GroupBy;

/// The subcommands of `fleet`.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Bring the reports of many machines together: who stands out, who did not answer?
    Merge(MergeArgs),
}

/// Options of `fleet merge`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor fleet merge reports/ --expect hosts.txt\n  \
    srun --label ascend-doctor check --json | ascend-doctor fleet merge -\n  \
    pdsh -w node[001-064] ascend-doctor check --json | ascend-doctor fleet merge -\n  \
    ascend-doctor fleet merge reports/ --group-by soc --format html -o fleet.html")]
pub struct MergeArgs {
    /// Reports of `check` and `verify` (`--json`): files, directories with *.json, *.jsonl and
    /// *.json.gz, or `-` for a stream of documents or of lines named by their host
    #[arg(value_name = "FILES|DIR|-", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The hosts that ought to have answered: names or lists such as node[001-064], below the name
    /// of a role in brackets
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Compare only hosts of the same chip, or of the same role in the file of --expect
    #[arg(long, value_name = "WHAT", value_enum)]
    pub group_by: Option<GroupBy>,
    /// Also write numbers for Prometheus to this file (`--format openmetrics`)
    #[arg(long, value_name = "FILE")]
    pub metrics_file: Option<PathBuf>,
}
