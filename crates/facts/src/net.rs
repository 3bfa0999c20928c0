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
    /// Path of hccn_tool, if it is there.
    pub hccn_tool: Option<String>,
    /// Whether the process may execute hccn_tool, if that can be told.
    #[serde(default)]
    pub hccn_tool_usable: Option<bool>,
    /// The rank table that an environment variable names, or else the one in the well-known
    /// place `/etc/hccl_rootinfo.json`.
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
    /// `gateway_<n>` by device: by its gateway a device reaches other networks.
    #[serde(default)]
    pub gateways: BTreeMap<u32, String>,
    /// Lines that could not be understood, with their numbers.
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
    /// The variable that names it; empty for the well-known place.
    pub variable: String,
    /// `version`.
    pub version: Option<String>,
    /// `status`; a table that is complete says `completed`.
    #[serde(default)]
    pub status: Option<String>,
    /// `device_ip` of all devices, in order, with `device_id` and `server_id`.
    pub devices: Vec<RankDevice>,
    /// Why it could not be read, if so.
    pub error: Option<String>,
    /// Lines of `version`, `status` and, if the file is no JSON, of the `error`.
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
