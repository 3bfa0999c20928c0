//! Options of `data`.

use clap::Subcommand;

/// The subcommands of `data`.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// List the tables in use with owner, size and newest source
    #[command(after_help = "Examples:\n  \
        ascend-doctor data status\n  \
        ascend-doctor data status --data-pack ascend-doctor.data --data-key site.pub --json")]
    Status,
}
