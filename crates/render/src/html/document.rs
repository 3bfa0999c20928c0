//! The data of a page: a report in memory, or one that another run wrote in JSON.

use serde::Deserialize;

use base::report::{
    CheckState, Coverage, FailOn, Finding, GateSetting, Need, OnInconclusive, Report, Severity,
    Summary, Verdict,
};
use base::text::Text;
use data::goals;

use super::matrix::FleetPart;
use super::state::State;
use super::timeline::DiagnosisPart;

/// A report from any version. Members of newer versions are ignored.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Document {
    /// The subcommand.
    pub command: String,
    /// The examined object.
    #[serde(default)]
    pub subject: String,
    /// The findings, the most severe first.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// The rules with their outcomes.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// Version 1: why the result is inconclusive. Later: why a lookup has no answer.
    #[serde(default, alias = "unanswered")]
    pub no_verdict: Vec<Text>,
    /// The sentence at the top; version 2 and later.
    #[serde(default)]
    pub headline: Option<Text>,
    /// `pass`, `fail` or `inconclusive`; version 1 has other values.
    #[serde(default)]
    pub verdict: String,
    /// The links of the goal; version 2 and later.
    #[serde(default)]
    pub coverage: Vec<Link>,
    /// How verdict and findings became the exit status; version 2 and later.
    #[serde(default)]
    pub gate: Gate,
    /// When the report was created, in seconds since 1970.
    #[serde(default)]
    pub created: Option<i64>,
    /// When the machine was read; reports before `created` have only this.
    #[serde(default)]
    pub taken: Option<i64>,
    /// Remarks.
    #[serde(default)]
    pub notes: Vec<Text>,
    /// The inputs of the evaluation.
    #[serde(default)]
    pub provenance: Vec<Provenance>,
    /// Facts for the head.
    #[serde(default)]
    pub overview: Vec<Fact>,
    /// Tables.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// Proposed changes, as diffs.
    #[serde(default)]
    pub patches: Vec<String>,
    /// The versions of the stack, from `check`.
    #[serde(default)]
    pub fingerprint: Option<Fingerprint>,
    /// The hosts and their areas, from `fleet`.
    #[serde(default)]
    pub fleet: Option<FleetPart>,
    /// The ranks, from logs.
    #[serde(default)]
    pub diagnosis: Option<DiagnosisPart>,
    /// The version of the program that wrote it.
    #[serde(default)]
    pub tool: Tool,
    /// Whether it answers a lookup, without a verdict.
    #[serde(skip)]
    pub answer: bool,
}

/// A rule with its outcome.
#[derive(Debug, Clone, Deserialize)]
pub struct Check {
    /// The id.
    pub id: String,
    /// The healthy state.
    pub name: Text,
    /// The outcome; version 1 calls it the verdict.
    #[serde(alias = "verdict")]
    pub state: CheckState,
    /// Why the rule has no result.
    #[serde(default)]
    pub reason: Option<Text>,
}

/// The policy of the run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Gate {
    pub fail_on: FailOn,
    pub on_inconclusive: OnInconclusive,
    pub settings: Vec<GateSetting>,
}

impl From<&base::report::Gate> for Gate {
    fn from(gate: &base::report::Gate) -> Self {
        let base::report::Gate { fail_on, on_inconclusive, settings, .. } = gate.clone();
        Self { fail_on, on_inconclusive, settings }
    }
}

/// A link of the goal.
#[derive(Debug, Clone, Deserialize)]
pub struct Link {
    /// The healthy state.
    pub name: Text,
    /// `required` or `supporting`.
    pub need: String,
    /// `shown`, `contradicted`, `not_examined`, `not_applicable` or `waived`.
    pub state: String,
    /// The reason, unless the link is shown.
    #[serde(default)]
    pub reason: Option<Text>,
    /// The evidence that settles it.
    #[serde(default)]
    pub settle: Option<Text>,
    /// The observation.
    #[serde(default)]
    pub note: Option<Text>,
    /// Findings that contradict it.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Warnings that concern it.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl From<&base::report::Link> for Link {
    fn from(link: &base::report::Link) -> Self {
        let (mut reason, mut settle, mut findings) = (None, None, Vec::new());
        match &link.coverage {
            Coverage::Shown => {}
            Coverage::Contradicted { findings: ids, reason: words } => {
                findings.clone_from(ids);
                reason.clone_from(words);
            }
            Coverage::NotExamined { reason: why, settle: how } => {
                reason = Some(why.clone());
                settle = Some(how.clone());
            }
            Coverage::NotApplicable { reason: why } | Coverage::Waived { reason: why } => {
                reason = Some(why.clone());
            }
        }
        Self {
            name: link.name.clone(),
            need: match link.need {
                Need::Required => "required",
                Need::Supporting => "supporting",
            }
            .to_owned(),
            state: link.coverage.as_str().to_owned(),
            reason,
            settle,
            note: link.note.clone(),
            findings,
            warnings: link.warnings.clone(),
        }
    }
}

/// An input of the evaluation.
#[derive(Debug, Clone, Deserialize)]
pub struct Provenance {
    /// Its kind.
    pub what: String,
    /// Its identity.
    #[serde(deserialize_with = "base::text::read_text")]
    pub value: Text,
}

