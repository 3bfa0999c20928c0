//! CANN toolkits, ops packages, NNAL.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::InfoFile;

/// All that CANN left on the disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cann {
    /// Every installation that was found, by path.
    pub installs: Vec<CannInstall>,
    /// Symbolic links that lead to an installation (`latest`, `cann`): link, target as written,
    /// and the real path, if it leads anywhere.
    pub links: Vec<CannLink>,
    /// NNAL (ATB) installations.
    pub nnal: Vec<Nnal>,
    /// Directories that the environment names and that do or do not exist, by variable and entry.
    pub env_paths: Vec<EnvPath>,
}

/// One CANN installation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CannInstall {
    /// Its root, for example `/usr/local/Ascend/cann-8.5.0` or
    /// `/usr/local/Ascend/ascend-toolkit/8.3.RC1`.
    pub path: String,
    /// `toolkit`, `nnae` or `nnrt`.
    pub kind: String,
    /// Version, for example `8.3.RC1`.
    pub version: Option<String>,
    /// Architecture that it is built for.
    pub arch: Option<String>,
    /// `ascend_*_install.info`.
    pub info: Option<InfoFile>,
    /// `version.info` (or `version.cfg`) of each component: `compiler`, `runtime`, `opp`, …
    pub components: BTreeMap<String, InfoFile>,
    /// Path of its `set_env.sh`, if there is one.
    pub set_env: Option<String>,
    /// Core libraries (file name) and the path, `None` where missing.
    pub libraries: BTreeMap<String, Option<String>>,
    /// Ops or kernels packages: `ascend_ops_install.info` and older names.
    pub ops: Vec<InfoFile>,
    /// `SoC` directories below `opp/built-in/op_impl/ai_core/tbe/kernel`, for example `ascend910b`.
    pub kernel_socs: Vec<String>,
    /// `opp/vendors/config.ini`: names in `load_priority` and whether their directory exists.
    pub custom_opp: Vec<(String, bool)>,
    /// Mode, owner and group of its root, where known.
    pub owner: Option<super::NodeOwner>,
    /// Key paths that the process under examination may not read or search.
    pub unreadable: Vec<String>,
}

/// A symbolic link to an installation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CannLink {
    /// The link.
    pub path: String,
    /// Where it points, as written.
    pub target: String,
    /// The real path, if it exists.
    pub real: Option<String>,
}

/// An NNAL installation (the ATB operator library).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Nnal {
    /// Root, for example `/usr/local/Ascend/nnal/atb/8.3.RC1`.
    pub path: String,
    /// Version.
    pub version: Option<String>,
    /// `version.info` or `ascend_nnal_install.info`.
    pub info: Option<InfoFile>,
    /// The `cxx_abi_<n>` directories that hold a `libatb.so`: n and the path of the library.
    pub abis: BTreeMap<u8, String>,
    /// Path of its `set_env.sh`, if there is one.
    pub set_env: Option<String>,
}

/// An entry of an environment variable that names a directory of the Ascend stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvPath {
    /// Variable.
    pub variable: String,
    /// Entry.
    pub entry: String,
    /// The real path, if it exists.
    pub real: Option<String>,
}
