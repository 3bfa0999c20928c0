//! Machine, operating system, container.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Lines, NodeOwner};

/// The machine and its operating system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// Host name, if known.
    pub name: Option<String>,
    /// A digest of `/etc/machine-id`: equal in all reports of one installation, without revealing
    /// the ID.
    #[serde(default)]
    pub machine: Option<String>,
    /// A digest of `/proc/sys/kernel/random/boot_id`: equal in all reports of one machine until its
    /// next boot, including those from containers.
    #[serde(default)]
    pub boot: Option<String>,
    /// Architecture in the form of `uname -m`: `aarch64`, `x86_64`.
    pub arch: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// `ID` of `/etc/os-release`, for example `openEuler`.
    pub os_id: Option<String>,
    /// `VERSION_ID` of `/etc/os-release`.
    pub os_version: Option<String>,
    /// `PRETTY_NAME` of `/etc/os-release`.
    pub os_pretty: Option<String>,
    /// The source of these fields: `/etc/os-release` or `/usr/lib/os-release`.
    #[serde(default)]
    pub os_source: Option<String>,
    /// Lines of its fields.
    #[serde(default)]
    pub os_lines: Lines,
    /// Version of the C library, for example `2.34`.
    pub glibc: Option<String>,
    /// Logical processors.
    pub cpus: Option<u32>,
    /// The features of the processor by which the dynamic linker chooses libraries; `None` without
    /// `/proc/cpuinfo`.
    #[serde(default)]
    pub cpu: Option<Cpu>,
    /// Main memory in bytes.
    pub memory: Option<u64>,
    /// Names of the loaded kernel modules; `None` if the list could not be read.
    pub modules: Option<Vec<String>>,
    /// File systems by the requested path (`/dev/shm`, `/tmp`, the log directory…).
    pub space: BTreeMap<String, Space>,
    /// The directory of CANN's logs: `$ASCEND_PROCESS_LOG_PATH`, else `$HOME/ascend/log`.
    pub log_dir: Option<String>,
    /// The evidence for or against a container.
    pub container: Container,
    /// Network interfaces of the host (names).
    pub interfaces: Option<Vec<String>>,
    /// Users named by the driver installation, with their ids (`/etc/passwd`).
    pub users: BTreeMap<String, u32>,
    /// Groups named by the driver installation, and those that own device nodes, with their ids
    /// (`/etc/group`).
    pub groups: BTreeMap<String, u32>,
    /// Lines of these groups in `/etc/group`.
    #[serde(default)]
    pub group_lines: Lines,
    /// Whether `/etc/passwd` and `/etc/group` were read.
    pub accounts_read: bool,
    /// Name of the user under examination (`/etc/passwd`).
    pub user: Option<String>,
    /// Whether `/etc/passwd` is the only source of users (`passwd:` in `/etc/nsswitch.conf`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accounts_of_files: bool,
    /// Owner of the working directory, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_owner: Option<NodeOwner>,
    /// The members of [`Host::groups`] in which `/etc/group` lists that user, or which are the
    /// user's primary group in `/etc/passwd`.
    pub user_groups: Vec<String>,
    /// Indexes that pip would use.
    pub pip_indexes: Vec<PipIndex>,
}

/// A package index of pip.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PipIndex {
    /// The file or environment variable that names it.
    pub source: String,
    /// Its address, without credentials.
    pub url: String,
    /// The line in the file, counted from 1, where known.
    #[serde(default)]
    pub line: Option<u32>,
}

/// The first processor of `/proc/cpuinfo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cpu {
    /// `vendor_id` (`GenuineIntel`), or `CPU implementer` (`0x48`).
    pub vendor: Option<String>,
    /// The subset of its `flags` or `Features` that [`Cpu::level`] and the names of subdirectories
    /// use, sorted.
    pub features: Vec<String>,
}

/// Features of the levels of the x86-64 psABI, under the names of `/proc/cpuinfo`.
const LEVELS: [&[&str]; 3] = [
    &["cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"],
    &["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"],
    &["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"],
];

impl Cpu {
    /// Returns whether a feature is recorded: those of the psABI levels, and `atomics` of aarch64.
    pub fn is_kept(feature: &str) -> bool {
        feature == "atomics" || LEVELS.iter().any(|level| level.contains(&feature))
    }

    /// Returns whether it has a recorded feature.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|known| known == feature)
    }

    /// Level 1 to 4 of the x86-64 psABI. Meaningless on other architectures.
    pub fn level(&self) -> Option<u8> {
        let reached = LEVELS.iter().take_while(|level| level.iter().all(|name| self.has(name)));
        u8::try_from(reached.count() + 1).ok()
    }
}

/// Signs of a container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Container {
    /// The conclusion; `None` without evidence either way.
    pub inside: Option<bool>,
    /// The sources of the conclusion: a file, a cgroup line, the sidecar.
    pub evidence: Vec<String>,
    /// `docker`, `containerd`, `podman`, `kubernetes`…, if known.
    pub runtime: Option<String>,
    /// The relevant mount points, with type and options, from `/proc/self/mountinfo` or
    /// `/proc/mounts`.
    pub mounts: Vec<Mount>,
}

/// A mounted file system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mount {
    /// Mount point.
    pub point: String,
    /// Type, for example `tmpfs`.
    pub fstype: String,
    /// Options of the mount and of the file system, separated by commas.
    pub options: String,
}

impl Container {
    /// Returns whether this is certainly a container.
    pub fn is_inside(&self) -> bool {
        self.inside == Some(true)
    }
}

/// Size of a file system, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Space {
    /// Size of the file system.
    pub total: u64,
    /// The space available to unprivileged users.
    pub available: u64,
}
