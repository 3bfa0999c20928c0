//! Properties of a fix step: its phase, its requirements, and the component that it installs.

use std::fmt;

use base::text::shell_quote;
use serde::{Deserialize, Serialize};

/// The phase of a plan in which a step is carried out. The order is that of the plan: the driver
/// before components that load it, packages before the variables that point to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Driver, firmware, device nodes, accounts.
    Host,
    /// Start options of the container.
    Container,
    /// CANN and NNAL.
    Cann,
    /// File links and permissions.
    Files,
    /// The interpreter.
    Python,
    /// Python packages.
    Packages,
    /// Variables of the shell that starts the workload.
    Environment,
}

/// A requirement of a step in addition to its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Requirement {
    /// Root privileges.
    Root,
    /// Run on the host, not in a container.
    Host,
    /// Restart of the container.
    Restart,
    /// Reboot of the host.
    Reboot,
    /// New login of the user.
    Login,
}

/// A component of the stack whose version a step installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Component {
    /// The driver.
    Driver,
    /// The CANN Toolkit.
    Toolkit,
    /// The CANN operator package for a chip.
    Ops,
    /// NNAL (ATB).
    Nnal,
    /// The interpreter.
    Python,
    /// vLLM.
    Vllm,
    /// vllm-ascend.
    VllmAscend,
    /// triton-ascend.
    TritonAscend,
    /// torch.
    Torch,
    /// torch_npu.
    #[serde(rename = "torch_npu")]
    TorchNpu,
    /// MindSpore.
    Mindspore,
    /// numpy.
    Numpy,
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Driver => "driver",
            Self::Toolkit => "CANN",
            Self::Ops => "ops",
            Self::Nnal => "NNAL",
            Self::Python => "Python",
            Self::TorchNpu => "torch_npu",
            part => part.distribution().unwrap_or_default(),
        })
    }
}

impl Component {
    /// Returns the normalized name of its distribution, if it is a Python package.
    pub const fn distribution(self) -> Option<&'static str> {
        Some(match self {
            Self::Driver | Self::Toolkit | Self::Ops | Self::Nnal | Self::Python => return None,
            Self::Vllm => "vllm",
            Self::VllmAscend => "vllm-ascend",
            Self::TritonAscend => "triton-ascend",
            Self::Torch => "torch",
            Self::TorchNpu => "torch-npu",
            Self::Mindspore => "mindspore",
            Self::Numpy => "numpy",
        })
    }
}

/// A command that installs a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallStep {
    /// The installed component; `None` for a command that sets up the environment.
    pub installs: Option<Component>,
    /// The command line.
    pub run: String,
    /// The command line that reinstalls the same version.
    pub again: Option<String>,
}

impl InstallStep {
    pub(crate) fn new(installs: Component, run: String) -> Self {
        Self { installs: Some(installs), run, again: None }
    }

    /// Creates a pip command for `requirement` and other named packages, with the options of the
    /// index.
    pub(crate) fn pip(
        installs: Component,
        interpreter: &str,
        requirement: &str,
        more: &str,
        options: &str,
    ) -> Self {
        let pip = format!("{} -m pip install", shell_quote(interpreter));
        let apart = |text: &str| if text.is_empty() { String::new() } else { format!(" {text}") };
        let (more, options) = (apart(more), apart(options));
        Self {
            installs: Some(installs),
            run: format!("{pip} {requirement}{more}{options}"),
            again: Some(format!(
                "{pip} --force-reinstall --no-deps --no-cache-dir {requirement}{options}"
            )),
        }
    }
}
