//! Options of `mcp`.

use std::path::PathBuf;

use clap::Args;

/// A tool that changes something or runs kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Allowed {
    /// Run probe kernels on the NPUs.
    Verify,
    /// Convert source trees in place.
    Convert,
}

/// Options of `mcp`.
#[derive(Debug, Clone, Args)]
pub struct McpArgs {
    /// Directories that tools may read
    ///
    /// Paths outside of them are refused. Default: the working directory.
    #[arg(long, value_name = "DIR")]
    pub root_allow: Vec<PathBuf>,
    /// Also offer tools that run kernels or write files
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', value_enum)]
    pub allow: Vec<Allowed>,
    /// Longest run of a tool
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = super::number::whole(1_u64..=3600))]
    pub tool_timeout: u64,
}
