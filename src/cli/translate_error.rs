//! Options of `translate-error`.

use std::path::PathBuf;

use clap::Args;

/// What the inputs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum InputKind {
    /// Error codes.
    Code,
    /// The text of a log.
    Text,
    /// Files, directories and archives of logs.
    File,
}

/// Options of `translate-error`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor translate-error 507035 0x7020016 EI0006 ERR02200 -8005\n  \
    ascend-doctor translate-error ACL_ERROR_RT_VECTOR_CORE_EXCEPTION\n  \
    ascend-doctor translate-error 'errcode:(0x800000, 0x4000, 0)' 0x80E01801\n  \
    ascend-doctor translate-error --explain 507015\n  \
    ascend-doctor translate-error --search heartbeat lost\n  \
    ascend-doctor translate-error ~/ascend/log train.log logs.tar.gz\n  \
    python train.py 2>&1 | ascend-doctor translate-error --follow\n\n\
    Exit status: 0 if every code is known, 3 if one is not; of logs: 1 if a cause is found,\n\
    3 if nothing is recognised.")]
pub struct TranslateErrorArgs {
    /// Error codes: decimal, hexadecimal or negative numbers, names of constants, E-codes,
    /// ERRssiii, register words, chip events; or logs: files, directories, archives, a text, or `-`
    /// for standard input
    #[arg(
        value_name = "CODE|LOG",
        required_unless_present_any = ["list", "search", "schema", "follow"],
        allow_negative_numbers = true
    )]
    pub inputs: Vec<String>,
    /// At length: what is needed to be sure, what is related, what the digits say
    #[arg(long)]
    pub explain: bool,
    /// List the families of codes, or the codes of one; `causes` lists the causes
    #[arg(
        long,
        value_name = "FAMILY",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with = "inputs"
    )]
    pub list: Option<String>,
    /// Find codes and causes by words, in English or Chinese
    #[arg(long, value_name = "WORDS", num_args = 1.., conflicts_with_all = ["inputs", "list"])]
    pub search: Vec<String>,
    /// Lay families, codes, causes and notes of your own over the built-in ones (TOML)
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// What the inputs are, where that is not plain
    #[arg(long = "as", value_name = "KIND", value_enum)]
    pub kind: Option<InputKind>,
    /// Pass standard input on as it is while translating it on standard error
    #[arg(long, help_heading = "Logs", conflicts_with_all = ["list", "search"])]
    pub follow: bool,
    /// Show as many causes at most
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Logs")]
    pub top: usize,
    /// Show all causes, also improbable ones
    #[arg(long, help_heading = "Logs")]
    pub all: bool,
    /// Show which causes were rejected, and why
    #[arg(long, help_heading = "Logs")]
    pub why_not: bool,
    /// Only what these ranks wrote
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Logs")]
    pub rank: Vec<u32>,
    /// Only what is about these devices
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Logs")]
    pub device: Vec<u32>,
    /// Only from this moment on, such as "2025-05-12 20:55"
    #[arg(long, value_name = "TIME", help_heading = "Logs")]
    pub since: Option<String>,
    /// Only up to this moment
    #[arg(long, value_name = "TIME", help_heading = "Logs")]
    pub until: Option<String>,
    /// Logs of a good run: what they show too is hardly the cause
    #[arg(long, value_name = "LOG", help_heading = "Logs")]
    pub baseline: Vec<PathBuf>,
    /// Leave out paths, addresses and names of hosts, for sharing
    #[arg(long, help_heading = "Logs")]
    pub redact: bool,
    /// The same as `--format markdown`
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub markdown: bool,
    /// Print the JSON Schema of what `--format json` writes
    #[arg(long, conflicts_with_all = ["inputs", "list", "search"])]
    pub schema: bool,
}
