//! The command line: types and help texts, nothing else.

mod audit_ops;
mod bundle;
mod data;
mod fleet;
mod machine;
mod output;
mod report;
mod shell;
mod translate_error;
mod verify;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use pep440_rs::Version;

use base::version::CannVersion;
use checks::Profile;
use convert::options::Import;
use treeedit::kind::FileKind;

pub use audit_ops::AuditOpsArgs;
pub use bundle::BundleArgs;
pub use data::DataCommand;
pub use fleet::{FleetCommand, MergeArgs};
pub use machine::{MachineArgs, ScanArgs};
pub use output::{ColorWhen, LogLevel, OutputArgs};
pub use report::ReportArgs;
pub use shell::{CompletionsArgs, ManArgs};
pub use translate_error::{InputKind, TranslateErrorArgs};
pub use verify::VerifyArgs;

/// Diagnose Huawei Ascend NPU machines: offline, in one binary.
#[derive(Debug, Parser)]
#[command(name = "ascend-doctor", version, max_term_width = 80, propagate_version = true)]
#[command(after_help = "Exit status, in every subcommand:\n  \
    0  nothing at or above the fail level\n  \
    1  findings at or above it\n  \
    2  wrong usage, or the tool could not work\n  \
    3  no verdict: time, permission or evidence was lacking")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of all subcommands.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Scan this machine, or a copy of one, against the compatibility matrix
    Check(Box<CheckArgs>),
    /// Rewrite CUDA PyTorch sources for Ascend NPUs, or take that back
    Convert(Box<ConvertArgs>),
    /// Run a test on every NPU, in processes of its own: does it compute right numbers?
    Verify(Box<VerifyArgs>),
    /// Tell which operators of a model run on the NPU, and which fall back to the CPU
    AuditOps(Box<AuditOpsArgs>),
    /// Say what an error code means, where it comes from and what to do
    TranslateError(Box<TranslateErrorArgs>),
    /// Explain a finding id, a family, an error code, or a rule of `convert`
    Explain(ExplainArgs),
    /// Print which versions fit together, and what to install on this machine
    Compat(Box<CompatArgs>),
    /// Describe a wheel for `check --manifest`, or compare wheels with the published ones
    #[command(subcommand)]
    Manifest(ManifestCommand),
    /// Compare the machines of a cluster by their reports
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Show what other subcommands wrote as JSON on one page, for a browser
    Report(ReportArgs),
    /// Put all that somebody needs to help into one file, without secrets
    Bundle(Box<BundleArgs>),
    /// List the tables in use, their sources and their age
    #[command(subcommand)]
    Data(DataCommand),
    /// Write the completions of a shell
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
    /// The other side of `verify`, started by it alone.
    #[command(hide = true)]
    VerifyChild {
        /// What to do, in JSON.
        order: String,
    },
}

/// The subcommands of `manifest`.
#[derive(Debug, Subcommand)]
pub enum ManifestCommand {
    /// Write the manifest of a wheel, or of an unpacked or installed one, as JSON
    Create {
        /// A wheel, or a directory with `torch_npu/` and `torch_npu-*.dist-info/`
        #[arg(value_name = "WHEEL|DIR")]
        source: PathBuf,
    },
    /// Compare torch_npu wheels with the SHA-256 of the published ones, before installing them
    WheelCheck {
        /// Wheels, or directories with wheels
        #[arg(value_name = "WHEEL|DIR", required = true)]
        sources: Vec<PathBuf>,
    },
}

