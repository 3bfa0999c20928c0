//! Facts collected from a machine, without conclusions.
//!
//! Must not touch: the machine. [`Facts`] is plain data: collectors fill it, checks judge it, and
//! it goes to a file and back (`--facts-only`, `--facts`), so that a machine can be judged elsewhere
//! by a newer matrix. `None` and empty lists mean "not found"; unreadable files are in
//! [`Facts::problems`].

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

/// Everything that was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Facts {
    /// Always [`FACTS_SCHEMA`].
    pub schema: String,
    /// Version of the tool that read the facts.
    pub tool: String,
    /// `live`, or the root that was read.
    pub source: String,
    /// When a live machine was read, by its own clock: seconds since 1970, UTC. `None` of a copy,
    /// of which the moment says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<u64>,
    /// Machine, operating system, container.
    pub host: Host,
    /// Who would run the workload.
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
    /// What a dynamic linker would do with the Ascend-linked libraries.
    pub link: Link,
    /// Files of `torch_npu` against their hashes.
    pub integrity: Integrity,
    /// Network configuration of the devices.
    pub net: Net,
    /// What only the expectations of a site ask for.
    #[serde(default, skip_serializing_if = "Site::is_empty")]
    pub site: Site,
    /// What could not be read or understood.
    pub problems: Vec<Problem>,
    /// Paths without read permission that a collector looked into.
    #[serde(default, rename = "closed", skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadablePath>,
}
