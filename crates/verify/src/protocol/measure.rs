//! The times measured on every device, and the limits of the deviation of a device from its peers.

use serde::{Deserialize, Serialize};

use super::Stage;

/// A timed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Waiting for an idle stream, by the clock of the host.
    Synchronize,
    /// A copy from the host to the device, by the clock of the host.
    HostToDevice,
    /// A copy from the device to the host, by the clock of the host.
    DeviceToHost,
    /// A copy on the device, by its events.
    OnDevice,
    /// Planning and launching an operator, by the clock of the host.
    Launch,
    /// A matrix product, by the events of the device.
    Kernel,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Synchronize,
        Self::HostToDevice,
        Self::DeviceToHost,
        Self::OnDevice,
        Self::Launch,
        Self::Kernel,
    ];

    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Synchronize => "synchronize",
            Self::HostToDevice => "host_to_device",
            Self::DeviceToHost => "device_to_host",
            Self::OnDevice => "on_device",
            Self::Launch => "launch",
            Self::Kernel => "kernel",
        }
    }

    /// Its stage.
    pub const fn stage(self) -> Stage {
        match self {
            Self::Synchronize => Stage::Runtime,
            Self::HostToDevice | Self::DeviceToHost | Self::OnDevice => Stage::Memory,
            Self::Launch | Self::Kernel => Stage::Compute,
        }
    }
}
