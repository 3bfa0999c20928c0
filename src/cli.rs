//! The command line: types and help texts, nothing else.

mod audit_ops;
mod bundle;
mod data;
mod examples;
mod fleet;
mod help;
mod install;
mod lint;
mod machine;
mod mcp;
mod number;
mod output;
mod port;
mod report;
mod screen;
mod shell;
mod translate_error;
mod triage;
mod verify;

use std::path::PathBuf;

use clap::{Args, FromArgMatches as _, Parser, Subcommand};

use checks::Profile;
use convert::options::Import;
use treeedit::kind::FileKind;

pub use audit_ops::AuditOpsArgs;
pub use bundle::BundleArgs;
pub use data::DataCommand;
pub use fleet::{FleetCommand, MergeArgs};
pub use help::{Detail, command, described, paragraphs, usage, with_help};
pub use install::InstallArgs;
pub use lint::LintArgs;
pub use machine::{MachineArgs, ScanArgs, VersionArgs};
pub use mcp::{Allowed, McpArgs};
pub use output::{ColorWhen, LogLevel, OutputArgs};
pub use port::PortArgs;
pub use report::ReportArgs;
pub use shell::{CompletionsArgs, ManArgs};
pub use translate_error::{InputKind, TranslateErrorArgs};
pub use triage::TriageArgs;
pub use verify::VerifyArgs;

/// Diagnose Huawei Ascend NPU machines: offline, in one binary.
#[derive(Debug, Parser)]
#[command(name = "ascend-doctor", version, term_width = 80, propagate_version = true)]
#[command(after_help = "Exit status of every subcommand:\n  \
    0  no findings at or above the fail level\n  \
    1  findings at or above the fail level\n  \
    2  usage error or internal error\n  \
    3  inconclusive: timeout, missing permission or evidence")]
pub struct Cli {
    /// Subcommand.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of all subcommands that write a report.
    #[command(flatten)]
    pub output: OutputArgs,
    /// What the input was taken for, if the command line has no subcommand.
    #[arg(skip)]
    pub detected: Option<crate::cmd::Detected>,
}

