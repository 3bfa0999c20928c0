//! Facts collected from a machine, without conclusions.
//!
//! Must not touch: the machine. [`Facts`] is plain data: collectors fill it and checks evaluate it.
//! It can be written to a file and read back (`--facts-only`, `--facts`), so that another machine
//! with a newer matrix can evaluate it. `None` and empty lists mean "not found"; unreadable files
//! are in [`Facts::problems`].

mod cann;
mod device;
mod driver;
mod host;
mod integrity;
mod link;
mod net;
mod place;
mod problem;
mod process;
mod python;
mod site;

pub use cann::*;
pub use device::*;
pub use driver::*;
pub use host::*;
pub use integrity::*;
pub use link::*;
pub use net::*;
pub use place::*;
pub use problem::*;
pub use process::*;
pub use python::*;
pub use site::*;

use serde::{Deserialize, Serialize};

/// Version of the facts file. A reader refuses files of another version.
pub const FACTS_SCHEMA: &str = "ascend-doctor/facts/1";

/// All facts of a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Facts {
    /// Always [`FACTS_SCHEMA`].
    pub schema: String,
    /// Version of the tool that read the facts.
    pub tool: String,
    /// `live`, or the root that was read.
    pub source: String,
    /// The collection time of a live machine by its own clock: seconds since 1970, UTC. `None` for
    /// a copy, whose collection time is meaningless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<u64>,
    /// Machine, operating system, container.
    pub host: Host,
    /// The user that would run the workload.
    pub process: Process,
    /// Environment variables.
    pub env: Env,
    /// Device nodes and PCI functions.
    pub devices: Devices,
    /// Driver, firmware and npu-smi.
    pub driver: Driver,
    /// CANN toolkits, ops packages, NNAL.
    pub cann: Cann,
    /// The interpreter and its packages.
    pub python: Python,
    /// The behavior of a dynamic linker with the Ascend-linked libraries.
    pub link: Link,
    /// Files of `torch_npu` against their hashes.
    pub integrity: Integrity,
    /// Network configuration of the devices.
    pub net: Net,
    /// Facts needed only by the expectations of a site.
    #[serde(default, skip_serializing_if = "Site::is_empty")]
    pub site: Site,
    /// Files that could not be read or parsed.
    pub problems: Vec<Problem>,
    /// Paths without read permission that a collector tried to read.
    #[serde(default, rename = "closed", skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadablePath>,
}
