//! Device nodes and PCI functions.

use serde::{Deserialize, Serialize};

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link (only from `lstat`).
    Link,
    /// A character device.
    Char,
    /// A block device.
    Block,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// Anything else.
    Other,
}

impl FileKind {
    /// The kind in words, for messages.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::File => "a regular file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Char => "a character device",
            Self::Block => "a block device",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Other => "something else",
        }
    }
}

/// The devices that the system shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Devices {
    /// Whether [`Devices::nodes`] is complete: a copied tree without a `.rootmeta.json` has lost
    /// its device nodes.
    pub dev_listed: bool,
    /// The Ascend nodes below `/dev`.
    pub nodes: Vec<Node>,
    /// NPUs below `/sys/bus/pci/devices`; `None` if that directory is missing.
    pub pci: Option<Vec<PciFunction>>,
}

/// A device node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Path, for example `/dev/davinci0`.
    pub path: String,
    /// Its kind; a device node must be `char`.
    pub kind: FileKind,
    /// Permission bits, owner and group, where known.
    pub owner: Option<NodeOwner>,
    /// Major and minor number, where known.
    pub device: Option<(u32, u32)>,
}

/// Owner and permissions of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeOwner {
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// A PCI function of vendor 0x19e5.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PciFunction {
    /// Address, for example `0000:5a:00.0`.
    pub address: String,
    /// Device id, for example `0xd802`.
    pub device: String,
    /// Subsystem device id; `0x0110` means two dies.
    pub subsystem_device: Option<String>,
    /// Class, for example `0x120000` (processing accelerator).
    pub class: Option<String>,
    /// The kernel driver bound to it; `vfio-pci` if it is passed through to a virtual machine.
    pub driver: Option<String>,
}

impl Devices {
    /// The numbers N of the nodes `/dev/davinciN`, in ascending order.
    pub fn davinci_ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self
            .nodes
            .iter()
            .filter_map(|node| node.path.strip_prefix("/dev/davinci")?.parse().ok())
            .collect();
        ids.sort_unstable();
        ids
    }

    /// The number of devices of the PCI functions: one with the subsystem 0x0110 has two dies
    /// (cann/driver, `host_sys_init.sh`).
    pub fn pci_count(&self) -> usize {
        let functions = self.pci.as_deref().unwrap_or_default().iter();
        // Functions that are passed through to a virtual machine are not devices of this machine.
        functions
            .filter(|function| function.driver.as_deref() != Some("vfio-pci"))
            .map(|function| match function.subsystem_device.as_deref() {
                Some("0x0110") => 2,
                _ => 1,
            })
            .sum()
    }

    /// The node of this path.
    pub fn node(&self, path: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.path == path)
    }
}