impl Cli {
    /// Reads a command line.
    ///
    /// # Errors
    ///
    /// Those of clap, which include the result of `--help` and `--version`.
    pub fn read<I, T>(command: &mut clap::Command, arguments: I) -> Result<Self, clap::Error>
    where
        I: IntoIterator<Item = T>,
        T: Into<std::ffi::OsString> + Clone,
    {
        let mut matches = command.try_get_matches_from_mut(arguments)?;
        let output = OutputArgs::of_matches(&matches).map_err(|error| error.format(command))?;
        let cli = Self::from_arg_matches_mut(&mut matches);
        let cli = cli.map_err(|error| error.format(command))?;
        Ok(Self { output, ..cli })
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check this machine, or a copy of one
    Check(Box<CheckArgs>),
    /// Convert CUDA PyTorch code for Ascend NPUs, or undo a run
    Convert(Box<ConvertArgs>),
    /// Run test computations on every NPU and check the results
    Verify(Box<VerifyArgs>),
    /// List operators that fall back to the CPU or are unsupported
    AuditOps(Box<AuditOpsArgs>),
    /// Explain error codes and find the causes in logs
    TranslateError(Box<TranslateErrorArgs>),
    /// Answer an issue text: cause, versions, fix, missing facts
    Triage(TriageArgs),
    /// Tell whether a project will run on NPUs
    Port(PortArgs),
    /// Find statements in documents that contradict the tables
    Lint(LintArgs),
    /// Explain finding IDs, error codes and `convert` rules
    Explain(ExplainArgs),
    /// List compatible versions and recommend an installation
    Compat(Box<CompatArgs>),
    /// Describe wheels, or compare them with the published ones
    #[command(subcommand)]
    Manifest(ManifestCommand),
    /// Compare the machines of a cluster by their reports
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Show JSON reports on one HTML page
    Report(ReportArgs),
    /// Collect logs and system information into a redacted bundle
    Bundle(Box<BundleArgs>),
    /// Serve coding agents over the Model Context Protocol
    Mcp(McpArgs),
    /// List the tables in use, their sources and their age
    #[command(subcommand)]
    Data(DataCommand),
    /// Copy this program to a directory
    Install(InstallArgs),
    /// Generate shell completions
    Completions(CompletionsArgs),
    /// Generate the manual pages
    Man(ManArgs),
    /// Child process of `verify`.
    #[command(hide = true)]
    VerifyChild {
        /// Order in JSON.
        order: String,
    },
}

/// The subcommands of `manifest`.
#[derive(Debug, Subcommand)]
pub enum ManifestCommand {
    /// Write a JSON manifest of a packed, unpacked or installed wheel
    Create {
        /// Wheel or directory
        ///
        /// A directory has `torch_npu/` and `torch_npu-*.dist-info/`.
        #[arg(value_name = "PATH")]
        source: PathBuf,
    },
    /// Compare torch_npu wheels with the SHA-256 of the published ones
    WheelCheck {
        /// Wheels, or directories with wheels
        #[arg(value_name = "PATH", required = true)]
        sources: Vec<PathBuf>,
    },
}

/// Options of `compat`. Without any, the advice is for the machine as it is.
#[derive(Debug, Clone, Default, Args)]
pub struct CompatArgs {
    /// Which machine.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Facts of another machine
    ///
    /// Output of `check --facts-only`, or a bundle.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sysroot", "pid", "env_file", "python"])]
    pub facts: Option<PathBuf>,
    /// Workload Python: interpreter or version
    ///
    /// Default: the interpreter that the shell starts.
    #[arg(long, value_name = "PATH|X.Y")]
    pub python: Option<String>,
    /// Versions to plan for.
    #[command(flatten)]
    pub versions: VersionArgs,
    /// MindSpore version (`2.7`: the newest 2.7)
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["torch", "torch_npu", "vllm_ascend"])]
    pub mindspore: Option<String>,
    /// Driver version to plan for
    ///
    /// Written as in /usr/local/Ascend/driver/version.info. Default: the driver of this machine.
    #[arg(long, value_name = "VERSION")]
    pub driver: Option<String>,
    /// Chip, such as `910b`, `910B3`, `310P` or `a2`
    ///
    /// Case-insensitive, with or without `Ascend`. Default: the chip of this machine, if known.
    #[arg(long, value_name = "NAME")]
    pub soc: Option<String>,
    /// Architecture to plan for
    #[arg(long, value_name = "ARCH", value_parser = ["aarch64", "x86_64"])]
    pub arch: Option<String>,
    /// Compatibility matrix that overrides built-in entries
    #[arg(long, value_name = "FILE")]
    pub matrix: Option<PathBuf>,
}

