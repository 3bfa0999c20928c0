//! What the machine is meant for: decides what has to be there.

use serde::{Deserialize, Serialize};

/// A use of the machine. Without one, what is absent is only reported where something else
/// that is there needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// No particular use.
    #[default]
    General,
    /// Inference on this machine.
    Inference,
    /// Training on this machine.
    Train,
    /// Training or serving over several machines: device network too.
    MultiNode,
    /// A container that runs a workload.
    Container,
    /// A machine or image that builds extensions; no NPU is needed.
    Build,
    /// A host of a cluster: driver, firmware and devices; CANN and Python are not looked for.
    Node,
}

impl Profile {
    /// Whether NPU devices and a driver have to be visible.
    pub const fn needs_npu(self) -> bool {
        matches!(
            self,
            Self::Inference | Self::Train | Self::MultiNode | Self::Container | Self::Node
        )
    }

    /// Whether CANN has to be installed.
    pub const fn needs_cann(self) -> bool {
        matches!(
            self,
            Self::Inference | Self::Train | Self::MultiNode | Self::Container | Self::Build
        )
    }

    /// Whether a framework (`torch_npu` or `MindSpore`) has to be installed.
    pub const fn needs_framework(self) -> bool {
        matches!(self, Self::Inference | Self::Train | Self::MultiNode)
    }

    /// Whether the network between devices has to be configured.
    pub const fn needs_device_network(self) -> bool {
        matches!(self, Self::MultiNode)
    }
}
