//! Options of `data`.

use clap::Subcommand;

/// The subcommands of `data`.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// List the tables in use with owner, size and newest source
    Status,
}
