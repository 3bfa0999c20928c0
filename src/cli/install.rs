//! Options of `install`.

use std::path::PathBuf;

use clap::Args;

/// Options of `install`.
#[derive(Debug, Clone, Args)]
pub struct InstallArgs {
    /// Directory for the program
    ///
    /// Creates the directory if it is missing. Replaces the whole file of a program of the same
    /// name.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Program to copy
    ///
    /// Default: this program. The container image includes a glibc build,
    /// /usr/lib/ascend-doctor/glibc/ascend-doctor, whose `verify` can load CANN.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}
