//! Members of the JSON report that only `audit-ops` has.

use std::collections::BTreeMap;

use serde::Serialize;

use super::shares::Shares;
use crate::classify::ClassifiedOperator;
use crate::documented_limits::LimitedApi;
use crate::model::Model;
use crate::ops::installed::KernelSource;
use crate::place::Place;

/// The target and all operators with all places.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditMembers<'a> {
    /// The target of the classification.
    pub target: TargetMember<'a>,
    /// The shares of the device, the host, failures and unknown operators, over all inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub shares: Option<Shares>,
    /// The inputs.
    pub inputs: Vec<InputMember<'a>>,
    /// With `--all-versions`: the releases that have a missing kernel, by operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub releases: Option<BTreeMap<String, Vec<TorchReleases>>>,
}

/// The torch_npu, chip and CANN that the operators were classified for.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetMember<'a> {
    /// The version of torch_npu.
    pub torch_npu: &'a str,
    /// The reason for the selection.
    pub from: &'static str,
    /// The table of operators.
    pub table: TableMember<'a>,
    /// The installation, if one was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<InstalledMember<'a>>,
    /// The chip.
    pub soc: Option<&'static str>,
    /// The CANN.
    pub cann: Option<CannMember<'a>>,
    /// The torch_npu documents.
    pub documents: Option<&'static str>,
}

/// A table of operators.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableMember<'a> {
    /// Its version of PyTorch.
    pub torch: &'a str,
    /// Its release of torch_npu.
    pub release: &'a str,
    /// How well the table fits.
    #[serde(rename = "match")]
    pub how: TableMatch,
}

/// How well a table fits.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TableMatch {
    /// The table of the wheel.
    Wheel,
    /// The table of the release.
    Release,
    /// The table of the nearest release.
    Nearest,
}

/// An installed torch_npu.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstalledMember<'a> {
    /// Its directory.
    pub path: &'a str,
    /// Its version of PyTorch.
    pub torch: Option<&'a str>,
    /// The source of its kernels.
    pub evidence: KernelSource,
    /// The number of its kernels of aten.
    pub kernels: usize,
    /// The number of its own operators.
    pub custom: usize,
    /// Whether the composition of operators was read from the PyTorch installed next to it.
    pub native_functions: bool,
    /// Kernels that its library does not have; null if the library was not read.
    pub missing_in_library: Option<&'a [String]>,
}

/// A CANN: an installation or a version.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CannMember<'a> {
    /// An installation whose libraries were read.
    Installation {
        /// Its directory.
        path: &'a str,
        /// The number of its libraries.
        libraries: usize,
    },
    /// A version whose documents were read.
    Version {
        /// The version.
        version: &'a str,
    },
}

/// An input.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputMember<'a> {
    /// Its path.
    pub path: &'a str,
    /// Its operators and properties.
    #[serde(flatten)]
    pub model: &'a Model,
    /// Its operators with their classes.
    pub operators: &'a [ClassifiedOperator],
    /// Called APIs with limits in the torch_npu documents.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub apis: &'a [LimitedApi],
}

/// Releases of torch_npu for one version of PyTorch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TorchReleases {
    /// The version of PyTorch.
    pub torch: String,
    /// The releases; each range without a gap.
    pub releases: Vec<ReleaseRange>,
}

/// Consecutive releases; one release is the first and the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReleaseRange {
    /// The first.
    pub first: String,
    /// The last.
    pub last: String,
}

/// The member of `--suggest`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuggestionMembers<'a> {
    /// Operators of torch_npu that compute several others in one call.
    pub suggestions: Vec<SuggestionMember<'a>>,
}

/// A suggestion.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuggestionMember<'a> {
    /// The pattern.
    pub pattern: &'a str,
    /// The operator or class of torch_npu.
    pub operator: &'a str,
    /// Where it was found.
    pub place: Place,
    /// The source.
    pub before: &'a str,
    /// The source with the operator, if it was written out.
    pub after: Option<&'a str>,
}

/// The patches of `--suggest`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatchMembers<'a> {
    /// Unified diffs, one for each source.
    pub patches: &'a [String],
}
