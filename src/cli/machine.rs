//! Options that say which machine is looked at, and how: the same in every subcommand.

use std::path::PathBuf;

use clap::Args;

/// Which machine: this one, without any of them.
#[derive(Debug, Clone, Default, Args)]
pub struct MachineArgs {
    /// Examine a mounted or copied root instead of this machine
    #[arg(long, value_name = "DIR", conflicts_with = "pid")]
    pub root: Option<PathBuf>,
    /// Take the environment from a file: `NAME=value` lines, JSON, or NUL-separated
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Look at a running process: its environment, user and interpreter
    #[arg(long, value_name = "N")]
    pub pid: Option<u32>,
}

/// Which machine, and what of it is read.
#[derive(Debug, Clone, Default, Args)]
pub struct ScanArgs {
    /// Which machine.
    #[command(flatten)]
    pub machine: MachineArgs,
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