/// A line of the head.
#[derive(Debug, Clone, Deserialize)]
pub struct Fact {
    /// The label.
    pub label: Text,
    /// The value.
    pub value: Text,
}

/// A table.
#[derive(Debug, Clone, Deserialize)]
pub struct Table {
    /// The title.
    pub title: Text,
    /// Headings.
    pub head: Vec<Text>,
    /// Rows.
    pub rows: Vec<Vec<Text>>,
}

/// The versions that have to be compatible.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Fingerprint {
    pub chip: Option<String>,
    pub driver: Option<String>,
    pub firmware: Option<String>,
    pub cann: Option<String>,
    pub torch: Option<String>,
    pub torch_npu: Option<String>,
}

/// The program that wrote the report.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Tool {
    #[serde(default)]
    pub version: String,
}

impl From<&Report> for Document {
    fn from(report: &Report) -> Self {
        // The members of one subcommand are read from its JSON, so that a run and its report share
        // one reader.
        fn part<'a, T: Deserialize<'a>>(report: &'a Report, name: &str) -> Option<T> {
            report.extra.get(name).and_then(|value| T::deserialize(value).ok())
        }
        Self {
            command: report.command.to_owned(),
            subject: report.subject.clone(),
            findings: report.findings.clone(),
            checks: report
                .results
                .iter()
                .map(|result| Check {
                    id: result.id.to_owned(),
                    name: result.name.clone(),
                    state: result.state,
                    reason: result.reason.clone(),
                })
                .collect(),
            no_verdict: report.unanswered.clone(),
            headline: goals::headline(report),
            verdict: report.verdict().map_or("", Verdict::as_str).to_owned(),
            coverage: report.proof.iter().flat_map(|proof| &proof.links).map(Link::from).collect(),
            gate: Gate::from(&report.gate),
            created: report.ended.and_then(|ended| i64::try_from(ended).ok()),
            taken: None,
            notes: report.notes.clone(),
            provenance: report
                .provenance
                .iter()
                .map(|(what, value)| Provenance { what: (*what).to_owned(), value: value.clone() })
                .collect(),
            overview: report
                .overview
                .iter()
                .map(|(label, value)| Fact { label: label.clone(), value: value.clone() })
                .collect(),
            tables: report
                .tables
                .iter()
                .map(|table| Table {
                    title: table.title.clone(),
                    head: table.head.clone(),
                    rows: table.rows.clone(),
                })
                .collect(),
            patches: report.patches.clone(),
            fingerprint: part(report, "fingerprint"),
            fleet: part(report, "fleet"),
            diagnosis: part(report, "diagnosis"),
            tool: Tool { version: env!("CARGO_PKG_VERSION").to_owned() },
            // A log has a goal, a code does not.
            answer: matches!(report.command, "explain" | "compat")
                || report.command == "translate-error" && report.proof.is_none(),
        }
    }
}

impl Document {
    /// The displayed counts.
    pub(super) fn summary(&self) -> Summary {
        let severe = |severity| self.findings.iter().filter(|f| f.severity == severity).count();
        let became = |state| self.checks.iter().filter(|c| c.state == state).count();
        Summary {
            errors: severe(Severity::Error),
            warnings: severe(Severity::Warning),
            infos: severe(Severity::Info),
            passed: became(CheckState::Passed),
            not_checked: became(CheckState::NotChecked),
            not_applicable: became(CheckState::NotApplicable),
        }
    }

    /// The overall state.
    pub(super) fn state(&self) -> State {
        let sum = self.summary();
        if sum.errors > 0 || self.verdict == "fail" {
            State::Error
        } else if self.verdict == "inconclusive" {
            State::Unknown
        } else if sum.warnings > 0 {
            State::Warning
        } else if !self.no_verdict.is_empty() {
            State::Unknown
        } else if self.answer {
            State::Nothing
        } else {
            State::Good
        }
    }

    /// The state of the rules that `wanted` selects: their findings count, also as consequences.
    pub(super) fn state_of(&self, wanted: impl Fn(&str) -> bool) -> State {
        let found = self.all_findings().into_iter().filter(|finding| wanted(&finding.id));
        match found.map(|finding| finding.severity).max() {
            Some(Severity::Error) => return State::Error,
            Some(Severity::Warning) => return State::Warning,
            Some(Severity::Info) | None => {}
        }
        let mut state = State::Nothing;
        for check in self.checks.iter().filter(|check| wanted(&check.id)) {
            state = state.min(match check.state {
                CheckState::Passed | CheckState::Found | CheckState::Folded => State::Good,
                CheckState::NotChecked => State::Unknown,
                CheckState::NotApplicable => State::Nothing,
            });
        }
        // One rule without a result does not hide the results of others.
        let good = |check: &Check| wanted(&check.id) && check.state == CheckState::Passed;
        if state == State::Unknown && self.checks.iter().any(good) { State::Good } else { state }
    }

    /// The title of the report.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.command, self.subject).trim().to_owned()
    }

    /// The findings with all their consequences.
    pub(super) fn all_findings(&self) -> Vec<&Finding> {
        let mut all: Vec<&Finding> = Vec::new();
        let mut todo: Vec<&Finding> = self.findings.iter().collect();
        while let Some(finding) = todo.pop() {
            all.push(finding);
            todo.extend(&finding.consequences);
        }
        all
    }
}