/// Options of `check`.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// Which machine, and what of it is read.
    #[command(flatten)]
    pub scan: ScanArgs,
    /// Name of the machine in the report
    ///
    /// Replaces the host name, for example in a pod.
    #[arg(long, value_name = "NAME", env = "ASCEND_DOCTOR_HOST", hide_env_values = true)]
    pub host: Option<String>,
    /// Purpose of the machine
    #[arg(long, value_enum, default_value_t = Profile::General)]
    pub profile: Profile,
    /// Fail without a usable NPU and Ascend software
    #[arg(long)]
    pub require_npu: bool,
    /// Only these checks or rules (IDs or families)
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Skip these checks or rules (IDs or families)
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub skip: Vec<String>,
    /// Also write metrics for Prometheus to FILE
    ///
    /// Same format as `--format openmetrics`.
    #[arg(long, value_name = "FILE", conflicts_with = "facts_only")]
    pub metrics_file: Option<PathBuf>,
    /// Values to print as CSV, such as host,driver
    ///
    /// If a key starts with `npu.`, prints one row per NPU, otherwise one row. `--query help` lists
    /// the keys.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', conflicts_with_all = ["facts_only", "list_compat"])]
    pub query: Vec<String>,
    /// Repeat the check every SECONDS, until a signal
    ///
    /// For a container without a shell. Each run is a separate process.
    #[arg(long, value_name = "SECONDS", value_parser = number::whole(1..=u64::MAX), conflicts_with_all = ["record", "facts_only", "list_compat"])]
    pub every: Option<u64>,
    /// Stop after SECONDS with exit status 3
    #[arg(long, value_name = "SECONDS", value_parser = number::whole(1..=u64::MAX))]
    pub timeout: Option<u64>,
    /// Compatibility matrix that overrides built-in entries
    #[arg(long, value_name = "FILE")]
    pub matrix: Option<PathBuf>,
    /// Manifest to compare torch_npu with
    ///
    /// Written by `manifest create`. Default: the published wheels.
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with = "no_hash")]
    pub manifest: Option<PathBuf>,
    /// Copy all files that are read to DIR, for `--sysroot`
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// List compatible versions, as `compat` does
    #[arg(long, conflicts_with_all = ["facts_only", "record"])]
    pub list_compat: bool,
    /// Versions to plan for, with `--list-compat`.
    #[command(flatten)]
    pub versions: VersionArgs,
    /// Write the facts as JSON, without findings
    #[arg(long, conflicts_with_all = ["facts", "only", "skip"])]
    pub facts_only: bool,
    /// Facts of another machine
    ///
    /// Output of `check --facts-only`, or a bundle.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sysroot", "pid", "record", "env_file", "python"])]
    pub facts: Option<PathBuf>,
    /// Facts that a text states, such as an issue, without findings
    ///
    /// Text with pasted versions, `pip list` or `npu-smi info`; `-` for standard input. What the text
    /// does not state is not known.
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with_all = ["facts", "facts_only", "only", "skip", "plan", "query", "sysroot", "pid", "record", "env_file", "python", "list_compat"])]
    pub from_text: Option<PathBuf>,
    /// Earlier report to compare with
    ///
    /// JSON report of `check`, for example from before an upgrade. Lists the changes and the
    /// findings that they cause.
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with_all = ["facts_only", "list_compat"])]
    pub baseline: Option<PathBuf>,
    /// Write the repair steps as a script
    ///
    /// Steps are ordered and state their requirements: root, the host, a restart. All versions are
    /// selected together and checked against the compatibility matrix. No step is run. With
    /// `--json`, the report has the member `plan`.
    #[arg(long, conflicts_with_all = ["facts_only", "list_compat", "query", "metrics_file", "every", "expect_from"])]
    pub plan: bool,
    /// Generate site expectations from a report
    ///
    /// FILE is the JSON report of a healthy machine. The output is an `ascend-doctor.toml` with
    /// `[expect]`.
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with_all = ["sysroot", "pid", "record", "env_file", "python", "facts", "facts_only", "list_compat", "query", "metrics_file", "every", "only", "skip", "baseline"])]
    pub expect_from: Option<PathBuf>,
}

