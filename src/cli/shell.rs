//! Options of `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Options of `completions`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor completions bash > /etc/bash_completion.d/ascend-doctor\n  \
    ascend-doctor completions zsh > ~/.zfunc/_ascend-doctor\n  \
    ascend-doctor completions fish > ~/.config/fish/completions/ascend-doctor.fish")]
pub struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Options of `man`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor man check | man -l -\n  \
    ascend-doctor man --output /usr/local/share/man/man1")]
pub struct ManArgs {
    /// The subcommand whose page is written [default: that of ascend-doctor itself]
    #[arg(value_name = "COMMAND")]
    pub words: Vec<String>,
    /// Write all pages into this directory, which is made if need be
    #[arg(long, short = 'o', value_name = "DIR", conflicts_with = "words")]
    pub output: Option<PathBuf>,
}
