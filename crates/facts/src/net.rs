//! Network configuration of the devices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Lines, place};
use base::report::Evidence;

/// `hccn.conf`, hccn_tool and the rank table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Net {
    /// `/etc/hccn.conf`.
    pub hccn: Option<HccnConf>,
    /// Path of hccn_tool, if it exists.
    pub hccn_tool: Option<String>,
    /// Whether the process may execute hccn_tool, if known.
    #[serde(default)]
    pub hccn_tool_usable: Option<bool>,
    /// The rank table named by an environment variable, or else the one at the default path
    /// `/etc/hccl_rootinfo.json`.
    pub ranktable: Option<RankTable>,
}

/// Content of `/etc/hccn.conf`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HccnConf {
    /// Path.
    pub path: String,
    /// `address_<n>` by device.
    pub addresses: BTreeMap<u32, String>,
    /// Lines of the addresses: `address_<n>`.
    #[serde(default)]
    pub lines: Lines,
    /// `netmask_<n>` by device.
    pub netmasks: BTreeMap<u32, String>,
    /// `gateway_<n>` by device: the gateway through which the device reaches other networks.
    #[serde(default)]
    pub gateways: BTreeMap<u32, String>,
    /// Lines that could not be parsed, with their numbers.
    pub bad_lines: Vec<(u32, String)>,
}

impl HccnConf {
    /// The place of a device's address.
    pub fn place(&self, device: u32) -> Evidence {
        place(&self.path, &self.lines, &format!("address_{device}"))
    }
}

/// A rank table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankTable {
    /// Path.
    pub path: String,
    /// The variable that names it; empty for the default path.
    pub variable: String,
    /// `version`.
    pub version: Option<String>,
    /// `status`; `completed` in a complete table.
    #[serde(default)]
    pub status: Option<String>,
    /// `device_ip` of all devices, in order, with `device_id` and `server_id`.
    pub devices: Vec<RankDevice>,
    /// The reason if it could not be read.
    pub error: Option<String>,
    /// Lines of `version`, `status` and, if the file is not JSON, of the `error`.
    #[serde(default)]
    pub lines: Lines,
}

impl RankTable {
    /// The place of `version`, `status` or `error`.
    pub fn place(&self, key: &str) -> Evidence {
        place(&self.path, &self.lines, key)
    }
}

/// A device in a rank table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankDevice {
    /// `server_id`.
    pub server: String,
    /// `device_id`.
    pub device_id: Option<u32>,
    /// `device_ip`.
    pub device_ip: Option<String>,
    /// `rank_id`.
    pub rank: Option<u32>,
    /// The line of `device_ip`, counted from 1, where known.
    #[serde(default)]
    pub line: Option<u32>,
}
