//! Options of `port`.

use std::path::PathBuf;

use clap::Args;

/// Options of `port`.
#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = "Exit status: 0 if the project runs after the automatic changes, 1 if decisions \
    are left or something blocks it, 3 if that is not known."
)]
pub struct PortArgs {
    /// Directory of the project
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// torch_npu version (`2.7`: the newest 2.7)
    #[arg(long, value_name = "VERSION")]
    pub torch_npu: Option<String>,
    /// Do not examine this machine
    #[arg(long)]
    pub no_machine: bool,
}
