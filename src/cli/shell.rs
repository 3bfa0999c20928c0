//! Options of `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Options of `completions`.
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// Shell to generate completions for
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Options of `man`.
#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// Subcommand to describe [default: ascend-doctor]
    #[arg(value_name = "COMMAND")]
    pub words: Vec<String>,
    /// Directory for the output files
    ///
    /// Writes all pages. Creates the directory if it is missing.
    #[arg(long, value_name = "DIR", conflicts_with = "words")]
    pub output_dir: Option<PathBuf>,
}
