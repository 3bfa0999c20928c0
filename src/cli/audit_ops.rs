//! Options of `audit-ops`.

use std::path::PathBuf;

use clap::Args;

/// Options of `audit-ops`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    ascend-doctor audit-ops model.pt2\n  \
    ascend-doctor audit-ops --torch-npu 2.7.1.post2 --soc Ascend910B3 model.pt model.onnx\n  \
    ascend-doctor audit-ops --installed=torch_npu-2.9.0.post2-cp311-cp311-linux_aarch64.whl model.pt2\n  \
    ascend-doctor audit-ops --suggest src/\n  \
    ascend-doctor audit-ops --all-versions trace_view.json\n  \
    ascend-doctor audit-ops --fail-on unsupported model.pt2\n\n\
    `--fail-on warning` (or `fallback`) makes a fallback to the CPU exit with 1, `--fail-on error`\n\
    (or `unsupported`, the default) only what raises an error.")]
pub struct AuditOpsArgs {
    /// Models and more: Python sources, TorchScript (.pt), torch.export (.pt2), ONNX, traces of the
    /// profiler, logs, lists of operators, config.json, safetensors and directories of these; told
    /// apart by content
    #[arg(value_name = "PATH", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The torch_npu to judge for: a wheel (`2.9.0.post2`) or PyTorch and release (`2.9.0-26.0.0`)
    /// [default: the one of this machine, or else the newest release]
    #[arg(long, value_name = "VERSION")]
    pub torch_npu: Option<String>,
    /// Judge by what an installed torch_npu registers itself: that of this machine, or the one in a
    /// directory (site-packages, an environment) or a wheel. Its library is compared with it
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, conflicts_with = "torch_npu")]
    pub installed: Option<Option<PathBuf>>,
    /// The chip to judge for: `Ascend910B3`, `Ascend310P3`, `Ascend910_9391` …
    /// [default: that of this machine, where it is known]
    #[arg(long, value_name = "NAME")]
    pub soc: Option<String>,
    /// The CANN to judge for: the directory of an installation, or a version
    /// [default: the one that ASCEND_HOME_PATH selects]
    #[arg(long, value_name = "PATH|VERSION")]
    pub cann: Option<String>,
    /// The data type of tensors of which the input does not say it: `float16`, `bfloat16`, `float64` …
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Of each operator without a kernel, the releases that have one
    #[arg(long)]
    pub all_versions: bool,
    /// Follow imports of Python sources into other packages: beside them, and those of `--site`
    #[arg(long)]
    pub follow_imports: bool,
    /// A directory of installed packages, for `--follow-imports`
    #[arg(long, value_name = "DIR", requires = "follow_imports")]
    pub site: Vec<PathBuf>,
    /// Of Python sources, count the operators of the backward pass too
    #[arg(long)]
    pub backward: bool,
    /// Of Python sources, say where a fused operator of torch_npu would do, and how
    #[arg(long)]
    pub suggest: bool,
    /// Every operator in the table, not only those that need attention
    #[arg(long)]
    pub all: bool,
}
