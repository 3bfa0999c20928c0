//! Network configuration of the devices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `hccn.conf`, hccn_tool and the rank table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
pub struct HccnConf {
    /// Path.
    pub path: String,
    /// `address_<n>` by device.
    pub addresses: BTreeMap<u32, String>,
    /// Lines of the addresses, counted from 1, by device.
    #[serde(default)]
    pub address_lines: BTreeMap<u32, u32>,
    /// `netmask_<n>` by device.
    pub netmasks: BTreeMap<u32, String>,
    /// Lines that could not be understood, with their numbers.
    pub bad_lines: Vec<(u32, String)>,
}

/// A rank table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// A device in a rank table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankDevice {
    /// `server_id`.
    pub server: String,
    /// `device_id`.
    pub device_id: Option<u32>,
    /// `device_ip`.
    pub device_ip: Option<String>,
    /// `rank_id`.
    pub rank: Option<u32>,
}
