//! Facts needed only by the expectations of a site: limits, settings of the system, files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FileKind, Mount, NodeOwner};

/// Limits, settings of the system, network, and the files named by expectations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Site {
    /// Soft limits of the process by their names in limits.conf(5), such as `nofile`; sizes in
    /// bytes. `null` is unlimited.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, Option<u64>>,
    /// Reserved huge pages (`HugePages_Total` of `/proc/meminfo`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hugepages: Option<u64>,
    /// The selected word of `/sys/kernel/mm/transparent_hugepage/enabled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_hugepages: Option<String>,
    /// Frequency governors of the processors, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpu_governors: Vec<String>,
    /// `operstate` of the network interfaces, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub interfaces: BTreeMap<String, String>,
    /// Whether there is a default route, IPv4 or IPv6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_route: Option<bool>,
    /// Whether the name servers named by expectations are in `/etc/resolv.conf`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nameservers: BTreeMap<String, bool>,
    /// Whether the host names named by expectations are in `/etc/hosts`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, bool>,
    /// The mount points named by expectations; `null` if nothing is mounted there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mounts: BTreeMap<String, Option<Mount>>,
    /// The files named by expectations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, SiteFile>,
}

impl Site {
    /// Returns whether no such fact was collected.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A file named by an expectation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteFile {
    /// Its kind, following links; `null` if it does not exist.
    pub kind: Option<FileKind>,
    /// Permission bits and owner, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<NodeOwner>,
    /// SHA-256, if an expectation has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The reason if it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}
