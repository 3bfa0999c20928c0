//! The user that would run the workload, and the environment.

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
    /// The interpreter named for this process.
    pub python: Option<String>,
    /// Whether it runs in a container, if known.
    pub in_container: Option<bool>,
    /// Working directory, if known.
    pub cwd: Option<String>,
    /// The running process under examination (`--pid`).
    #[serde(default)]
    pub pid: Option<u32>,
    /// The name under which this process was started, if it is a Python: the link of a virtual
    /// environment, which `/proc/<pid>/exe` does not contain.
    #[serde(default)]
    pub argv0: Option<String>,
    /// Shared objects mapped by this process, from `/proc/<pid>/maps`.
    #[serde(default)]
    pub mapped: Vec<MappedFile>,
}

/// A shared object in the address space of a running process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MappedFile {
    /// Path as shown by the kernel.
    pub path: String,
    /// Whether the file has been deleted or replaced since it was mapped.
    pub deleted: bool,
}

/// The intended access of a process to a file.
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
    /// Returns whether the kernel would permit this process `access` to a file with these owners
    /// and permission bits. Only classic permissions and `CAP_DAC_OVERRIDE` count; ACLs and cgroup
    /// device rules are not visible here. `None` if the user is unknown.
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

    /// Returns whether the process has the capability, named in lower case without `cap_`. If the
    /// capabilities are unknown, user 0 has all and others have none.
    pub fn has_cap(&self, name: &str) -> bool {
        match &self.caps {
            Some(caps) => caps.contains(name) || caps.contains("all"),
            None => self.uid == Some(0),
        }
    }
}

/// The relevant environment variables: an allow-list, without secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Env {
    /// Whether the environment is known. Otherwise nothing is reported about variables.
    pub known: bool,
    /// The source: `process`, a file, or `/proc/<pid>/environ`.
    pub origin: String,
    /// The variables.
    pub vars: BTreeMap<String, String>,
    /// The state of the entries of `LD_LIBRARY_PATH`, `PYTHONPATH` and `LD_PRELOAD`, in their
    /// order, including empty entries.
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
    /// Whether the path exists.
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

    /// The entries of a `:`-separated variable, including empty ones.
    pub fn list(&self, name: &str) -> Vec<&str> {
        self.non_empty(name).map(|value| value.split(':').collect()).unwrap_or_default()
    }
}
