//! Options of `bundle`.

use std::path::PathBuf;

use clap::Args;

use super::ScanArgs;
use base::redact::Level;

/// Options of `bundle`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor bundle\n  \
    ascend-doctor bundle --add train.log --add ./logs --output case-112.tar.gz\n  \
    ascend-doctor bundle --redact hosts --limit 4\n  \
    ssh node7 ascend-doctor bundle -o - > node7.tar.gz\n\n\
    Elsewhere:\n  \
    ascend-doctor check --facts case-112.tar.gz\n  \
    ascend-doctor report case-112.tar.gz --output case-112.html\n  \
    ascend-doctor translate-error case-112.tar.gz\n\n\
    Exit status: 0 when the bundle is written, whatever it says; 3 when something that --add\n\
    names is not in it.")]
pub struct BundleArgs {
    /// The bundle, `-` for standard output [default: ascend-doctor-bundle.tar.gz]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A log, as it is or compressed by gzip, or a directory of logs, besides those of CANN and the
    /// driver
    #[arg(long = "add", value_name = "PATH")]
    pub add: Vec<PathBuf>,
    /// How much of logs goes in, in MiB: the ends of the newest
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u64).range(0..=1024))]
    pub limit: u64,
    /// What is taken out besides what only this tool would need
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Level::Secrets)]
    pub redact: Level,
    /// Which machine, and what of it is read.
    #[command(flatten)]
    pub scan: ScanArgs,
}
