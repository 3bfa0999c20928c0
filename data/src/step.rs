//! What a step of a fix takes: when it is carried out, by whom, and what it installs.

use std::fmt;

use base::text::shell_quote;
use serde::{Deserialize, Serialize};

/// When a step of a plan is carried out. The order is that of the plan: the driver before what
/// loads it, packages before the variables that point to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Driver, firmware, device nodes, accounts.
    Host,
    /// How the container is started.
    Container,
    /// CANN and NNAL.
    Cann,
    /// Links and permissions of files.
    Files,
    /// The interpreter.
    Python,
    /// Packages of Python.
    Packages,
    /// Variables of the shell that starts the workload.
    Environment,
}

/// What a step takes beside its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Requirement {
    /// The rights of root.
    Root,
    /// It is carried out on the host, not in a container.
    Host,
    /// The container starts anew.
    Restart,
    /// The host starts anew.
    Reboot,
    /// The user logs in again.
    Login,
}

/// A part of the stack of which a step installs a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Component {
    /// The driver.
    Driver,
    /// The toolkit of CANN.
    Toolkit,
    /// The operators of CANN for a chip.
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
    /// The normalised name of its distribution, if it is a package of Python.
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

/// A command that installs something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallStep {
    /// What it installs; `None` for the environment of what was installed.
    pub installs: Option<Component>,
    /// The command line.
    pub run: String,
    /// The command line where this version is there and has to be installed again.
    pub again: Option<String>,
}

impl InstallStep {
    pub(crate) fn new(installs: Component, run: String) -> Self {
        Self { installs: Some(installs), run, again: None }
    }

    /// A command of pip, for `requirement` and what else is named, with the options of the index.
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
