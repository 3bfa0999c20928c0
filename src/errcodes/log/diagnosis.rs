//! The result of examining logs, as types.

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
    /// Causes, the most probable first; consequences are nested in their causes.
    pub causes: Vec<Suspect>,
    /// All causes with any evidence, the most probable first, including consequences.
    pub ranking: Vec<RankedCause>,
    /// Recognized causes that are not the cause of this failure, with the reason.
    pub rejected: Vec<RejectedCause>,
    /// All codes found, with their counts.
    pub codes: BTreeMap<String, u64>,
    /// How often each operator was computed on the CPU.
    pub fallbacks: BTreeMap<String, u64>,
    /// Evidence that would raise the confidence.
    pub missing: Vec<MissingEvidence>,
    /// The programs that the logs name near their start and end, by the ids of the remedies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub programs: Vec<String>,
    /// Words of remedies that the logs contain there.
    #[serde(skip)]
    pub(crate) mentions: Mentions,
    /// Ranks that are named but have no log.
    pub silent_ranks: Vec<u32>,
    /// The ranks over time, if the logs name several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// Unreadable inputs.
    pub problems: Vec<Problem>,
    /// The amount of data read.
    pub read: ReadSummary,
}

/// The amount of data read.
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
    /// Texts and codes beyond the number kept of one log: repetitions, and the least specific ones.
    pub not_kept: u64,
    /// Logs whose last lines show that the run ended well.
    pub finished: u64,
    /// Files that were left out by their names or kinds.
    pub left_out: u64,
    /// Texts and codes with a cause that the selection by rank, device or time excluded.
    pub passed_over: u64,
}

/// A cause supported by the logs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suspect {
    /// The id of the cause.
    pub cause: String,
    /// Its role in this failure.
    pub role: Role,
    /// From 0 to 1: how specific its evidence is, and how far the next cause is behind.
    pub confidence: f64,
    /// Where it happened.
    pub culprit: FaultLocation,
    /// The lines that support it, the most specific first.
    pub evidence: Vec<Line>,
    /// Values from its text, for example the required size.
    pub values: BTreeMap<String, String>,
    /// When it was first written.
    pub first: Option<Time>,
    /// The number of lines that support it.
    pub count: u64,
    /// Failures that follow from it.
    pub consequences: Vec<FoldedConsequence>,
    /// The severity of its most severe line.
    #[serde(skip)]
    pub gravity: Gravity,
    /// Facts about this failure that the logs show, so that no step asks for them.
    #[serde(skip)]
    pub known: KnownFacts,
    /// The points by which causes are compared; no unit.
    #[serde(skip)]
    pub score: i32,
}

/// A cause in the ranking.
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

/// Where it happened, as far as the logs show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultLocation {
    /// Ranks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
    /// Devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<u32>,
    /// Machines or workers, by address or by the directory of their files.
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
    /// Its text.
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
    /// The rule that recognized it: a signature, or `<family>:<code>`.
    pub rule: String,
    /// The number of such lines.
    pub count: u64,
}

/// A consequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldedConsequence {
    /// The id of its cause.
    pub cause: String,
    /// The number of lines that report it.
    pub count: u64,
    /// The first of them.
    pub line: Line,
    /// Ranks that report it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
    /// Devices named in its lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<u32>,
    /// Values that its lines name, such as the kernel or an address.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
}

/// A cause that was considered and rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RejectedCause {
    /// The id of the cause.
    pub cause: String,
    /// The reason.
    pub why: RejectReason,
    /// The id of the cause that was preferred or that explains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The first line that supports it.
    pub line: Line,
}

/// Why a cause was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RejectReason {
    /// It follows from another one.
    Consequence,
    /// It is long before the failure and did not recur.
    Stale,
    /// Another one has more specific evidence.
    LessSpecific,
    /// It came later than another one with equally specific evidence.
    Later,
    /// A good run also shows it.
    InBaseline,
    /// It only waits for others.
    Waits,
}

/// Missing evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingEvidence {
    /// A key of `data/errors/evidence.toml`.
    pub evidence: String,
    /// Ranks for which it is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
}
