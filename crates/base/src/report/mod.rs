//! The vocabulary shared by all subcommands: findings, outcomes, the report.
//!
//! Nothing here reads a machine or writes to a terminal. A [`Report`] is complete: a renderer needs
//! nothing else and makes no decisions.

mod diff;
mod finding;
mod gate;
mod grouping;
mod outcome;
mod proof;

pub use diff::{DiffLine, DiffNote, DiffRow, FileDiff, LinePart};
pub use finding::{Evidence, EvidenceKind, Finding, FixStep, Severity, UNKNOWN_VERSION};
pub use gate::{ExitStatus, FailOn, Gate, GateSetting, OnInconclusive};
pub use grouping::fold_consequences;
pub use outcome::{CheckState, RuleResult};
pub use proof::{Coverage, Goal, Link, Need, Proof, Verdict};

use serde::Serialize;

use crate::text::Text;

/// The data that a run used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataInUse {
    /// The date of its newest source, `YYYY-MM-DD`.
    pub as_of: String,
    /// Days between that date and the run; none if the clock is unreadable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_days: Option<u64>,
    /// Whether it is built in.
    pub origin: DataOrigin,
    /// SHA-256 of the data pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// ID of the key that signed the data pack; none for an unsigned one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<String>,
}

/// Where data comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DataOrigin {
    /// The program itself.
    Builtin,
    /// A data pack.
    Pack,
}

/// The result of a run of any subcommand.
#[derive(Debug, Clone)]
pub struct Report {
    /// The subcommand, for example `check`.
    pub command: &'static str,
    /// The name in the ID of its JSON document, where one subcommand writes several shapes.
    pub document: &'static str,
    /// The command to type, if it is longer than the name: `fleet merge`.
    pub invocation: &'static str,
    /// The examined subject in one line, for example the host name or the root.
    pub subject: String,
    /// The findings, the most severe first; see [`Report::sort`].
    pub findings: Vec<Finding>,
    /// One row for every rule that was selected, in registry order.
    pub results: Vec<RuleResult>,
    /// Short facts for the head of the report: label and value.
    pub overview: Vec<(Text, Text)>,
    /// Counts and lists that are not findings.
    pub tables: Vec<Table>,
    /// Proposed changes that were not applied, as unified diffs.
    pub patches: Vec<String>,
    /// Remarks that are not findings: next steps, omissions. One line each.
    pub notes: Vec<Text>,
    /// The basis of the result, for example the matrix and its date.
    pub provenance: Vec<(&'static str, Text)>,
    /// The tables that were used; set with [`Report::ended`].
    pub data: Option<DataInUse>,
    /// Data of this subcommand, added to the JSON report under these keys.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// Whether the findings are about source files, named relative to the working directory. Every
    /// place then matters separately.
    pub about_sources: bool,
    /// How verdict and findings become the exit status.
    pub gate: Gate,
    /// The end of the run in seconds since 1970, UTC; set by the code that reads the clock.
    pub ended: Option<u64>,
    /// The goal and the evidence for it; none for reports that only show something.
    pub proof: Option<Proof>,
    /// The reasons why a lookup has no answer. Reports with a goal have the reasons in their links.
    pub unanswered: Vec<Text>,
}

/// A table of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The contents of the table.
    pub title: Text,
    /// The headings of its columns.
    pub head: Vec<Text>,
    /// Its rows; the last column may be long.
    pub rows: Vec<Vec<Text>>,
}

/// The number of findings by severity, and of rules by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity info.
    pub infos: usize,
    /// Rules that ran and found nothing.
    pub passed: usize,
    /// Rules that could not run.
    pub not_checked: usize,
    /// Rules that do not apply to this machine.
    pub not_applicable: usize,
}

impl Report {
    /// An empty report of `command` about `subject`.
    pub fn new(command: &'static str, subject: impl Into<String>) -> Self {
        Self {
            command,
            document: command,
            invocation: command,
            subject: subject.into(),
            findings: Vec::new(),
            results: Vec::new(),
            overview: Vec::new(),
            tables: Vec::new(),
            patches: Vec::new(),
            notes: Vec::new(),
            provenance: Vec::new(),
            data: None,
            extra: serde_json::Map::new(),
            about_sources: false,
            gate: Gate::default(),
            ended: None,
            proof: None,
            unanswered: Vec::new(),
        }
    }

    /// Sorts the findings for readers: severity, then the number of consequences, then the order of
    /// the rules (hardware before the software on it), then ID, then title. The order never depends
    /// on timing.
    pub fn sort(&mut self) {
        let results = &self.results;
        let place =
            |id: &str| results.iter().position(|result| result.id == id).unwrap_or(results.len());
        self.findings.sort_by(|a, b| {
            b.severity
                .cmp(&a.severity)
                .then(b.consequences.len().cmp(&a.consequences.len()))
                .then(place(&a.id).cmp(&place(&b.id)))
                .then(a.id.cmp(&b.id))
                .then(a.title.en.cmp(&b.title.en))
        });
    }

    /// Counts by severity and by outcome.
    pub fn summary(&self) -> Summary {
        let mut sum = Summary::default();
        for finding in &self.findings {
            match finding.severity {
                Severity::Error => sum.errors += 1,
                Severity::Warning => sum.warnings += 1,
                Severity::Info => sum.infos += 1,
            }
        }
        for result in &self.results {
            match result.state {
                CheckState::Passed => sum.passed += 1,
                CheckState::NotChecked => sum.not_checked += 1,
                CheckState::NotApplicable => sum.not_applicable += 1,
                CheckState::Found | CheckState::Folded => {}
            }
        }
        sum
    }

    /// Adds the members of a structure to the data of this subcommand.
    pub fn add_members(&mut self, members: &impl Serialize) {
        if let Ok(serde_json::Value::Object(members)) = serde_json::to_value(members) {
            self.extra.extend(members);
        }
    }

    /// The verdict; none for reports that only show something.
    pub fn verdict(&self) -> Option<Verdict> {
        self.proof.as_ref().map(Proof::verdict)
    }

    /// Returns whether this finding makes the exit status 1.
    pub fn fails(&self, finding: &Finding) -> bool {
        self.gate.fails(finding)
    }

    /// The exit status of this report.
    pub fn exit_status(&self) -> ExitStatus {
        let unanswered = || (!self.unanswered.is_empty()).then_some(Verdict::Inconclusive);
        let proof = self.proof.as_ref();
        let verdict = proof.map(|proof| proof.verdict_without(|link| self.gate.excuses(link)));
        self.gate.exit_status(verdict.or_else(unanswered), &self.findings)
    }
}
