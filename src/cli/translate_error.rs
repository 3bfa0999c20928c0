//! Options of `translate-error`.

use std::path::PathBuf;

use clap::Args;

/// Options of `translate-error`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor translate-error 507035 0x7020016 EI0006 ERR02200 -8005\n  \
    ascend-doctor translate-error ACL_ERROR_RT_VECTOR_CORE_EXCEPTION\n  \
    ascend-doctor translate-error 'errcode:(0x800000, 0x4000, 0)' 0x80E01801\n  \
    ascend-doctor translate-error --explain 507015\n  \
    ascend-doctor translate-error --search heartbeat lost\n\n\
    Exit status: 0 if every code is known, 3 if one is not.")]
pub struct TranslateErrorArgs {
    /// Error codes: decimal, hexadecimal or negative numbers, names of constants, E-codes,
    /// ERRssiii, register words, chip events
    #[arg(
        value_name = "CODE",
        required_unless_present_any = ["list", "search", "schema"],
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
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Print the JSON Schema of what `--format json` writes
    #[arg(long, conflicts_with_all = ["inputs", "list", "search"])]
    pub schema: bool,
}
