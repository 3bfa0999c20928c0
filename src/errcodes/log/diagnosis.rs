//! What a pile of logs says in the end.

use std::collections::BTreeMap;

use serde::Serialize;

use super::gravity::Gravity;
use super::mention::Mentions;
use super::role::Role;
use super::source::Problem;
use super::time::Time;
use super::timeline::Timeline;
use crate::KnownFacts;

/// The result of examining logs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// Causes, the most probable first; consequences are within what they follow from.
    pub causes: Vec<Suspect>,
    /// All causes that anything speaks for, the most probable first, consequences among them.
    pub ranking: Vec<RankedCause>,
    /// What was recognised but is no cause of this failure, and why.
    pub rejected: Vec<RejectedCause>,
    /// All codes that were met, with how often they occur.
    pub codes: BTreeMap<String, u64>,
    /// How often each operator was computed on the CPU.
    pub fallbacks: BTreeMap<String, u64>,
    /// What would make it surer.
    pub missing: Vec<MissingEvidence>,
    /// The programs that the logs name near their start and end, as remedies name them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub programs: Vec<String>,
    /// What the logs name there.
    #[serde(skip)]
    pub(crate) mentions: Mentions,
    /// Ranks that are named but of which there is no log.
    pub silent_ranks: Vec<u32>,
    /// The ranks over time, if the logs name several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How much was read.
    pub read: ReadSummary,
}

/// How much was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadSummary {
    /// Logs, members of archives included.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Lines that were cut.
    pub cut_lines: u64,
    /// Texts and codes beyond what is kept of one log: of the many that are alike, and those that
    /// tell least.
    pub not_kept: u64,
    /// Logs whose last lines show that the run ended well.
    pub finished: u64,
    /// Files that were left out by their names or kinds.
    pub left_out: u64,
    /// Texts and codes that speak for a cause, of other ranks, devices or times than asked for.
    pub passed_over: u64,
}

/// A cause that the logs speak for.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suspect {
    /// The id of the cause.
    pub cause: String,
    /// What it is in this failure.
    pub role: Role,
    /// From 0 to 1: how specific its evidence is, and how far the next cause is behind.
    pub confidence: f64,
    /// Where it happened.
    pub culprit: FaultLocation,
    /// The lines that speak for it, the most telling first.
    pub evidence: Vec<Line>,
    /// Values of its text, for example the size that is needed.
    pub values: BTreeMap<String, String>,
    /// When it was first written.
    pub first: Option<Time>,
    /// How many lines speak for it.
    pub count: u64,
    /// What follows from it.
    pub consequences: Vec<FoldedConsequence>,
    /// How grave the gravest line of it is.
    #[serde(skip)]
    pub gravity: Gravity,
    /// What the logs show of this failure, so that no step asks for it.
    #[serde(skip)]
    pub known: KnownFacts,
    /// The points by which causes are compared; no unit.
    #[serde(skip)]
    pub score: i32,
}

/// A cause among the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedCause {
    /// The id of the cause.
    pub cause: String,
    /// The points by which causes are compared; no unit.
    pub points: i32,
    /// The id of the cause that explains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained_by: Option<String>,
}

/// Where it happened, as far as the logs say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultLocation {
    /// Ranks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
    /// Devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<u32>,
    /// Machines or workers, by address or by what their files are in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The name that a launcher gave the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The operator or kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// How it is known: a key of the rules across ranks, or `line`.
    pub by: &'static str,
}

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// The log.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
    /// What is in it.
    pub text: String,
    /// The part by which it was recognized.
    #[serde(skip)]
    pub matched: String,
    /// When it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// The rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    /// By what it was recognised: a signature, or `<family>:<code>`.
    pub rule: String,
    /// How many such lines there are.
    pub count: u64,
}

/// A consequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldedConsequence {
    /// The id of the cause that it would otherwise be.
    pub cause: String,
    /// How many lines say it.
    pub count: u64,
    /// The first of them.
    pub line: Line,
    /// Ranks that say it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
    /// Devices that it is said of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<u32>,
    /// Values that its lines name, such as the kernel or an address.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
}

/// A cause that was weighed and found lighter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RejectedCause {
    /// The id of the cause.
    pub cause: String,
    /// Why.
    pub why: RejectReason,
    /// The id of the cause that was preferred or that explains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The first line that speaks for it.
    pub line: Line,
}

/// Why a cause was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RejectReason {
    /// It follows from another one.
    Consequence,
    /// It is long before the failure, and did not come again.
    Stale,
    /// Another one is told by more exact evidence.
    LessSpecific,
    /// It came later than another one that is told as exactly.
    Later,
    /// A good run shows it too.
    InBaseline,
    /// It only waits for others.
    Waits,
}

/// Evidence that is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingEvidence {
    /// A key of `data/errors/evidence.toml`.
    pub evidence: String,
    /// Ranks of which it is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
}
