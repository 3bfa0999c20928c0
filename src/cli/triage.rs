//! Options of `triage`.

use clap::Args;

/// Options of `triage`.
#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = "Exit status: 1 if a failure or incompatible versions are found, 3 if the text \
    does not decide it, 0 if neither is possible."
)]
pub struct TriageArgs {
    /// Issue texts, logs, bundles, or `-`
    ///
    /// Text files, logs, directories and archives of logs, bundles, or `-` for standard input.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<String>,
    /// Remove paths, addresses and host names
    #[arg(long)]
    pub anonymize: bool,
}
