//! Options of `audit-ops`.

use std::path::PathBuf;

use clap::Args;

/// Options of `audit-ops`.
#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = "`--fail-on warning` (or `fallback`) sets exit status 1 for a fallback to the CPU, \
    `--fail-on error` (or `unsupported`, the default) only for operators that raise an error."
)]
pub struct AuditOpsArgs {
    /// Models, sources, traces, logs, directories
    ///
    /// Python sources, TorchScript (.pt), torch.export (.pt2), ONNX, profiler traces, logs,
    /// operator lists, config.json, safetensors, and directories with these. The kind is detected
    /// from the content.
    #[arg(value_name = "PATH", required = true)]
    pub inputs: Vec<PathBuf>,
    /// torch_npu version (`2.7`: the newest 2.7)
    ///
    /// Wheel version (`2.9.0.post2`), PyTorch and release (`2.9.0-26.0.0`), or a version prefix.
    /// Default: the torch_npu of this machine, otherwise the newest release.
    #[arg(long, value_name = "VERSION")]
    pub torch_npu: Option<String>,
    /// Use the registrations of an installed torch_npu
    ///
    /// Without PATH: the torch_npu of this machine. PATH is a directory (site-packages, an
    /// environment) or a wheel. The report compares the registrations with the library.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, conflicts_with = "torch_npu")]
    pub installed: Option<Option<PathBuf>>,
    /// Chip, such as `910b`, `910B3`, `310P` or `a2`
    ///
    /// Case-insensitive, with or without `Ascend`. Default: the chip of this machine, if known.
    #[arg(long, value_name = "NAME")]
    pub soc: Option<String>,
    /// CANN version (`8.5`: the newest 8.5)
    ///
    /// Default: the installation that ASCEND_HOME_PATH points to.
    #[arg(long, value_name = "VERSION", conflicts_with = "cann_path")]
    pub cann: Option<String>,
    /// Directory of a CANN installation
    #[arg(long, value_name = "DIR")]
    pub cann_path: Option<PathBuf>,
    /// Data type of untyped inputs, such as `float16`
    #[arg(long, value_name = "TYPE")]
    pub assume_dtype: Option<String>,
    /// List releases that contain a missing kernel
    #[arg(long)]
    pub all_versions: bool,
    /// Follow imports into other packages
    ///
    /// For Python sources: follows packages next to the sources and packages in `--site`.
    #[arg(long)]
    pub follow_imports: bool,
    /// Package directory for `--follow-imports`
    #[arg(long, value_name = "DIR", requires = "follow_imports")]
    pub site: Vec<PathBuf>,
    /// Also count operators of the backward pass
    #[arg(long)]
    pub backward: bool,
    /// Suggest fused torch_npu operators
    #[arg(long)]
    pub suggest: bool,
    /// Show all results, not only the important ones
    #[arg(long)]
    pub all: bool,
}
