//! Options of `translate-error`.

use std::path::PathBuf;

use clap::Args;

use super::number::whole;

/// What the inputs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum InputKind {
    /// Error codes.
    Code,
    /// Log text.
    Text,
    /// Log files, directories and archives.
    File,
}

/// Options of `translate-error`.
#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = "Exit status for codes: 0 if every code is known, 3 otherwise. For logs: 1 if a \
    cause is found, 3 if nothing is recognized."
)]
pub struct TranslateErrorArgs {
    /// Error codes, logs, or `-`
    ///
    /// Codes: decimal, hexadecimal or negative numbers, constant names, E-codes, ERRssiii, error
    /// register values, chip fault codes. Logs: files, directories, archives, text, or `-` for
    /// standard input.
    #[arg(
        value_name = "INPUT",
        required_unless_present_any = ["list_codes", "search", "schema", "follow"],
        allow_negative_numbers = true
    )]
    pub inputs: Vec<String>,
    /// Show more details of each code
    ///
    /// Adds evidence to collect, related codes and the meaning of the digits.
    #[arg(long)]
    pub explain: bool,
    /// List code families, or the codes of one
    ///
    /// `causes` lists all causes.
    #[arg(
        long,
        value_name = "FAMILY",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with = "inputs"
    )]
    pub list_codes: Option<String>,
    /// Search codes and causes by keyword
    ///
    /// English or Chinese.
    #[arg(long, value_name = "WORDS", num_args = 1.., conflicts_with_all = ["inputs", "list_codes"])]
    pub search: Vec<String>,
    /// Table of codes and causes that overrides built-in ones
    ///
    /// TOML with families, codes, causes and notes.
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Input type
    #[arg(long = "as", value_name = "KIND", value_enum)]
    pub kind: Option<InputKind>,
    /// Copy standard input, explain errors on standard error
    #[arg(long, help_heading = "Logs", conflicts_with_all = ["list_codes", "search"])]
    pub follow: bool,
    /// Number of causes to show
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole(0..=usize::MAX), help_heading = "Logs")]
    pub top: usize,
    /// Show all results, not only the important ones
    #[arg(long, help_heading = "Logs")]
    pub all: bool,
    /// Show rejected causes with the reasons
    #[arg(long, help_heading = "Logs")]
    pub why_not: bool,
    /// Only lines of these ranks
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = whole(0..=u32::MAX), help_heading = "Logs")]
    pub rank: Vec<u32>,
    /// Only these devices
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = whole(0..=u32::MAX), help_heading = "Logs")]
    pub device: Vec<u32>,
    /// Only from this time, such as "2025-05-12 20:55"
    #[arg(long, value_name = "TIME", help_heading = "Logs")]
    pub since: Option<String>,
    /// Only up to this time
    #[arg(long, value_name = "TIME", help_heading = "Logs")]
    pub until: Option<String>,
    /// Log of a good run, for comparison
    ///
    /// Symptoms in both logs are unlikely causes.
    #[arg(long, value_name = "LOG", help_heading = "Logs")]
    pub good_log: Vec<PathBuf>,
    /// Remove paths, addresses and host names
    #[arg(long, help_heading = "Logs")]
    pub anonymize: bool,
    /// Short for `--format markdown`
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub markdown: bool,
    /// Print the JSON Schema of `--format json`
    #[arg(long, conflicts_with_all = ["inputs", "list_codes", "search"])]
    pub schema: bool,
}
