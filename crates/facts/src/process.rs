//! Who would run the workload, and with which environment.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::NodeOwner;

/// The user, groups, capabilities and interpreter under examination.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Process {
    /// Effective user id, if known.
    pub uid: Option<u32>,
    /// Effective group id, if known.
    pub gid: Option<u32>,
    /// Supplementary groups.
    pub groups: Vec<u32>,
    /// Effective capabilities, lower case without `cap_`; `None` if unknown.
    pub caps: Option<BTreeSet<String>>,
    /// The interpreter that was named for this process.
    pub python: Option<String>,
    /// Whether it runs in a container, if known.
    pub in_container: Option<bool>,
    /// Working directory, if known.
    pub cwd: Option<String>,
    /// The running process under examination (`--pid`).
    #[serde(default)]
    pub pid: Option<u32>,
    /// The name under which this process was started, where that is a Python: it is the link of
    /// a virtual environment, of which `/proc/<pid>/exe` says nothing.
    #[serde(default)]
    pub argv0: Option<String>,
    /// Shared objects that this process has mapped, from `/proc/<pid>/maps`.
    #[serde(default)]
    pub mapped: Vec<MappedFile>,
}

/// A shared object in the address space of a running process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MappedFile {
    /// Path, as the kernel shows it.
    pub path: String,
    /// Whether the file has been deleted or replaced since it was mapped.
    pub deleted: bool,
}

/// What a process wants to do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read and write.
    ReadWrite,
    /// Read.
    Read,
    /// Read and search (directories) or execute.
    ReadExecute,
    /// Pass through a directory.
    Search,
}

impl Process {
    /// Whether the kernel would let this process do `access` on a file with these owners and
    /// permission bits (classic permissions and `CAP_DAC_OVERRIDE`; ACLs and cgroup device
    /// rules are not visible here). `None` if the user is not known.
    pub fn may(&self, access: Access, mode: u32, uid: u32, gid: u32) -> Option<bool> {
        let me = self.uid?;
        if self.has_cap("dac_override") {
            return Some(true);
        }
        let need = match access {
            Access::ReadWrite => 0o6,
            Access::Read => 0o4,
            Access::ReadExecute => 0o5,
            Access::Search => 0o1,
        };
        let bits = if me == uid {
            mode >> 6
        } else if self.gid == Some(gid) || self.groups.contains(&gid) {
            mode >> 3
        } else {
            mode
        };
        Some(bits & need == need)
    }

    /// Whether the process holds the capability, named in lower case without `cap_`. If the
    /// capabilities are unknown, user 0 holds all and others none.
    pub fn has_cap(&self, name: &str) -> bool {
        match &self.caps {
            Some(caps) => caps.contains(name) || caps.contains("all"),
            None => self.uid == Some(0),
        }
    }
}

/// The environment variables that matter here: an allow-list, with secrets left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Env {
    /// Whether the environment is known at all; without it nothing is said about variables.
    pub known: bool,
    /// Where it was read: `process`, a file, or `/proc/<pid>/environ`.
    pub origin: String,
    /// The variables.
    pub vars: BTreeMap<String, String>,
    /// What lies behind the entries of `LD_LIBRARY_PATH`, `PYTHONPATH` and `LD_PRELOAD`, in
    /// their order, empty entries included.
    #[serde(default)]
    pub entries: Vec<SearchEntry>,
}

/// One entry of a search path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchEntry {
    /// The variable.
    pub variable: String,
    /// The entry, as written.
    pub entry: String,
    /// Whether there is anything.
    pub exists: bool,
    /// Permission bits and owner, where known.
    pub owner: Option<NodeOwner>,
}

impl Env {
    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// The value of a variable, if it is set and not empty.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// The entries of a `:`-separated variable, empty ones included.
    pub fn list(&self, name: &str) -> Vec<&str> {
        self.non_empty(name).map(|value| value.split(':').collect()).unwrap_or_default()
    }
}
