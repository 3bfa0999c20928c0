//! Options of `verify`.

use std::path::PathBuf;

use clap::Args;

use verify::judge::MinSpeed;
use verify::protocol::{Dtype, Level, Stage};
use verify::stage::DIRECTIONS;

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
    pub rung: Vec<Stage>,
    /// Only these element types [default: what the chip supports]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_enum)]
    pub dtype: Vec<Dtype>,
    /// How many seconds one call may take; then its process is killed, and the call named
    /// [default: 60, and 150 where ranks wait for each other]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Put idle devices under full load, as the stress rung and the extended level do
    #[arg(long)]
    pub yes: bool,
    /// How long the load lasts
    #[arg(long, value_name = "N", default_value = "1", value_parser = minutes)]
    pub minutes: f64,
    /// Take the environment of CANN from a file: `NAME=value` lines, JSON, or NUL-separated
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// The least speed of copies in GB/s, such as h2d=10,d2h=10,d2d=200
    #[arg(long, value_name = "COPY=GB/S", value_delimiter = ',', value_parser = floor)]
    pub floor: Vec<MinSpeed>,
    /// Compare the speed of copies with an earlier report (`--format json`)
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// The name of the machine in the report, where its own is not the right one (a pod)
    #[arg(long, value_name = "NAME", env = "ASCEND_DOCTOR_HOST", hide_env_values = true)]
    pub host: Option<String>,
    /// Keep the logs that CANN writes, in this directory
    #[arg(long, value_name = "DIR")]
    pub keep_logs: Option<PathBuf>,
    /// One line of JSON for each stage as it ends, the report as the last one
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// `h2d=10`.
fn floor(text: &str) -> Result<MinSpeed, String> {
    let (name, speed) = text.split_once('=').unwrap_or((text, ""));
    let stage = DIRECTIONS.iter().find(|(direction, _)| *direction == name.trim());
    let speed = speed.trim().parse::<f64>().ok().filter(|speed| (0.0..1e6).contains(speed));
    match (stage, speed) {
        (Some((_, stage)), Some(gb_per_s)) => Ok(MinSpeed { step: stage, gb_per_s }),
        _ => Err("h2d, d2h or d2d with a speed is expected, such as h2d=10".to_owned()),
    }
}

/// A time from a tenth of a second to a day.
fn minutes(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|minutes| (0.1 / 60.0..=1440.0).contains(minutes))
        .ok_or_else(|| "a number of minutes up to 1440 is expected".to_owned())
}

/// A time from 0.1 seconds to a day.
fn seconds(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| (0.1..=86_400.0).contains(seconds))
        .ok_or_else(|| "a number of seconds from 0.1 to 86400 is expected".to_owned())
}
