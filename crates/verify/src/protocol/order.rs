//! The order for a child.

use data::FindingId;
use data::findings::{
    verify_compute, verify_fabric, verify_kernel, verify_load, verify_memory, verify_runtime,
    verify_stress,
};
use probe_numbers::Dtype;
use serde::{Deserialize, Serialize};

/// A test stage. Each stage relies on the earlier ones.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// 0: the libraries load and contain the required functions.
    #[value(alias = "0")]
    Load,
    /// 1: the runtime opens the device.
    #[value(alias = "1")]
    Runtime,
    /// 2: device memory keeps the data copied to it.
    #[value(alias = "2")]
    Memory,
    /// 3: operators compute correct results.
    #[value(alias = "3")]
    Compute,
    /// 4: a bundled kernel compiles on this machine and runs on every Vector Core.
    #[value(alias = "4")]
    Kernel,
    /// 5: devices access each other's memory, and HCCL sums across devices.
    #[value(alias = "5")]
    Fabric,
    /// 6: the same tests under load, for minutes.
    #[value(alias = "6")]
    Stress,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Self; 7] = [
        Self::Load,
        Self::Runtime,
        Self::Memory,
        Self::Compute,
        Self::Kernel,
        Self::Fabric,
        Self::Stress,
    ];

    /// The name in the options and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Runtime => "runtime",
            Self::Memory => "memory",
            Self::Compute => "compute",
            Self::Kernel => "kernel",
            Self::Fabric => "fabric",
            Self::Stress => "stress",
        }
    }

    /// The ID of its findings.
    pub const fn finding_id(self) -> FindingId {
        match self {
            Self::Load => verify_load::ID,
            Self::Runtime => verify_runtime::ID,
            Self::Memory => verify_memory::ID,
            Self::Compute => verify_compute::ID,
            Self::Kernel => verify_kernel::ID,
            Self::Fabric => verify_fabric::ID,
            Self::Stress => verify_stress::ID,
        }
    }
}

/// The extent of the tests.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Small shapes with exact results; takes seconds.
    Quick,
    /// Also larger shapes, random numbers with a tolerance, copy speed, a bundled kernel, and
    /// copies between devices.
    Standard,
    /// Also sums across all devices and minutes of load on idle devices; requires `--yes`.
    Extended,
}

impl Level {
    /// The stages of the level.
    pub const fn stages(self) -> &'static [Stage] {
        let all: &'static [Stage] = &Stage::ALL;
        match self {
            Self::Quick => all.split_at(4).0,
            Self::Standard => all.split_at(6).0,
            Self::Extended => all,
        }
    }
}

/// The task of a child.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Task {
    /// The stages on one device; without one, the libraries are loaded and the devices counted.
    #[default]
    Ladder,
    /// Copies between these devices, all in one process, because memory is shared only within a
    /// process.
    Peers {
        /// The devices.
        devices: Vec<i32>,
    },
    /// One rank of a communicator. The first one creates the root information and reports it.
    Rank {
        /// The rank.
        rank: u32,
        /// The number of ranks.
        ranks: u32,
        /// The root information, in hexadecimal digits; `None` for the first rank.
        root: Option<String>,
    },
    /// The cards of the machine and their state, from the driver.
    Cards,
    /// The times of one device, again.
    Times,
    /// Load on one device.
    Stress {
        /// The duration, in milliseconds.
        milliseconds: u64,
    },
}

/// The order for a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The task.
    #[serde(default)]
    pub task: Task,
    /// The device to test.
    pub device: Option<i32>,
    /// The directory of compiled kernels; `None` disables the cache.
    #[serde(default)]
    pub cache: Option<String>,
    /// The stages.
    #[serde(rename = "rungs")]
    pub stages: Vec<Stage>,
    /// The element types.
    pub dtypes: Vec<Dtype>,
    /// The extent of the tests.
    pub level: Level,
    /// Whether the speed of copies is measured.
    pub speed: bool,
    /// The maximum time without an event, in milliseconds.
    pub silence_ms: u64,
    /// Whether the end of every call is reported.
    #[serde(default)]
    pub record: bool,
    /// Whether libraries that identify themselves as simulated are used.
    pub allow_simulated: bool,
    /// The process whose death ends the child.
    pub parent: u32,
}

impl Order {
    /// The name of the child, in the report and of its log directory.
    pub fn name(&self) -> String {
        match (&self.task, self.device) {
            (Task::Ladder, None) => "count".to_owned(),
            (Task::Ladder, Some(device)) => format!("device-{device}"),
            (Task::Peers { .. }, _) => "peers".to_owned(),
            (Task::Cards, _) => "cards".to_owned(),
            (Task::Times, device) => format!("times-{}", device.unwrap_or_default()),
            (Task::Rank { rank, .. }, _) => format!("rank-{rank}"),
            (Task::Stress { .. }, device) => format!("stress-{}", device.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_options() {
        use clap::ValueEnum as _;
        for stage in Stage::ALL {
            assert_eq!(stage.to_possible_value().unwrap().get_name(), stage.as_str());
        }
        for dtype in Dtype::ALL {
            assert_eq!(dtype.to_possible_value().unwrap().get_name(), dtype.as_str());
        }
    }
}
