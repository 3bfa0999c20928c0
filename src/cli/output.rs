//! Options of all subcommands: where the report goes, and how it looks.

use std::path::PathBuf;

use clap::Args;

use base::report::{FailOn, OnInconclusive};
use base::text::Lang;
use render::Format;

/// Options of all subcommands that make a report.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Format of the report [default: text]
    #[arg(long, global = true, value_enum)]
    pub format: Option<Format>,
    /// The same as `--format json`
    #[arg(long, global = true, conflicts_with = "format")]
    pub json: bool,
    /// Write the report to a file instead of standard output
    #[arg(long, short = 'o', global = true, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Language of the messages [default: by the locale]
    #[arg(long, global = true, value_enum, env = "ASCEND_DOCTOR_LANG")]
    pub lang: Option<Lang>,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t = ColorWhen::Auto)]
    pub color: ColorWhen,
    /// Minimum severity for exit status 1 [default: error]
    #[arg(long, global = true, value_enum)]
    pub fail_on: Option<FailOn>,
    /// Exit status of an inconclusive result: 3, 1 or 0 [default: report]
    #[arg(long, global = true, value_enum)]
    pub on_inconclusive: Option<OnInconclusive>,
    /// Take the settings from this file [default: ascend-doctor.toml, if there is one here]
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Take no settings from a file
    #[arg(long, global = true)]
    pub no_config: bool,
    /// Data pack that replaces the built-in tables
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "ASCEND_DOCTOR_DATA_PACK",
        hide_env_values = true,
        help_heading = "Data"
    )]
    pub data_pack: Option<PathBuf>,
    /// Minisign public key of the data pack
    #[arg(
        long,
        global = true,
        value_name = "FILE|KEY",
        env = "ASCEND_DOCTOR_DATA_KEY",
        hide_env_values = true,
        help_heading = "Data"
    )]
    pub data_key: Option<String>,
    /// Accept a data pack without verifying its signature
    #[arg(long, global = true, help_heading = "Data")]
    pub data_unsigned: bool,
    /// Accept a data pack older than the built-in tables
    #[arg(long, global = true, help_heading = "Data")]
    pub data_older: bool,
    /// Only findings and the summary
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also what passed, what does not apply, all evidence and references
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Say on standard error what is read and done, for bug reports
    #[arg(long, global = true, value_name = "LEVEL", value_enum)]
    pub log: Option<LogLevel>,
}

/// How much is logged: each level says what those before it say, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogLevel {
    /// What failed.
    Error,
    /// What looks wrong.
    Warn,
    /// What is done, and how long it takes.
    Info,
    /// Every file that is read, every program that is run.
    Debug,
    /// Every question to the file system.
    Trace,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR, CLICOLOR=0 or TERM=dumb say otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
