//! The files at the top of a copied tree for data that a copy cannot have: device nodes, owners,
//! environment, process, sizes of file systems.

use facts::Space;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use base::hash::Sha256;
use base::text::Text;
use data::fault::quote;
use data::faults;

/// Device nodes and owners, by absolute path: `.rootmeta.json`.
pub const ROOTMETA: &str = ".rootmeta.json";
/// The environment of the user's shell: `.env.json`.
pub const ENV: &str = ".env.json";
/// The process and its user: `.process.json`.
pub const PROCESS: &str = ".process.json";
/// Sizes of file systems and memory, written by `--record`: `.space.json`.
pub const SPACE: &str = ".space.json";
/// Outputs of commands, written by `--record`: `.commands.json`.
pub const COMMANDS: &str = ".commands.json";
/// Partly recorded files: `.partial.json`.
pub const PARTIAL: &str = ".partial.json";
/// Hashes of files that were hashed while recording, without their content: `.hashes.json`.
pub const HASHES: &str = ".hashes.json";

/// The expected content of a sidecar file of this name, as text.
pub(super) fn expected(name: &str) -> Text {
    match name {
        ROOTMETA => {
            let example =
                r#"{"/dev/davinci0": {"type": "char", "mode": "0660", "uid": 0, "gid": 1000}}"#;
            faults::HoldsRootmeta { example }.value()
        }
        ENV => {
            let example = r#"{"ASCEND_HOME_PATH": "/usr/local/Ascend/ascend-toolkit/latest"}"#;
            faults::HoldsEnvironment { example }.value()
        }
        PROCESS => {
            let example = r#"{"uid": 1000, "gid": 1000, "groups": [1000], "caps": "none"}"#;
            faults::HoldsProcess { example }.value()
        }
        _ => faults::WrittenByRecord.value(),
    }
}

/// The defect of a JSON text, with its position first.
pub(super) fn mistake(error: &serde_json::Error) -> Text {
    let text = error.to_string();
    let (line, column) = (error.line(), error.column());
    let place = format!(" at line {line} column {column}");
    let what = text.strip_suffix(&place).unwrap_or(&text);
    if line == 0 { quote(what) } else { faults::LineColumn { column, line, what }.value() }
}

/// One entry of [`ROOTMETA`]. Every field is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMeta {
    /// `char`, `block`, `file`, `dir`, `fifo` or `socket`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Permission bits in octal, for example `0660`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// Major number of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major: Option<u32>,
    /// Minor number of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minor: Option<u32>,
    /// Whether it was unreadable when the tree was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied: Option<bool>,
}

/// Content of [`ROOTMETA`].
pub type RootMeta = BTreeMap<String, NodeMeta>;

/// Capabilities in [`PROCESS`]: `"all"`, `"none"`, or names such as `"CAP_DAC_OVERRIDE"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Caps {
    /// `"all"` or `"none"`.
    Word(String),
    /// The names of the effective capabilities.
    List(Vec<String>),
}

/// Content of [`PROCESS`]. Every field is optional; unknown ones are ignored, so that a newer
/// recording stays readable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMeta {
    /// Effective user id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Effective group id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// Supplementary groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<u32>>,
    /// Effective capabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caps: Option<Caps>,
    /// Path of the Python interpreter in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// Architecture of the machine: `aarch64` or `x86_64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Whether the process runs in a container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_container: Option<bool>,
    /// Working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Host name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// Kernel release, as `uname -r` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

/// Content of [`SPACE`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceMeta {
    /// Main memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Logical processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// File systems, by a path on them.
    #[serde(default)]
    pub paths: BTreeMap<String, Space>,
}

/// The output of a command: an entry of [`COMMANDS`], keyed by its command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandOutput {
    /// Exit status; `None` if it was killed by a signal or ran out of time.
    pub status: Option<i32>,
    /// Whether it was stopped because it took too long.
    #[serde(default)]
    pub timed_out: bool,
    /// Standard output and standard error, in the order in which they were read.
    pub text: String,
}

/// Size and hash of a file: an entry of [`HASHES`], keyed by its path without links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashMeta {
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl HashMeta {
    pub(super) fn new(size: u64, hash: Sha256) -> Self {
        Self { size, sha256: hash.hex() }
    }

    pub(super) fn hash(&self) -> Option<Sha256> {
        Sha256::from_hex(&self.sha256)
    }
}

/// Content of [`COMMANDS`].
pub type CommandMeta = BTreeMap<String, CommandOutput>;
