//! The vocabulary that every subcommand speaks: findings, outcomes, the report.
//!
//! Nothing here reads a machine or writes to a terminal. A [`Report`] is complete: a renderer
//! needs nothing else, and decides nothing.

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
    /// Whether the program carries it.
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

/// What a run of any subcommand has to say.
#[derive(Debug, Clone)]
pub struct Report {
    /// The subcommand, for example `check`.
    pub command: &'static str,
    /// The name in the ID of its JSON document, where one subcommand writes several shapes.
    pub document: &'static str,
    /// What is typed to run it, where that is more than its name: `fleet merge`.
    pub invocation: &'static str,
    /// One line that says what was examined, for example the host name or the root.
    pub subject: String,
    /// What was found, the gravest first; see [`Report::sort`].
    pub findings: Vec<Finding>,
    /// One row for every rule that was selected, in registry order.
    pub results: Vec<RuleResult>,
    /// Short facts for the head of the report: label and value.
    pub overview: Vec<(Text, Text)>,
    /// Counts and lists that are no findings.
    pub tables: Vec<Table>,
    /// Changes that are proposed and not made: unified diffs.
    pub patches: Vec<String>,
    /// Remarks that are no findings: next steps, what was left out. One line each.
    pub notes: Vec<Text>,
    /// What the judgement rests on, for example the matrix and its date.
    pub provenance: Vec<(&'static str, Text)>,
    /// The tables that were used; set with [`Report::ended`].
    pub data: Option<DataInUse>,
    /// Data of this subcommand alone, put into the JSON report under these keys.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// Whether the findings are about source files, named from the working directory, so that
    /// every place matters by itself.
    pub about_sources: bool,
    /// How verdict and findings become the exit status.
    pub gate: Gate,
    /// When the run ended, in seconds since 1970, UTC; set by whoever reads the clock.
    pub ended: Option<u64>,
    /// The goal and the evidence for it; none for reports that only show something.
    pub proof: Option<Proof>,
    /// Why a lookup has no answer; reports with a goal have the reasons in their links.
    pub unanswered: Vec<Text>,
}

/// A table of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it lists.
    pub title: Text,
    /// The headings of its columns.
    pub head: Vec<Text>,
    /// Its rows; the last column may be long.
    pub rows: Vec<Vec<Text>>,
}

/// How many of each severity, and what became of the rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity info.
    pub infos: usize,
    /// Rules that looked and found nothing.
    pub passed: usize,
    /// Rules that could not look.
    pub not_checked: usize,
    /// Rules that have nothing to look at on this machine.
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

    /// Puts findings into the order in which people should read them: severity, then the
    /// number of consequences, then the order of the rules (hardware before what runs on it),
    /// then id, then title. The order never depends on timing.
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

    /// Adds the members of a structure to those that this subcommand alone has.
    pub fn add_members(&mut self, members: &impl Serialize) {
        if let Ok(serde_json::Value::Object(members)) = serde_json::to_value(members) {
            self.extra.extend(members);
        }
    }

    /// The verdict; none for reports that only show something.
    pub fn verdict(&self) -> Option<Verdict> {
        self.proof.as_ref().map(Proof::verdict)
    }

    /// Whether this finding makes the exit status 1.
    pub fn fails(&self, finding: &Finding) -> bool {
        self.gate.fails(finding)
    }

    /// The exit status that this report stands for.
    pub fn exit_status(&self) -> ExitStatus {
        let unanswered = || (!self.unanswered.is_empty()).then_some(Verdict::Inconclusive);
        let proof = self.proof.as_ref();
        let verdict = proof.map(|proof| proof.verdict_without(|link| self.gate.excuses(link)));
        self.gate.exit_status(verdict.or_else(unanswered), &self.findings)
    }
}
