//! Options of all subcommands: where the report goes, and how it looks.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches as _};

use base::report::{FailOn, OnInconclusive};
use base::text::Lang;
use render::Format;

/// Options of all subcommands that make a report.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Shared options")]
pub struct OutputArgs {
    /// Format of the report
    ///
    /// Default: text.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Output file, `-` for standard output
    ///
    /// Replaces the whole file. Default: standard output.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Language of the messages
    ///
    /// Default: the language of the locale.
    #[arg(long, value_enum, env = "ASCEND_DOCTOR_LANG")]
    pub lang: Option<Lang>,
    /// Colored output
    #[arg(long, value_enum, default_value_t = ColorWhen::Auto)]
    pub color: ColorWhen,
    /// Lowest severity that sets exit status 1
    ///
    /// Default: error.
    #[arg(long, value_enum)]
    pub fail_on: Option<FailOn>,
    /// Exit status of an inconclusive result: 3, 1 or 0
    ///
    /// Default: report.
    #[arg(long, value_enum)]
    pub on_inconclusive: Option<OnInconclusive>,
    /// Settings file
    ///
    /// Default: ascend-doctor.toml in the working directory, if no other user can change it.
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Ignore settings files
    #[arg(long)]
    pub no_config: bool,
    /// Data pack that replaces the built-in tables
    #[arg(long, value_name = "FILE", env = "ASCEND_DOCTOR_DATA_PACK", hide_env_values = true)]
    pub data_pack: Option<PathBuf>,
    /// Minisign public key of the data pack
    #[arg(long, value_name = "FILE|KEY", env = "ASCEND_DOCTOR_DATA_KEY", hide_env_values = true)]
    pub data_key: Option<String>,
    /// Accept a data pack without verifying its signature
    #[arg(long)]
    pub data_unsigned: bool,
    /// Accept a data pack older than the built-in tables
    #[arg(long)]
    pub data_older: bool,
    /// Only findings and the summary
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also passed checks, all evidence and references
    #[arg(long, short)]
    pub verbose: bool,
    /// Log activity to standard error
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub log: Option<LogLevel>,
}

/// The option that all subcommands have, also those without a report.
pub(super) const LANG: &str = "lang";

impl OutputArgs {
    /// Returns the shared options of a command line, which may be before or behind the subcommand.
    ///
    /// # Errors
    ///
    /// Those of clap, and such options of a subcommand that has none.
    pub fn of_matches(root: &ArgMatches) -> Result<Self, clap::Error> {
        let mut leaf = root;
        while let Some((_, sub)) = leaf.subcommand() {
            leaf = sub;
        }
        // A build without debug assertions answers `Ok(false)` for an option that does not exist.
        if matches!(leaf.try_contains_id("no_config"), Ok(true)) {
            return Self::merge(root, leaf);
        }
        if let Some(option) = Self::first_given(root) {
            let name = root.subcommand_name().unwrap_or_default();
            let mut error = clap::Error::new(ErrorKind::ArgumentConflict);
            error.insert(ContextKind::InvalidArg, ContextValue::String(option));
            error.insert(ContextKind::PriorArg, ContextValue::String(name.to_owned()));
            return Err(error);
        }
        let mut output = Self::from_arg_matches(root)?;
        if let Ok(Some(lang)) = leaf.try_get_one(LANG) {
            output.lang = Some(*lang);
        }
        Ok(output)
    }

    /// Prefers the options behind the subcommand, then those before it, then the environment.
    fn merge(root: &ArgMatches, leaf: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |matches: &ArgMatches, name: &str| {
            matches.value_source(name) == Some(ValueSource::CommandLine)
        };
        let before = |name: &str| given(root, name) && !given(leaf, name);
        let first = Self::from_arg_matches(root)?;
        let second = Self::from_arg_matches(leaf)?;
        let pack = before("data_pack");
        Ok(Self {
            format: if before("format") && !given(leaf, "json") {
                first.format
            } else {
                second.format
            },
            json: second.json || (first.json && !given(leaf, "format")),
            output: if before("output") { first.output } else { second.output },
            lang: if before("lang") { first.lang } else { second.lang },
            color: if before("color") { first.color } else { second.color },
            fail_on: if before("fail_on") { first.fail_on } else { second.fail_on },
            on_inconclusive: if before("on_inconclusive") {
                first.on_inconclusive
            } else {
                second.on_inconclusive
            },
            config: if before("config") { first.config } else { second.config },
            no_config: first.no_config || second.no_config,
            data_pack: if pack { first.data_pack } else { second.data_pack },
            data_key: if before("data_key") { first.data_key } else { second.data_key },
            data_unsigned: first.data_unsigned || second.data_unsigned,
            data_older: first.data_older || second.data_older,
            quiet: first.quiet || second.quiet,
            verbose: first.verbose || second.verbose,
            log: if before("log") { first.log } else { second.log },
        })
    }

    /// Returns one of the options that the command line has before the subcommand.
    fn first_given(root: &ArgMatches) -> Option<String> {
        let augmented = Self::augment_args(clap::Command::new(""));
        let given = augmented
            .get_arguments()
            .filter(|arg| arg.get_id() != LANG)
            .find(|arg| root.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine));
        Some(format!("--{}", given?.get_long()?))
    }
}

/// How much is logged: each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogLevel {
    /// Failures.
    Error,
    /// Suspicious conditions.
    Warn,
    /// Steps and their duration.
    Info,
    /// Files read and programs run.
    Debug,
    /// File system calls.
    Trace,
}

/// When to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR, CLICOLOR=0 or TERM=dumb is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