/// Options of `compat`. Without any, the advice is for the machine as it is.
#[derive(Debug, Clone, Default, Args)]
pub struct CompatArgs {
    /// Which machine.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Advise by facts that were read elsewhere (`check --facts-only`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["root", "pid", "env_file"])]
    pub facts: Option<PathBuf>,
    /// The interpreter to examine; `check --list-compat --python` sets it.
    #[arg(skip)]
    pub interpreter: Option<String>,
    /// What to install for this torch
    #[arg(long, value_name = "VERSION")]
    pub torch: Option<Version>,
    /// What to install for this torch_npu
    #[arg(long, value_name = "VERSION")]
    pub torch_npu: Option<Version>,
    /// What to install for this CANN
    #[arg(long, value_name = "VERSION")]
    pub cann: Option<CannVersion>,
    /// What to install for this vllm-ascend
    #[arg(long, value_name = "VERSION")]
    pub vllm_ascend: Option<Version>,
    /// For this Python instead of the one that is found
    #[arg(long, value_name = "X.Y", value_parser = python_version)]
    pub python: Option<String>,
    /// For this architecture instead of the one that is found
    #[arg(long, value_name = "ARCH", value_parser = ["aarch64", "x86_64"])]
    pub arch: Option<String>,
    /// Lay a newer compatibility matrix over the built-in one
    #[arg(long, value_name = "FILE")]
    pub matrix: Option<PathBuf>,
}

/// `3.11` or `3.11.9`, kept as `3.11`.
fn python_version(text: &str) -> Result<String, String> {
    let mut parts = text.split('.').map(str::parse::<u16>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok(format!("{major}.{minor}")),
        _ => Err("a version such as 3.11 is expected".to_owned()),
    }
}

/// Options of `check`.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// Which machine, and what of it is read.
    #[command(flatten)]
    pub scan: ScanArgs,
    /// The name of the machine in the report, where its own is not the right one (a pod)
    #[arg(long, value_name = "NAME", env = "ASCEND_DOCTOR_HOST", hide_env_values = true)]
    pub host: Option<String>,
    /// What the machine is meant for
    #[arg(long, value_enum, default_value_t = Profile::General)]
    pub profile: Profile,
    /// Fail if there is no usable NPU and Ascend software
    #[arg(long)]
    pub require_npu: bool,
    /// Only these checks (ids or families, separated by commas)
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Leave out these checks (ids or families, separated by commas)
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub skip: Vec<String>,
    /// Also write numbers for Prometheus to this file (`--format openmetrics`)
    #[arg(long, value_name = "FILE", conflicts_with = "facts_only")]
    pub metrics_file: Option<PathBuf>,
    /// Give up after so many seconds: exit status 3, no verdict
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
    /// Lay a newer compatibility matrix over the built-in one
    #[arg(long, value_name = "FILE")]
    pub matrix: Option<PathBuf>,
    /// Compare the files of torch_npu with this manifest instead of the published wheels
    #[arg(long, value_name = "FILE", conflicts_with = "no_hash")]
    pub manifest: Option<PathBuf>,
    /// Keep everything that is read, as a tree for --root
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Print the compatibility matrix and what to install, as `compat` does
    #[arg(long, conflicts_with_all = ["facts_only", "record"])]
    pub list_compat: bool,
    /// With --list-compat: what to install for this torch
    #[arg(long, value_name = "VERSION", requires = "list_compat")]
    pub torch: Option<Version>,
    /// With --list-compat: what to install for this torch_npu
    #[arg(long, value_name = "VERSION", requires = "list_compat")]
    pub torch_npu: Option<Version>,
    /// With --list-compat: what to install for this CANN
    #[arg(long, value_name = "VERSION", requires = "list_compat")]
    pub cann: Option<CannVersion>,
    /// With --list-compat: what to install for this vllm-ascend
    #[arg(long, value_name = "VERSION", requires = "list_compat")]
    pub vllm_ascend: Option<Version>,
    /// Print what was read, as JSON, and judge nothing
    #[arg(long, conflicts_with_all = ["facts", "only", "skip"])]
    pub facts_only: bool,
    /// Judge facts that were read elsewhere (`--facts-only`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["root", "pid", "record", "env_file", "python"])]
    pub facts: Option<PathBuf>,
}

/// Options of `convert`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor convert -r ./yolov5 -l ./yolov5/train.py --diff\n  \
    ascend-doctor convert -r ./yolov5 -l ./yolov5/train.py\n  \
    ascend-doctor convert -r ./yolov5 --undo")]
