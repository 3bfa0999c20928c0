//! The input of the advice: the machine and the requested versions.

use pep440_rs::Version;
use serde::Serialize;

use super::Parsed;
use base::version::{CannVersion, DottedVersion, InnerVersion};

/// The target machine of the advice, as far as it is known.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Architecture as printed by `uname -m`.
    pub arch: Option<String>,
    /// The Python version, such as `3.11`.
    pub python: Option<String>,
    /// The interpreter in the commands.
    pub interpreter: String,
    /// The driver.
    pub driver: Option<Parsed<DottedVersion>>,
    /// The driver's internal version.
    pub driver_inner: Option<Parsed<InnerVersion>>,
    /// The internal versions of CANN that the driver accepts.
    #[serde(skip)]
    pub driver_accepts: Option<String>,
    /// The CANN in use.
    pub cann: Option<Parsed<CannVersion>>,
    /// The `set_env.sh` of that CANN.
    pub set_env: Option<String>,
    /// The `set_env.sh` of NNAL.
    pub nnal_set_env: Option<String>,
    /// The chip name in packages.
    pub chip: Option<String>,
}

/// The versions that the user requests; `None` leaves the choice to the advice.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestedVersions {
    /// torch.
    pub torch: Option<Parsed<Version>>,
    /// torch_npu.
    pub torch_npu: Option<Parsed<Version>>,
    /// CANN.
    pub cann: Option<Parsed<CannVersion>>,
    /// vllm-ascend.
    pub vllm_ascend: Option<Parsed<Version>>,
    /// MindSpore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mindspore: Option<Parsed<Version>>,
}
