//! CANN toolkits, ops packages, NNAL.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{InfoFile, NodeOwner};
use base::report::Evidence;
use base::version::CannVersion;

/// The CANN files found on the disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cann {
    /// All installations, by path.
    pub installs: Vec<CannInstall>,
    /// Symbolic links to an installation (`latest`, `cann`), and those inside of a `latest` that is
    /// a directory of links.
    pub links: Vec<CannLink>,
    /// NNAL (ATB) installations.
    pub nnal: Vec<Nnal>,
    /// Directories named by the environment, existing or not, by variable and entry.
    pub env_paths: Vec<EnvPath>,
    /// Existing directories that are searched for installations (`/usr/local/Ascend`, …).
    #[serde(default)]
    pub bases: Vec<String>,
}

impl Cann {
    /// The installation with this root.
    pub fn install(&self, path: &str) -> Option<&CannInstall> {
        self.installs.iter().find(|install| install.path == path)
    }

    /// The installation that the environment selects: the one that `ASCEND_HOME_PATH` leads to,
    /// else `ASCEND_TOOLKIT_HOME`, `ASCEND_OPP_PATH`, `LD_LIBRARY_PATH`.
    pub fn selected(&self) -> Option<&CannInstall> {
        ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH"]
            .into_iter()
            .flat_map(|name| self.env_paths.iter().filter(move |path| path.variable == name))
            .find_map(|path| self.install(path.root.as_deref()?))
    }

    /// The installation with the highest version; toolkits come before nnae and nnrt.
    pub fn newest(&self) -> Option<&CannInstall> {
        self.installs.iter().max_by_key(|install| {
            let rank = ["nnrt", "nnae", "toolkit"].iter().position(|kind| install.kind == *kind);
            (install.info.is_some(), rank, install.parsed_version())
        })
    }

    /// The installation that a workload would probably use: the selected one, else the target of
    /// `latest` or `cann`, else the newest.
    pub fn active(&self) -> Option<&CannInstall> {
        let linked = || {
            let mut links = self.links.iter().filter(|link| {
                link.path.ends_with("/ascend-toolkit/latest") || link.path.ends_with("/cann")
            });
            links.find_map(|link| self.install(link.root.as_deref()?))
        };
        self.selected().or_else(linked).or_else(|| self.newest())
    }
}

/// One CANN installation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CannInstall {
    /// Its root without links, for example `/usr/local/Ascend/cann-8.5.0` or
    /// `/usr/local/Ascend/ascend-toolkit/8.3.RC1`.
    pub path: String,
    /// `toolkit`, `nnae` or `nnrt`.
    pub kind: String,
    /// Version, for example `8.3.RC1`.
    pub version: Option<String>,
    /// The source of the version: a file, or the root if its name contains the version.
    #[serde(default)]
    pub version_source: String,
    /// The line of the version in that file, counted from 1, where known.
    #[serde(default)]
    pub version_line: Option<u32>,
    /// Architecture of its binaries, in the form of `uname -m`.
    pub arch: Option<String>,
    /// `ascend_*_install.info`.
    pub info: Option<InfoFile>,
    /// `version.info` (or `version.cfg`) of each component: `compiler`, `runtime`, `opp`, …
    pub components: BTreeMap<String, InfoFile>,
    /// Directories of components whose `version.info` is missing.
    #[serde(default)]
    pub unversioned: Vec<String>,
    /// Path of its `set_env.sh`, if there is one.
    pub set_env: Option<String>,
    /// Core libraries (file name) and the path, `None` where missing.
    pub libraries: BTreeMap<String, Option<String>>,
    /// The Python modules that the operator compiler needs, and their path.
    #[serde(default)]
    pub python: BTreeMap<String, Option<String>>,
    /// Ops or kernels packages: `ascend_ops_install.info` and older names.
    pub ops: Vec<InfoFile>,
    /// `SoC` directories below `opp/built-in/op_impl/ai_core/tbe/kernel`, for example `ascend910b`.
    pub kernel_socs: Vec<String>,
    /// `opp/vendors/config.ini`: names in `load_priority` and whether their directory exists.
    pub custom_opp: Vec<(String, bool)>,
    /// The line of `load_priority` there, counted from 1, where known.
    #[serde(default)]
    pub custom_opp_line: Option<u32>,
    /// Mode, owner and group of its root, where known.
    pub owner: Option<NodeOwner>,
    /// Key paths that the process under examination may not read or search.
    pub unreadable: Vec<String>,
}

impl CannInstall {
    /// The version, if it has the form of a CANN version.
    pub fn parsed_version(&self) -> Option<CannVersion> {
        self.version.as_deref()?.parse().ok()
    }

    /// The version in a file of the installation. The name of the directory does not count, because
    /// users can copy or rename it.
    pub fn stated_version(&self) -> Option<&str> {
        let by_name = !self.path.is_empty() && self.version_source == self.path;
        self.version.as_deref().filter(|_| !by_name)
    }

    /// The place that the version was read from.
    pub fn version_place(&self) -> Evidence {
        let source = Some(&self.version_source).filter(|source| !source.is_empty());
        Evidence::file(source.unwrap_or(&self.path)).line_if(self.version_line)
    }

    /// Returns whether a path is inside the installation.
    pub fn contains(&self, path: &str) -> bool {
        is_below(path, &self.path)
    }
}

/// Returns whether `path` is `dir` or is inside it.
pub fn is_below(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A symbolic link to an installation, or a directory of such links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CannLink {
    /// The link.
    pub path: String,
    /// The target as written; empty for a directory of links.
    pub target: String,
    /// The real path, if it exists.
    pub real: Option<String>,
    /// The root of the installation that it points to.
    #[serde(default)]
    pub root: Option<String>,
}

/// An NNAL installation (the ATB operator library).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nnal {
    /// Root without links, for example `/usr/local/Ascend/nnal/atb/8.3.RC1`.
    pub path: String,
    /// Version.
    pub version: Option<String>,
    /// `version.info` or `ascend_nnal_install.info`.
    pub info: Option<InfoFile>,
    /// The `cxx_abi_<n>` directories that hold a `libatb.so`: n and the path of the library.
    pub abis: BTreeMap<u8, String>,
    /// The `cxx_abi_<n>` directories without a `libatb.so`.
    #[serde(default)]
    pub hollow: Vec<String>,
    /// Path of its `set_env.sh`, if there is one.
    pub set_env: Option<String>,
}

impl Nnal {
    /// The version in `version.info`. A version only in the name of the directory does not count.
    pub fn stated_version(&self) -> Option<&str> {
        self.version.as_deref().filter(|_| self.info.is_some())
    }

    /// The version, if it has the form of a CANN version.
    pub fn parsed_version(&self) -> Option<CannVersion> {
        self.version.as_deref()?.parse().ok()
    }
}

/// An entry of an environment variable that names a directory of the Ascend stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnvPath {
    /// Variable.
    pub variable: String,
    /// Entry.
    pub entry: String,
    /// The real path, if it exists.
    pub real: Option<String>,
    /// The root of the CANN installation that it belongs to, if any.
    #[serde(default)]
    pub root: Option<String>,
    /// The longest existing part of the entry, if the entry does not exist.
    #[serde(default)]
    pub nearest: Option<String>,
    /// Whether permission to examine it was missing; `real` is then `None`, too.
    #[serde(default)]
    pub denied: bool,
}