pub struct ConvertArgs {
    /// What to convert: files, directories or patterns
    #[arg(long, short, value_name = "PATH", required = true)]
    pub root: Vec<PathBuf>,
    /// Files that are started: they import torch_npu
    #[arg(long, short, value_name = "FILE")]
    pub launch: Vec<PathBuf>,
    /// Leave out files, directories or patterns, separated by commas
    #[arg(long, short, value_name = "PATH")]
    pub exclude: Vec<String>,
    /// Also what .gitignore and .ignore leave out
    #[arg(long)]
    pub no_ignore: bool,
    /// Only these kinds of files
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_enum)]
    pub kind: Vec<FileKind>,
    /// All but these kinds of files
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_enum)]
    pub no_kind: Vec<FileKind>,
    /// The largest file that is read, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub max_size: u64,
    /// Use only what this torch_npu has, as `torch_npu==2.6.0`; by default the one found here
    #[arg(long, value_name = "torch_npu==X", value_parser = target_version)]
    pub target: Option<Version>,
    /// Rewrite no names: let torch_npu's transfer_to_npu patch them
    #[arg(long, requires = "launch")]
    pub transfer: bool,
    /// Rewrite more than devices: messages that speak of CUDA
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_enum)]
    pub also: Vec<Also>,
    /// Put a comment where a person has to act
    #[arg(long)]
    pub mark: bool,
    /// Which files import torch_npu
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = Import::Need)]
    pub import: Import,
    /// Write nothing, report what would be done
    #[arg(long, conflicts_with_all = ["output", "undo", "backup"])]
    pub dry_run: bool,
    /// Write nothing, print the changes as a patch
    #[arg(long, group = "instead")]
    pub diff: bool,
    /// Write nothing, exit with 1 if something would change
    #[arg(long, group = "instead")]
    pub check: bool,
    /// Write the converted tree there, and leave the input alone
    #[arg(long, short = 'o', value_name = "DIR", group = "instead")]
    pub output: Option<PathBuf>,
    /// Take the last run on this root back
    #[arg(
        long,
        group = "instead",
        conflicts_with_all = ["launch", "exclude", "target", "transfer", "also", "mark", "backup"]
    )]
    pub undo: bool,
    /// Keep the originals beside the files as `.bak`
    #[arg(long, conflicts_with = "instead")]
    pub backup: bool,
    /// Overwrite what git does not have, with --undo what changed since
    #[arg(long)]
    pub force: bool,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// What `convert` rewrites besides names and devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Also {
    /// Messages and help texts.
    Messages,
}

/// `torch_npu==2.6.0`, or the version alone.
fn target_version(text: &str) -> Result<Version, String> {
    let version = match text.split_once("==") {
        Some((name, version)) if matches!(name.trim(), "torch_npu" | "torch-npu") => version,
        Some(_) => return Err("`torch_npu==` and a version are expected".to_owned()),
        None => text,
    };
    version.trim().parse().map_err(|_| "a version such as torch_npu==2.6.0 is expected".to_owned())
}

/// Options of `explain`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor explain SCAN-READ\n  \
    ascend-doctor explain 507035 EI0006 ERR00100 -8005 0x7110001\n  \
    ascend-doctor explain ACL_ERROR_RT_VECTOR_CORE_EXCEPTION")]
pub struct ExplainArgs {
    /// Finding ids, families, error codes (decimal, hexadecimal, negative), symbols, or rules of
    /// `convert` (CV0017)
    #[arg(
        value_name = "ID|CODE",
        required_unless_present_any = ["list", "schema"],
        allow_negative_numbers = true
    )]
    pub names: Vec<String>,
    /// List all finding ids by family, and the families of error codes
    #[arg(long)]
    pub list: bool,
    /// Print the JSON Schema of the reports (`--format json`)
    #[arg(long, conflicts_with_all = ["names", "list"])]
    pub schema: bool,
}
