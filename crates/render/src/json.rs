//! The report for programs: `ascend-doctor/<command>/2`, described by
//! `docs/schema/report-2.schema.json`.
//!
//! These structures are frozen: they are not the internal ones, so that the inside may change
//! and the format may not.

use std::collections::BTreeMap;

use serde::Serialize;

use super::gate::GateJson;
use base::report::{
    DataInUse, Evidence, Finding, FixStep, Goal, Link, Report, RuleResult, Severity, Summary,
    Verdict,
};
use base::text::Text;
use data::goals;

/// The members that the reports of all subcommands have.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JsonReport<'a> {
    /// The ID of this shape.
    schema: String,
    /// The program.
    tool: Tool,
    /// The subcommand.
    command: &'a str,
    /// What was examined, for people: a host, a root, files.
    subject: &'a str,
    /// When the report was created, in seconds since 1970, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<u64>,
    /// The result in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<Text>,
    /// The claim that the report proves or contradicts; lookups have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<&'a Goal>,
    /// Every fact that the goal needs, in the order of the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<&'a [Link]>,
    /// It follows from the required links and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// How verdict and findings become the exit status.
    gate: GateJson<'a>,
    /// Findings by severity, without consequences, and rules by outcome.
    summary: Summary,
    /// The gravest first.
    findings: Vec<JsonFinding<'a>>,
    /// Every rule that was selected, in a fixed order.
    checks: &'a [RuleResult],
    /// Why a lookup has no answer.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unanswered: &'a [Text],
    /// Remarks for people.
    notes: &'a [Text],
    /// What the judgement rests on.
    provenance: Vec<Provenance<'a>>,
    /// The tables that were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a DataInUse>,
    /// Short facts for people.
    overview: Vec<Fact<'a>>,
    /// Counts and lists for people.
    tables: Vec<JsonTable<'a>>,
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    extra: &'a serde_json::Map<String, serde_json::Value>,
}

/// The program that wrote the document.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Tool {
    name: &'static str,
    version: &'static str,
}

/// What the judgement rests on.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Provenance<'a> {
    /// What it is: `matrix`, `settings`, `data`, `rules`, `operators`, `libraries`.
    what: &'a str,
    /// Which one, for people.
    value: &'a Text,
}

impl<'a> From<&'a (&'static str, Text)> for Provenance<'a> {
    fn from((what, value): &'a (&'static str, Text)) -> Self {
        Self { what, value }
    }
}

/// A fact.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Fact<'a> {
    label: &'a Text,
    value: &'a Text,
}

/// A table.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct JsonTable<'a> {
    title: &'a Text,
    head: &'a [Text],
    rows: &'a [Vec<Text>],
}

/// A finding.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct JsonFinding<'a> {
    /// Its stable ID.
    id: &'a str,
    /// Which message of that ID; stable like the ID.
    message: &'a str,
    severity: Severity,
    /// What is wrong.
    title: &'a Text,
    /// Why.
    cause: &'a Text,
    /// What it rests on.
    evidence: &'a [Evidence],
    /// Values that the evidence names, by stable names such as `ranks` or `op`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: &'a BTreeMap<String, String>,
    /// What to do, in order.
    fix: &'a [FixStep],
    /// Where to read on.
    refs: &'a [String],
    /// IDs of the consequences.
    root_cause_of: Vec<&'a str>,
    /// The findings that this one explains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    consequences: Vec<JsonFinding<'a>>,
}

/// The document of a report.
pub(super) fn build(report: &Report) -> impl Serialize {
    JsonReport {
        schema: format!("ascend-doctor/{}/2", report.document),
        tool: Tool { name: "ascend-doctor", version: env!("CARGO_PKG_VERSION") },
        command: report.command,
        subject: &report.subject,
        created: report.ended,
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
            .map(|table| JsonTable { title: &table.title, head: &table.head, rows: &table.rows })
            .collect(),
        extra: &report.extra,
    }
}

fn finding(finding: &Finding) -> JsonFinding<'_> {
    let mut root_cause_of: Vec<&str> = finding.consequences.iter().map(|f| f.id.as_str()).collect();
    root_cause_of.sort_unstable();
    root_cause_of.dedup();
    JsonFinding {
        id: &finding.id,
        message: &finding.message,
        severity: finding.severity,
        title: &finding.title,
        cause: &finding.cause,
        evidence: &finding.evidence,
        values: &finding.values,
        fix: &finding.fix,
        refs: &finding.refs,
        root_cause_of,
        consequences: finding.consequences.iter().map(self::finding).collect(),
    }
}
