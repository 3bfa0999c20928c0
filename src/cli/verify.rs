//! Options of `verify`.

use std::path::PathBuf;

use clap::Args;

use crate::verify::protocol::{Dtype, Level, Rung};

/// Options of `verify`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor verify\n  \
    ascend-doctor verify --device 0,3 --rung compute --dtype fp16\n  \
    ascend-doctor verify --json > verify.jsonl")]
pub struct VerifyArgs {
    /// How much is tried
    #[arg(long, value_enum, default_value_t = Level::Quick)]
    pub level: Level,
    /// Only these devices, numbered as the runtime does [default: all]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(i32).range(0..=65535))]
    pub device: Vec<i32>,
    /// Only these rungs, by name or number; load and runtime are needed by the others [default: all]
    #[arg(long, value_name = "RUNG", value_delimiter = ',', value_enum)]
    pub rung: Vec<Rung>,
    /// Only these element types [default: what the chip supports]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_enum)]
    pub dtype: Vec<Dtype>,
    /// How many seconds one call may take; then its process is killed, and the call named
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub timeout: f64,
    /// Keep the logs that CANN writes, in this directory
    #[arg(long, value_name = "DIR")]
    pub keep_logs: Option<PathBuf>,
    /// One line of JSON for each stage as it ends, the report as the last one
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// A time from 0.1 seconds to a day.
fn seconds(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| (0.1..=86_400.0).contains(seconds))
        .ok_or_else(|| "a number of seconds from 0.1 to 86400 is expected".to_owned())
}
