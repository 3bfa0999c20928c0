//! The vocabulary that every subcommand speaks: findings, outcomes, the report.
//!
//! Nothing here reads a machine or writes to a terminal. A [`Report`] is complete: a renderer
//! needs nothing else, and decides nothing.

mod finding;
mod grouping;
mod outcome;

pub use finding::{
    Evidence, EvidenceKind, Finding, FixStep, RawFinding, Severity, UNKNOWN_VERSION,
};
pub use grouping::fold_consequences;
pub use outcome::{CheckState, Outcome, Reason, RuleResult};

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// The data that a run used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[serde(rename_all = "lowercase")]
pub enum DataOrigin {
    /// The program itself.
    Builtin,
    /// A data pack.
    Pack,
}

/// Which findings make the exit status 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// Errors only; of operators, those that raise one.
    #[value(alias = "unsupported")]
    Error,
    /// Errors and warnings; of operators, those that fall back to the CPU too.
    #[value(alias = "fallback")]
    Warning,
    /// No finding does.
    Never,
}

/// What a run of any subcommand has to say.
#[derive(Debug, Clone)]
pub struct Report {
    /// The subcommand, for example `check`.
    pub command: &'static str,
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
    pub provenance: Vec<(String, String)>,
    /// The tables that were used; set with [`Report::ended`].
    pub data: Option<DataInUse>,
    /// Data of this subcommand alone, put into the JSON report under these keys.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// Whether the findings are about source files, named from the working directory, so that
    /// every place matters by itself.
    pub about_sources: bool,
    /// The level at which a finding fails the run.
    pub fail_on: FailOn,
    /// When the run ended, in seconds since 1970, UTC; set by whoever reads the clock.
    pub ended: Option<u64>,
    /// Why no verdict is possible, if so: forces exit status 3 unless a finding already fails.
    pub no_verdict: Vec<Text>,
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

/// The exit status of a run: one meaning in every subcommand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// 0: nothing at or above the fail level.
    Clean,
    /// 1: at least one finding at or above the fail level.
    Findings,
    /// 2: wrong usage, or the tool itself could not work.
    Failure,
    /// 3: no verdict, for want of time, permission or evidence.
    Inconclusive,
}

impl ExitStatus {
    /// The number given to the operating system.
    pub const fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Failure => 2,
            Self::Inconclusive => 3,
        }
    }
}

/// How many of each severity, and what became of the rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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
            fail_on: FailOn::Error,
            ended: None,
            no_verdict: Vec::new(),
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
            match result.verdict {
                CheckState::Passed => sum.passed += 1,
                CheckState::NotChecked => sum.not_checked += 1,
                CheckState::NotApplicable => sum.not_applicable += 1,
                CheckState::Found | CheckState::Folded => {}
            }
        }
        sum
    }

    /// Whether this finding makes the exit status 1.
    pub fn fails(&self, finding: &Finding) -> bool {
        let limit = match self.fail_on {
            FailOn::Error => Severity::Error,
            FailOn::Warning => Severity::Warning,
            FailOn::Never => return false,
        };
        finding.severity >= limit
    }

    /// The exit status that this report stands for.
    pub fn exit_status(&self) -> ExitStatus {
        if self.findings.iter().any(|finding| self.fails(finding)) {
            ExitStatus::Findings
        } else if self.no_verdict.is_empty() {
            ExitStatus::Clean
        } else {
            ExitStatus::Inconclusive
        }
    }
}
