//! The input of the advice: the machine and the requested versions.

use pep440_rs::Version;
use serde::Serialize;

use super::Parsed;
use base::version::{CannVersion, DottedVersion, InnerVersion};

/// The machine that the advice is for, as far as it is known.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Architecture as printed by `uname -m`.
    pub arch: Option<String>,
    /// `3.11`.
    pub python: Option<String>,
    /// The interpreter to name in commands.
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
    /// Its `set_env.sh`.
    pub set_env: Option<String>,
    /// `set_env.sh` of NNAL.
    pub nnal_set_env: Option<String>,
    /// The chip, as packages name it.
    pub chip: Option<String>,
}

/// The versions that the user asks for; `None` leaves the choice to the advice.
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