/// Options of `convert`.
#[derive(Debug, Clone, Args)]
pub struct ConvertArgs {
    /// Files, directories or patterns to preview
    ///
    /// Does not write below PATH. Use `--root` to convert in place.
    #[arg(value_name = "PATH", required_unless_present = "root", conflicts_with = "root")]
    pub paths: Vec<PathBuf>,
    /// Files, directories or patterns to convert in place
    #[arg(long, short, value_name = "PATH", num_args = 1..)]
    pub root: Vec<PathBuf>,
    /// Launch script that gets the torch_npu import
    #[arg(long, short, value_name = "FILE")]
    pub launch: Vec<PathBuf>,
    /// Files, directories or patterns to exclude
    ///
    /// Takes several values and can be repeated. Put other paths before this option.
    #[arg(long, short, value_name = "PATH", num_args = 1..)]
    pub exclude: Vec<String>,
    /// Include files that .gitignore and .ignore exclude
    #[arg(long)]
    pub no_ignore: bool,
    /// Only these kinds of files
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_enum)]
    pub kind: Vec<FileKind>,
    /// Skip these kinds of files
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_enum)]
    pub no_kind: Vec<FileKind>,
    /// Largest file to read, in MiB
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 32,
        hide_short_help = true,
        value_parser = number::whole(1_u64..=1024)
    )]
    pub max_size: u64,
    /// Target torch_npu version (`2.7`: the newest 2.7)
    ///
    /// `2.7.1`, `2.7` or `torch_npu==2.7.1`, and versions of libraries that rules depend on
    /// (`transformers==4.51`). Default: the packages of this machine if torch_npu is installed.
    #[arg(long, value_name = "VERSION", value_delimiter = ',')]
    pub target: Vec<String>,
    /// Only these checks or rules (IDs or families)
    ///
    /// Rule IDs such as CV0269, or rule families: torch-cuda, torch, distributed, build,
    /// environment, libraries, files, formats. `convert` also adds the torch_npu import if a change
    /// needs it.
    #[arg(long = "only", value_name = "IDS", value_delimiter = ',')]
    pub only_rules: Vec<String>,
    /// Skip these checks or rules (IDs or families)
    #[arg(long = "skip", value_name = "IDS", value_delimiter = ',')]
    pub skip_rules: Vec<String>,
    /// Confirm each change, as in `git add -p`
    ///
    /// Requires a terminal.
    #[arg(long, requires = "root", conflicts_with_all = ["instead", "dry_run"])]
    pub interactive: bool,
    /// Keep CUDA names; transfer_to_npu patches them
    #[arg(long, requires = "launch")]
    pub transfer: bool,
    /// Other content to rewrite
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_enum)]
    pub also: Vec<Also>,
    /// Mark places that need manual work with a comment
    #[arg(long)]
    pub mark: bool,
    /// Files that get the torch_npu import
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = Import::Need)]
    pub import: Import,
    /// Write nothing, report the changes
    #[arg(long, conflicts_with_all = ["output_dir", "undo", "backup"])]
    pub dry_run: bool,
    /// Write nothing, print the changes as a patch
    #[arg(long, group = "instead")]
    pub diff: bool,
    /// Write nothing, exit with 1 if files would change
    #[arg(long, group = "instead")]
    pub check: bool,
    /// Write every mention of CUDA and its class to FILE
    ///
    /// As CSV if FILE ends in `.csv`, else as JSON.
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with = "undo")]
    pub ledger: Option<PathBuf>,
    /// Directory for the output files
    ///
    /// Writes the converted tree there and leaves the input unchanged.
    #[arg(long, value_name = "DIR", group = "instead")]
    pub output_dir: Option<PathBuf>,
    /// Undo the last run on the root
    #[arg(
        long,
        group = "instead",
        requires = "root",
        conflicts_with_all = ["launch", "exclude", "target", "transfer", "also", "mark", "backup", "only_rules", "skip_rules"]
    )]
    pub undo: bool,
    /// Keep the originals as `.bak` files
    #[arg(long, requires = "root", conflicts_with = "instead")]
    pub backup: bool,
    /// Overwrite files that are not committed to git
    ///
    /// With `--undo`: overwrite files that changed after the conversion.
    #[arg(long)]
    pub force: bool,
}

impl ConvertArgs {
    /// Returns the paths to convert, or to preview.
    pub fn selected(&self) -> &[PathBuf] {
        if self.root.is_empty() { &self.paths } else { &self.root }
    }

    /// Whether the run writes to the paths themselves.
    pub const fn is_in_place(&self) -> bool {
        let instead = self.dry_run || self.diff || self.check || self.output_dir.is_some();
        !self.root.is_empty() && !instead
    }
}

/// Replacements of `convert` besides names and devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Also {
    /// Messages and help texts.
    Messages,
}

/// Options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Finding IDs, families, error codes, rules
    ///
    /// Finding IDs (CANN-HOME), families (CANN), error codes (decimal, hexadecimal, negative,
    /// symbolic), or `convert` rules (CV0017).
    #[arg(
        value_name = "ID",
        required_unless_present_any = ["list", "report_schema"],
        allow_negative_numbers = true
    )]
    pub names: Vec<String>,
    /// Facts of another machine
    ///
    /// Output of `check --facts-only`, or a bundle. Explains the finding that results from these
    /// facts.
    #[arg(long, value_name = "FILE", requires = "names")]
    pub facts: Option<PathBuf>,
    /// JSON report with the finding to explain
    ///
    /// Output of `check`, `verify`, `audit-ops` or another subcommand with `--json`, or a bundle.
    #[arg(long, value_name = "FILE", requires = "names", conflicts_with = "facts")]
    pub report: Option<PathBuf>,
    /// List all finding IDs and families of error codes
    #[arg(long)]
    pub list: bool,
    /// Print the JSON Schema of reports
    #[arg(long, conflicts_with_all = ["names", "list"])]
    pub report_schema: bool,
}
