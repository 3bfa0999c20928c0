//! Options of `fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use fleet::GroupBy;

/// The subcommands of `fleet`.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Merge reports of many hosts and list outliers and missing hosts
    Merge(MergeArgs),
}

/// Options of `fleet merge`.
#[derive(Debug, Clone, Args)]
pub struct MergeArgs {
    /// Reports of `check` and `verify`, or `-`
    ///
    /// Files, directories with *.json, *.jsonl and *.json.gz, or `-` for a stream of documents or
    /// of lines with a host prefix.
    #[arg(value_name = "PATH", required = true)]
    pub inputs: Vec<PathBuf>,
    /// File with the expected hosts
    ///
    /// Host names or lists such as node[001-064], below a role name in brackets.
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Compare only hosts of the same chip or role
    ///
    /// Roles are defined in the `--expect` file.
    #[arg(long, value_name = "WHAT", value_enum)]
    pub group_by: Option<GroupBy>,
    /// Values to print as CSV, such as host,driver
    ///
    /// If a key starts with `npu.`, prints one row per NPU, otherwise one row per host. `--query
    /// help` lists the keys.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pub query: Vec<String>,
    /// Also write metrics for Prometheus to FILE
    ///
    /// Same format as `--format openmetrics`.
    #[arg(long, value_name = "FILE")]
    pub metrics_file: Option<PathBuf>,
}
