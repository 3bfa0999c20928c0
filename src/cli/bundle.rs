//! Options of `bundle`.

use std::path::PathBuf;

use clap::Args;

use crate::redact::Level;

/// Options of `bundle`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor bundle\n  \
    ascend-doctor bundle --add train.log --add ./logs --output case-112.tar.gz\n  \
    ascend-doctor bundle --redact hosts --limit 4\n\n\
    Elsewhere:\n  \
    ascend-doctor check --facts case-112.tar.gz\n  \
    ascend-doctor report case-112.tar.gz --output case-112.html\n  \
    ascend-doctor translate-error case-112.tar.gz\n\n\
    Exit status: 0 when the bundle is written, whatever it says.")]
pub struct BundleArgs {
    /// The bundle [default: ascend-doctor-bundle.tar.gz]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A log, or a directory of logs, besides those of CANN and the driver
    #[arg(long = "add", value_name = "PATH")]
    pub add: Vec<PathBuf>,
    /// How much of logs goes in, in MiB: the ends of the newest
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u64).range(0..=1024))]
    pub limit: u64,
    /// What is taken out besides what only this tool would need
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Level::Secrets)]
    pub redact: Level,
    /// Examine a mounted or copied root instead of this machine
    #[arg(long, value_name = "DIR", conflicts_with = "pid")]
    pub root: Option<PathBuf>,
    /// Take the environment from a file: `NAME=value` lines, JSON, or NUL-separated
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Look at a running process: its environment, user and interpreter
    #[arg(long, value_name = "N")]
    pub pid: Option<u32>,
    /// The Python interpreter to examine [default: the one the shell would start]
    #[arg(long, value_name = "PATH")]
    pub python: Option<String>,
    /// Do not hash files
    #[arg(long)]
    pub no_hash: bool,
    /// Do not run npu-smi
    #[arg(long)]
    pub no_npu_smi: bool,
}
