//! Options of `install`.

use std::path::PathBuf;

use clap::Args;

/// Options of `install`.
#[derive(Debug, Clone, Args)]
pub struct InstallArgs {
    /// Directory for the program
    ///
    /// A missing directory is created. A program of the same name is replaced as a whole.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Program to copy
    ///
    /// Default: this program. The container image has one for glibc at
    /// /usr/lib/ascend-doctor/glibc/ascend-doctor, whose `verify` can load CANN.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}
