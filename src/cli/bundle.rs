//! Options of `bundle`.

use std::path::PathBuf;

use clap::Args;

use super::ScanArgs;
use super::number::whole;
use base::redact::Level;

/// Options of `bundle`.
#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = "`--output FILE` sets the name of the bundle, `-` writes it to standard \
    output. Default: ascend-doctor-bundle.tar.gz.\n\n\
    Exit status: 0 if the bundle is written, 3 if it does not contain a path of `--add`."
)]
pub struct BundleArgs {
    /// Log, archive or directory to include
    ///
    /// In addition to the CANN and driver logs: plain or gzip-compressed files, archives (.zip,
    /// .tar, .tar.gz) and log directories.
    #[arg(long = "add", value_name = "PATH")]
    pub add: Vec<PathBuf>,
    /// Size limit of logs, in MiB; the newest lines are kept
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = whole(0_u64..=1024))]
    pub limit: u64,
    /// Data to redact
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Level::Secrets)]
    pub redact: Level,
    /// Which machine, and what of it is read.
    #[command(flatten)]
    pub scan: ScanArgs,
}
