//! The members of the JSON reports that only `check` and `compat` have.

use serde::Serialize;

use super::baseline::Baseline;
use super::plan::RepairPlan;
use base::chip::ChipFamily;
use data::matrix::{Advice, Machine, MindSporeAdvice, RequestedVersions};
use facts::Facts;

/// The facts of the machine.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckMembers<'a> {
    /// Summary of the machine.
    pub host: HostMember<'a>,
    /// The collection time of the facts, in seconds since 1970, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<u64>,
    /// Properties that machines with the same setup share.
    pub fingerprint: Fingerprint,
    /// The comparison with an earlier report (`--baseline`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// The steps to a working machine (`--plan`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<RepairPlan>,
    /// All facts, in the format of `ascend-doctor/facts/1`.
    pub facts: &'a Facts,
}

/// Summary of the machine.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostMember<'a> {
    /// Its name.
    pub name: Option<&'a str>,
    /// Its architecture, as `uname -m` prints it.
    pub arch: Option<&'a str>,
    /// Its operating system.
    pub os: Option<&'a str>,
    /// The release of its kernel.
    pub kernel: Option<&'a str>,
    /// Whether it is a container; null if unknown.
    pub container: Option<bool>,
    /// Digest that identifies the installation of the operating system.
    pub machine: Option<&'a str>,
    /// Digest that identifies the boot.
    pub boot: Option<&'a str>,
}

/// Properties that machines with the same setup share. It holds no time, host name, address or
/// rank. A member is null if the component is absent or unknown.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fingerprint {
    /// The chip.
    pub chip: Option<ChipFamily>,
    /// CANN.
    pub cann: Option<String>,
    /// The driver.
    pub driver: Option<String>,
    /// The firmware.
    pub firmware: Option<String>,
    /// torch.
    pub torch: Option<String>,
    /// torch_npu.
    pub torch_npu: Option<String>,
    /// vLLM.
    pub vllm: Option<String>,
    /// vllm-ascend.
    pub vllm_ascend: Option<String>,
    /// MindSpore.
    pub mindspore: Option<String>,
    /// triton-ascend.
    pub triton_ascend: Option<String>,
    /// NNAL; several versions are separated by commas.
    pub nnal: Option<String>,
    /// Python.
    pub python: Option<String>,
    /// The C library.
    pub glibc: Option<String>,
    /// The number of NPUs.
    pub devices: Option<usize>,
    /// SHA-256 of the variables that do not belong to one process.
    pub env_hash: Option<String>,
    /// SHA-256 of the hashed files of the packages.
    pub elf_hash: Option<String>,
}

/// The request of `compat` and its answer.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompatMembers<'a> {
    /// The machine of the advice.
    pub machine: &'a Machine,
    /// The requested versions.
    pub wish: &'a RequestedVersions,
    /// The versions to install, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<&'a Advice>,
    /// The same for MindSpore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mindspore_advice: Option<&'a MindSporeAdvice>,
}
