//! The report as JSON: `ascend-doctor/<command>/2`, described by
//! `docs/schema/report-2.schema.json`.
//!
//! These structures are frozen. They are separate from the internal ones, so that the internals may
//! change without changing the format.

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
    /// The ID of this format.
    tool: Tool,
    /// The subcommand.
    command: &'a str,
    /// The examined object, for display: a host, a root, files.
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
    /// The verdict, which follows only from the required links.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// How verdict and findings become the exit status.
    gate: GateJson<'a>,
    /// Findings by severity, without consequences, and rules by outcome.
    summary: Summary,
    /// The most severe first.
    findings: Vec<JsonFinding<'a>>,
    /// Every rule that was selected, in a fixed order.
    checks: &'a [RuleResult],
    /// Why a lookup has no answer.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unanswered: &'a [Text],
    /// Remarks for display.
    notes: &'a [Text],
    /// The inputs of the evaluation.
    provenance: Vec<Provenance<'a>>,
    /// The tables in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a DataInUse>,
    /// Short facts for display.
    overview: Vec<Fact<'a>>,
    /// Counts and lists for display.
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

/// An input of the evaluation.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Provenance<'a> {
    /// Its kind: `matrix`, `settings`, `data`, `rules`, `operators`, `libraries`.
    what: &'a str,
    /// Its identity, for display.
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
    /// The message of that ID; stable like the ID.
    message: &'a str,
    severity: Severity,
    /// The defect.
    title: &'a Text,
    /// The cause.
    cause: &'a Text,
    /// The evidence.
    evidence: &'a [Evidence],
    /// Values in the evidence, by stable names such as `ranks` or `op`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: &'a BTreeMap<String, String>,
    /// Steps to fix it, in order.
    fix: &'a [FixStep],
    /// Further reading.
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
