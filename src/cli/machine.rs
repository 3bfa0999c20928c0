//! Options that select a machine and what is read of it: the same in every subcommand.

use std::path::PathBuf;

use clap::Args;

use super::number::whole;

/// Which machine: this one, without any of them.
#[derive(Debug, Clone, Default, Args)]
pub struct MachineArgs {
    /// Mounted or copied root to examine
    ///
    /// Examines the tree below DIR instead of this machine: an image, a mounted root, or a
    /// recording of `check --record`.
    #[arg(long, value_name = "DIR", conflicts_with = "pid")]
    pub sysroot: Option<PathBuf>,
    /// File with environment variables
    ///
    /// `NAME=value` lines, JSON, or NUL-separated as in /proc/PID/environ.
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Running process to examine
    ///
    /// Examines the environment, user, mounts and interpreter of the process.
    #[arg(long, value_name = "N", value_parser = whole(0..=u32::MAX))]
    pub pid: Option<u32>,
}

/// Which machine, and what of it is read.
#[derive(Debug, Clone, Default, Args)]
pub struct ScanArgs {
    /// Which machine.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Workload Python: interpreter or version
    ///
    /// Default: the interpreter that the shell starts.
    #[arg(long, value_name = "PATH|X.Y")]
    pub python: Option<String>,
    /// Do not hash files
    #[arg(long)]
    pub no_hash: bool,
    /// Do not run npu-smi
    #[arg(long)]
    pub no_npu_smi: bool,
}

/// The versions that somebody wants to use.
#[derive(Debug, Clone, Default, Args)]
pub struct VersionArgs {
    /// PyTorch version (`2.7`: the newest 2.7)
    #[arg(long, value_name = "VERSION")]
    pub torch: Option<String>,
    /// torch_npu version (`2.7`: the newest 2.7)
    #[arg(long, value_name = "VERSION")]
    pub torch_npu: Option<String>,
    /// CANN version (`8.5`: the newest 8.5)
    #[arg(long, value_name = "VERSION")]
    pub cann: Option<String>,
    /// vllm-ascend version (`0.11`: the newest 0.11)
    #[arg(long, value_name = "VERSION")]
    pub vllm_ascend: Option<String>,
}
