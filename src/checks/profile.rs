//! The intended use of the machine, which decides the required components.

use serde::{Deserialize, Serialize};

/// A use of the machine. Without one, a missing component is only reported if an installed
/// component needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// No specific purpose.
    #[default]
    General,
    /// Import of `torch_npu`; no device required.
    Import,
    /// PyTorch on the NPUs of this machine.
    Torch,
    /// Inference on this machine with the installed framework.
    Inference,
    /// vLLM on the NPUs of this machine.
    Vllm,
    /// SGLang on the NPUs of this machine.
    Sglang,
    /// MindSpore on the NPUs of this machine.
    Mindspore,
    /// Training on this machine.
    Train,
    /// Training or serving on several machines; also checks the device network.
    MultiNode,
    /// Container that runs a workload.
    Container,
    /// Machine or image that builds extensions; no NPU required.
    Build,
    /// Cluster host: checks driver, firmware and devices, but not CANN and Python.
    Node,
}

impl Profile {
    /// Returns whether NPU devices and a driver must be visible.
    pub const fn needs_npu(self) -> bool {
        !matches!(self, Self::General | Self::Import | Self::Build)
    }

    /// Returns whether CANN must be installed.
    pub const fn needs_cann(self) -> bool {
        !matches!(self, Self::General | Self::Node)
    }

    /// Returns whether a framework (`torch_npu` or `MindSpore`) must be installed.
    pub const fn needs_framework(self) -> bool {
        !matches!(self, Self::General | Self::Container | Self::Build | Self::Node)
    }

    /// Returns whether the network between devices must be configured.
    pub const fn needs_device_network(self) -> bool {
        matches!(self, Self::MultiNode)
    }
}
