//! The members of the JSON report that only `convert` has.

use serde::Serialize;

use base::text::Text;

use super::effort::Effort;
use super::ledger::totals::Totals;
use super::site::{Certainty, KeptBecause};
use super::work::{NpuSupport, Work};
use treeedit::kind::FileKind;

/// The result of a conversion, file by file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConvertMembers<'a> {
    /// Amounts of data read and changed.
    pub counts: Counts,
    /// Hours by a formula that no data confirms. Use `work` instead.
    pub effort: Effort,
    /// Causes of manual work, by their effect on the program, if there are any.
    #[serde(skip_serializing_if = "Work::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub work: Work,
    /// Code that already handles NPUs, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub npu_support: Option<NpuSupport>,
    /// Tokens of CUDA in the tree, by class, if there are any.
    #[serde(skip_serializing_if = "Totals::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub ledger: Totals,
    /// The outcome of the changes.
    pub result: ConvertResult,
    /// The files.
    pub files: Vec<FileMember<'a>>,
    /// Files that were skipped.
    pub skipped: Vec<Skipped<'a>>,
}

/// The members of `convert --undo`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndoMembers {
    /// The number of files that hold their original content again.
    pub restored: usize,
}

/// The outcome of the changes.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ConvertResult {
    /// They were written into the files.
    Written,
    /// They were written into a copy.
    Copied,
    /// They are a preview.
    Planned,
    /// The run only checked whether there are any.
    Checked,
    /// The run wrote no file, because an obstacle prevented it.
    Refused,
}

/// Amounts of data read and changed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Files that were read.
    pub files_read: usize,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Files with changes.
    pub files_changed: usize,
    /// Files that were left unchanged because of a problem.
    pub files_left_alone: usize,
    /// Changes.
    pub changes: usize,
    /// Those of them that are only likely.
    pub likely_changes: usize,
    /// Places that need manual work.
    pub flagged: usize,
    /// Places that are only noted.
    pub noted: usize,
}

/// A file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileMember<'a> {
    /// Its path.
    pub path: String,
    /// Its kind.
    pub kind: FileKind,
    /// Whether it is a launch script, which imports torch_npu.
    pub launch: bool,
    /// The changes.
    pub changed: Vec<Change<'a>>,
    /// The places that need manual work.
    pub flagged: Vec<PlaceMember<'a>>,
    /// The places that are only noted.
    pub noted: Vec<PlaceMember<'a>>,
    /// The places that stay although a rule applies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptMember<'a>>,
    /// The reason why it was left unchanged.
    pub problem: Option<ProblemMember>,
}

/// A change.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change<'a> {
    /// The ID of the rule.
    pub rule: &'a str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The text before the change.
    pub old: Option<String>,
    /// The text after the change.
    pub new: Option<&'a str>,
    /// The certainty of the change.
    pub certainty: Certainty,
}

/// A place without a change.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceMember<'a> {
    /// The ID of the rule.
    pub rule: &'a str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The text.
    pub text: Option<String>,
    /// A name that belongs to it.
    pub detail: Option<&'a str>,
}

/// The reason why a file was left unchanged.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProblemMember {
    /// The ID of the finding.
    pub id: &'static str,
    /// The message of that ID.
    pub message: &'static str,
    /// The reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Text>,
}

/// A file that was skipped.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skipped<'a> {
    /// Its path.
    pub path: String,
    /// The reason.
    #[serde(flatten)]
    pub why: SkippedBecause<'a>,
}

/// A place that stays although a rule applies.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeptMember<'a> {
    /// The ID of the rule.
    pub rule: &'a str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The text.
    pub text: Option<String>,
    /// The reason why it stays.
    pub why: KeptBecause,
}

/// The written files of a run in place.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeMembers {
    /// The paths of the written files.
    pub written: Vec<String>,
    /// The command that restores them.
    pub undo: String,
}

/// The next step after a preview.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PreviewMembers {
    /// The command that converts in place.
    pub apply: String,
}

/// The reason why a file was skipped.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum SkippedBecause<'a> {
    /// A link leads out of the root.
    LinkLeaves {
        /// The target of the link.
        target: String,
    },
    /// A broken link.
    LinkDangles,
    /// Not a regular file.
    NotRegular,
    /// It is too large.
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
    },
    /// It cannot be read.
    Unreadable {
        /// The error.
        error: &'a Text,
    },
}

/// The release of torch_npu that the result is for.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetMember<'a> {
    /// The release.
    pub target: Target<'a>,
}

/// The release of torch_npu that the result is for.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target<'a> {
    /// Its version; null if none is known.
    pub torch_npu: Option<String>,
    /// The source of the version; null if it is unknown.
    pub from: Option<TargetSource>,
    /// The directory of the installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<&'a str>,
}

/// The source of the target version.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TargetSource {
    /// The option `--target` names it.
    Option,
    /// It is installed on this machine.
    Installed,
}
