//! Options of `verify`.

use std::path::PathBuf;

use clap::Args;

use super::number::whole;
use data::{Fault, faults};
use verify::judge::MinSpeed;
use verify::protocol::{Dtype, Level, Stage};
use verify::stage::DIRECTIONS;

/// Options of `verify`.
#[derive(Debug, Clone, Args)]
pub struct VerifyArgs {
    /// Scope of the tests
    #[arg(long, value_enum, default_value_t = Level::Quick)]
    pub level: Level,
    /// Only these devices
    ///
    /// Device IDs of the runtime. Default: all.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = whole(0..=65535))]
    pub device: Vec<i32>,
    /// Only these stages, by name or number
    ///
    /// All other stages require `load` and `runtime`. Default: all.
    #[arg(long, value_name = "RUNG", value_delimiter = ',', value_enum)]
    pub rung: Vec<Stage>,
    /// Only these data types
    ///
    /// Default: all types that the chip supports.
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_enum)]
    pub dtype: Vec<Dtype>,
    /// Time limit per call; kills its process
    ///
    /// The report names the call. Default: 60, or 150 if ranks wait for each other.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub call_timeout: Option<f64>,
    /// Allow full load on idle devices
    ///
    /// Required for the stress stage and the extended level.
    #[arg(long)]
    pub yes: bool,
    /// Load duration in minutes
    #[arg(long, value_name = "N", default_value = "1", value_parser = minutes)]
    pub minutes: f64,
    /// File with environment variables
    ///
    /// `NAME=value` lines, JSON, or NUL-separated as in /proc/PID/environ.
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Minimum copy speed, such as h2d=10,d2d=200
    ///
    /// In GB/s, for h2d, d2h and d2d.
    #[arg(long, value_name = "COPY=GB/S", value_delimiter = ',', value_parser = floor)]
    pub floor: Vec<MinSpeed>,
    /// Earlier report to compare with
    ///
    /// Output of `verify` with `--json`.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Treat devices of unknown load as idle
    ///
    /// For the load test, if npu-smi is missing or lists no processes.
    #[arg(long)]
    pub assume_idle: bool,
    /// Evidence file to write
    ///
    /// Contains all calls, return codes, times, versions and the environment, redacted.
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<PathBuf>,
    /// Evaluate recorded evidence, run no tests
    #[arg(long, value_name = "FILE", conflicts_with_all = ["evidence", "level", "device", "rung", "dtype", "yes", "env_file"])]
    pub replay: Option<PathBuf>,
    /// Name of the machine in the report
    ///
    /// Replaces the host name, for example in a pod.
    #[arg(long, value_name = "NAME", env = "ASCEND_DOCTOR_HOST", hide_env_values = true)]
    pub host: Option<String>,
    /// Directory for the CANN logs
    #[arg(long, value_name = "DIR")]
    pub keep_logs: Option<PathBuf>,
}

/// `h2d=10`.
fn floor(text: &str) -> Result<MinSpeed, Fault> {
    let (name, speed) = text.split_once('=').unwrap_or((text, ""));
    let stage = DIRECTIONS.iter().find(|(direction, _)| *direction == name.trim());
    let speed = speed.trim().parse::<f64>().ok().filter(|speed| (0.0..1e6).contains(speed));
    match (stage, speed) {
        (Some((_, stage)), Some(gb_per_s)) => Ok(MinSpeed { step: stage, gb_per_s }),
        _ => Err(faults::FloorExpected.fault()),
    }
}

/// A time from a tenth of a second to a day.
fn minutes(text: &str) -> Result<f64, Fault> {
    let minutes = text.parse().ok().filter(|minutes| (0.1 / 60.0..=1440.0).contains(minutes));
    minutes.ok_or_else(|| faults::MinutesExpected.fault())
}

/// A time from 0.1 seconds to a day.
fn seconds(text: &str) -> Result<f64, Fault> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| faults::SecondsExpected.fault())
}
