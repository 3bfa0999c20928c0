//! The report for programs: `ascend-doctor/<command>/2`, described by
//! `docs/schema/report-2.schema.json`.
//!
//! These structures are frozen: they are not the internal ones, so that the inside may change
//! and the format may not.

use serde::Serialize;

use super::gate::GateJson;
use base::report::{
    DataInUse, Evidence, Finding, FixStep, Goal, Link, Report, RuleResult, Summary, Verdict,
};
use base::text::Text;
use data::goals;

#[derive(Serialize)]
struct Document<'a> {
    schema: String,
    tool: Tool,
    command: &'a str,
    subject: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<&'a Goal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<&'a [Link]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    gate: GateJson<'a>,
    summary: Summary,
    findings: Vec<FindingV1<'a>>,
    checks: &'a [RuleResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unanswered: &'a [Text],
    notes: &'a [Text],
    provenance: Vec<Provenance<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a DataInUse>,
    overview: Vec<Fact<'a>>,
    tables: Vec<TableV1<'a>>,
    #[serde(flatten)]
    extra: &'a serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

/// What the judgement rests on.
#[derive(Serialize)]
pub(super) struct Provenance<'a> {
    what: &'a str,
    value: &'a str,
}

impl<'a> From<&'a (String, String)> for Provenance<'a> {
    fn from((what, value): &'a (String, String)) -> Self {
        Self { what, value }
    }
}

#[derive(Serialize)]
struct Fact<'a> {
    label: &'a Text,
    value: &'a Text,
}

#[derive(Serialize)]
struct TableV1<'a> {
    title: &'a Text,
    head: &'a [Text],
    rows: &'a [Vec<Text>],
}

#[derive(Serialize)]
struct FindingV1<'a> {
    id: &'a str,
    message: &'a str,
    severity: &'a str,
    title: &'a Text,
    cause: &'a Text,
    evidence: &'a [Evidence],
    fix: &'a [FixStep],
    refs: &'a [String],
    root_cause_of: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    consequences: Vec<FindingV1<'a>>,
}

/// The document of a report.
pub(super) fn build(report: &Report) -> impl Serialize {
    Document {
        schema: format!("ascend-doctor/{}/2", report.command),
        tool: Tool { name: "ascend-doctor", version: env!("CARGO_PKG_VERSION") },
        command: report.command,
        subject: &report.subject,
        headline: goals::headline(report),
        goal: report.proof.as_ref().map(|proof| &proof.goal),
        coverage: report.proof.as_ref().map(|proof| proof.links.as_slice()),
        verdict: report.verdict(),
        gate: GateJson::from(report),
        summary: report.summary(),
        findings: report.findings.iter().map(finding).collect(),
        checks: &report.results,
        unanswered: &report.unanswered,
        notes: &report.notes,
        provenance: report.provenance.iter().map(Provenance::from).collect(),
        data: report.data.as_ref(),
        overview: report.overview.iter().map(|(label, value)| Fact { label, value }).collect(),
        tables: report
            .tables
            .iter()
            .map(|table| TableV1 { title: &table.title, head: &table.head, rows: &table.rows })
            .collect(),
        extra: &report.extra,
    }
}

fn finding(finding: &Finding) -> FindingV1<'_> {
    let mut root_cause_of: Vec<&str> = finding.consequences.iter().map(|f| f.id.as_str()).collect();
    root_cause_of.sort_unstable();
    root_cause_of.dedup();
    FindingV1 {
        id: &finding.id,
        message: &finding.message,
        severity: finding.severity.as_str(),
        title: &finding.title,
        cause: &finding.cause,
        evidence: &finding.evidence,
        fix: &finding.fix,
        refs: &finding.refs,
        root_cause_of,
        consequences: finding.consequences.iter().map(self::finding).collect(),
    }
}
