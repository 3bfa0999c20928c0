//! SARIF 2.1.0, for code-scanning services and editors.
//!
//! A finding is a result. Its consequences are in its properties and are not results themselves, as
//! in the other formats. Places are files below the examined root (`uriBaseId` `ROOT`) or, for
//! variables, commands and data rows, logical locations.
//!
//! The members of the standard are types of `serde-sarif`. It leaves four enumerations of the
//! standard as JSON values; [`word`] fills them from its enumerations.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, LogicalLocation, Message, MultiformatMessageString,
    Notification, NotificationLevel, PhysicalLocation, PropertyBag, Region, ReportingConfiguration,
    ReportingConfigurationLevel, ReportingDescriptor, ReportingDescriptorReference,
    Result as SarifResult, ResultColumnKind, ResultKind, ResultLevel, Run, RunAutomationDetails,
    Sarif, ToolComponent, Version,
};
use sha2::{Digest as _, Sha256};

use super::Style;
use super::gate::GateJson;
use super::json::Provenance;
use super::plain::{consequences, finding_lines, show_evidence};
use base::report::{
    CheckState, Coverage, Evidence, EvidenceKind, ExitStatus, Finding, FixStep, Goal, Need, Report,
    Severity, Verdict,
};
use base::text::{Lang, Text};
use data::Catalog;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Members of a run that are not in the standard.
#[derive(Serialize)]
struct RunProperties<'a> {
    subject: &'a str,
    goal: Option<&'a Goal>,
    verdict: Option<Verdict>,
    gate: GateJson<'a>,
    provenance: Vec<Provenance<'a>>,
}

/// Members of a rule that are not in the standard: both languages, and the sources.
#[derive(Serialize)]
struct RuleProperties<'a> {
    name: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detects: Option<&'a Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<&'a [String]>,
}

/// Members of a result that are not in the standard: the finding in both languages, and as text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultProperties<'a> {
    message: &'a str,
    severity: Severity,
    title: &'a Text,
    cause: &'a Text,
    fix: &'a [FixStep],
    refs: &'a [String],
    root_cause_of: Vec<&'a str>,
    evidence: &'a [Evidence],
    text: String,
}

/// Members of a notification that are not in the standard.
#[derive(Serialize)]
struct NotificationProperties<'a> {
    text: &'a Text,
}

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let rules = rule_ids(report);
    let index: BTreeMap<&str, i64> = rules.iter().copied().zip(0..).collect();
    let mut seen = BTreeMap::new();
    let places =
        if report.about_sources { split_by_place(report) } else { report.findings.clone() };
    let results: Vec<SarifResult> = places
        .iter()
        .map(|finding| {
            build_result(
                finding,
                index[finding.id.as_str()],
                style.lang,
                report.about_sources,
                &mut seen,
            )
        })
        .collect();
    let status = report.exit_status();
    let driver = ToolComponent::builder()
        .name("ascend-doctor")
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .version(env!("CARGO_PKG_VERSION"))
        .rules(rules.iter().map(|id| build_rule(report, id, style.lang)).collect::<Vec<_>>())
        .build();
    let root = ArtifactLocation::builder()
        .uri("file:///")
        .description(Message::from("The root directory of the examined machine"))
        .build();
    let invocation = Invocation::builder()
        .execution_successful(matches!(status, ExitStatus::Clean | ExitStatus::Findings))
        .exit_code(status.code())
        .tool_execution_notifications(list_notifications(report, &index, style.lang))
        .build();
    let provenance = report.provenance.iter().map(Provenance::from).collect();
    let run = Run::builder()
        .tool(driver)
        .language(match style.lang {
            Lang::En => "en-US",
            Lang::Zh => "zh-CN",
        })
        .column_kind(word(ResultColumnKind::UnicodeCodePoints))
        .original_uri_base_ids(BTreeMap::from([("ROOT".to_owned(), root)]))
        .automation_details(
            RunAutomationDetails::builder()
                .id(format!("ascend-doctor/{}/", report.command))
                .build(),
        )
        .invocations(vec![invocation])
        .results(results)
        .properties(bag(RunProperties {
            subject: &report.subject,
            goal: report.proof.as_ref().map(|proof| &proof.goal),
            verdict: report.verdict(),
            gate: GateJson::from(report),
            provenance,
        }))
        .build();
    let log =
        Sarif::builder().schema(SCHEMA).version(word(Version::V2_1_0)).runs(vec![run]).build();
    super::safe_json::write(&log, out)
}

/// A value of an enumeration for a member that is a JSON value in the library.
fn word(variant: impl Serialize) -> Value {
    serde_json::to_value(variant).unwrap_or_default()
}

/// Members that are not in the standard.
fn bag(members: impl Serialize) -> PropertyBag {
    match serde_json::to_value(members) {
        Ok(Value::Object(members)) => {
            PropertyBag::builder().additional_properties(BTreeMap::from_iter(members)).build()
        }
        _ => PropertyBag::default(),
    }
}

/// Splits findings by place: services show one place for each result.
fn split_by_place(report: &Report) -> Vec<Finding> {
    let mut places = Vec::new();
    for finding in &report.findings {
        if finding.evidence.len() < 2 {
            places.push(finding.clone());
            continue;
        }
        for evidence in &finding.evidence {
            places.push(Finding { evidence: vec![evidence.clone()], ..finding.clone() });
        }
    }
    places
}

/// The rules that ran and those with findings, each once, in order.
fn rule_ids(report: &Report) -> Vec<&str> {
    let mut ids: Vec<&str> = report.results.iter().map(|result| result.id).collect();
    for finding in &report.findings {
        if !ids.contains(&finding.id.as_str()) {
            ids.push(&finding.id);
        }
    }
    ids
}

fn build_rule(report: &Report, id: &str, lang: Lang) -> ReportingDescriptor {
    let entry = Catalog::builtin().entry(id);
    let result = report.results.iter().find(|result| result.id == id);
    let finding = report.findings.iter().find(|finding| finding.id == id);
    let name = entry
        .map(|entry| &entry.name)
        .or(result.map(|result| &result.name))
        .or(finding.map(|finding| &finding.title))
        .cloned()
        .unwrap_or_default();
    let multiformat =
        |text: &Text| MultiformatMessageString::builder().text(text.get(lang)).build();
    ReportingDescriptor::builder()
        .id(id)
        .short_description(multiformat(&name))
        .opt_full_description(entry.map(|entry| multiformat(&entry.why)))
        .opt_help(entry.map(|entry| multiformat(&entry.detects)))
        .opt_help_uri(
            entry.and_then(|entry| entry.sources.iter().find(|source| is_uri(source)).cloned()),
        )
        .opt_default_configuration(entry.map(|entry| {
            ReportingConfiguration::builder().level(default_level(entry.severity)).build()
        }))
        .properties(bag(RuleProperties {
            name,
            why: entry.map(|entry| &entry.why),
            detects: entry.map(|entry| &entry.detects),
            sources: entry.map(|entry| entry.sources.as_slice()),
        }))
        .build()
}

fn is_uri(text: &str) -> bool {
    text.starts_with("https://") && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn build_result(
    finding: &Finding,
    rule_index: i64,
    lang: Lang,
    sources: bool,
    seen: &mut BTreeMap<String, u32>,
) -> SarifResult {
    let (files, others): (Vec<_>, Vec<_>) =
        finding.evidence.iter().partition(|evidence| is_file(evidence, sources));
    // One result location: the first file, else the first other place. The rest is related.
    let mut places = files.into_iter().chain(others);
    let first = places.next();
    let fingerprint = fingerprint(finding);
    let ordinal = seen.entry(fingerprint.clone()).or_insert(0);
    *ordinal += 1;
    let mut message = finding.title.get(lang).to_owned();
    if !finding.cause.get(lang).is_empty() {
        message.push('\n');
        message.push_str(finding.cause.get(lang));
    }
    let markdown = super::markdown::escape_prose(&message.replace('\n', ". "));
    let location = first.map(|place| build_location(place, None, lang, sources));
    let related: Vec<Location> =
        (1..).zip(places).map(|(id, at)| build_location(at, Some(id), lang, sources)).collect();
    SarifResult::builder()
        .rule_id(&finding.id)
        .rule_index(rule_index)
        .level(level(finding.severity))
        .kind(ResultKind::Fail)
        .message(Message::builder().text(message).markdown(markdown).build())
        .locations(Vec::from_iter(location))
        .opt_related_locations(Some(related).filter(|related| !related.is_empty()))
        .partial_fingerprints(BTreeMap::from([(
            "ascendDoctor/v1".to_owned(),
            format!("{fingerprint}:{ordinal}"),
        )]))
        .properties(bag(ResultProperties {
            message: &finding.message,
            severity: finding.severity,
            title: &finding.title,
            cause: &finding.cause,
            fix: &finding.fix,
            refs: &finding.refs,
            root_cause_of: consequences(finding),
            evidence: &finding.evidence,
            text: finding_lines(finding, lang).join("\n"),
        }))
        .build()
}

/// Whether the evidence is a path of the examined machine, or of a source file.
fn is_file(evidence: &Evidence, sources: bool) -> bool {
    evidence.kind == EvidenceKind::File && (sources || evidence.source.starts_with('/'))
}

fn build_location(evidence: &Evidence, id: Option<i64>, lang: Lang, sources: bool) -> Location {
    let file = is_file(evidence, sources);
    let physical = file.then(|| {
        let below_root = evidence.source.starts_with('/').then(|| "ROOT".to_owned());
        let line = evidence.line.filter(|&line| line > 0);
        PhysicalLocation::builder()
            .artifact_location(
                ArtifactLocation::builder()
                    .uri(relative_uri(&evidence.source))
                    .opt_uri_base_id(below_root)
                    .build(),
            )
            .opt_region(line.map(|line| Region::builder().start_line(line).build()))
            .build()
    });
    let logical = (!file).then(|| {
        let kind = match evidence.kind {
            EvidenceKind::File => "resource",
            EvidenceKind::Env => "variable",
            EvidenceKind::Command => "command",
            EvidenceKind::Data => "data",
            EvidenceKind::Option => "option",
            EvidenceKind::Host => "host",
        };
        vec![LogicalLocation::builder().fully_qualified_name(&evidence.source).kind(kind).build()]
    });
    Location::builder()
        .message(Message::from(&show_evidence(evidence, lang)))
        .opt_id(id)
        .opt_physical_location(physical)
        .opt_logical_locations(logical)
        .build()
}

/// An absolute path as a URI reference relative to `ROOT`.
fn relative_uri(path: &str) -> String {
    let path = path.trim_start_matches('/');
    if path.is_empty() {
        return ".".to_owned();
    }
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'/'
            | b'-'
            | b'_'
            | b'.'
            | b'~'
            | b'+'
            | b'='
            | b'@'
            | b',' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The stable identity of a finding: id, message, and places. Excludes values and texts, which
/// change with versions of the machine and of the tool.
fn fingerprint(finding: &Finding) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(&finding.id);
    add(&finding.message);
    for evidence in &finding.evidence {
        add(&evidence.source);
    }
    hash.finalize().iter().take(16).fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

const fn level(severity: Severity) -> ResultLevel {
    match severity {
        Severity::Error => ResultLevel::Error,
        Severity::Warning => ResultLevel::Warning,
        Severity::Info => ResultLevel::Note,
    }
}

fn default_level(severity: Severity) -> Value {
    word(match severity {
        Severity::Error => ReportingConfigurationLevel::Error,
        Severity::Warning => ReportingConfigurationLevel::Warning,
        Severity::Info => ReportingConfigurationLevel::Note,
    })
}

/// The facts that could not be examined: not results, but reported.
fn list_notifications(
    report: &Report,
    index: &BTreeMap<&str, i64>,
    lang: Lang,
) -> Vec<Notification> {
    let links = report.proof.iter().flat_map(|proof| &proof.links);
    let open = links.filter_map(|link| match &link.coverage {
        Coverage::NotExamined { reason, settle } => {
            let level = match link.need {
                Need::Required => NotificationLevel::Error,
                Need::Supporting => NotificationLevel::Note,
            };
            let text = Text::new(
                format!("{}: {}. {}", link.name.en, reason.en, settle.en),
                format!("{}：{}。{}", link.name.zh, reason.zh, settle.zh),
            );
            Some(build_notification(level, &text, None, lang))
        }
        _ => None,
    });
    let lookups = report
        .unanswered
        .iter()
        .map(|text| build_notification(NotificationLevel::Error, text, None, lang));
    let rules = report.results.iter().filter(|rule| rule.state == CheckState::NotChecked);
    let rules = rules.map(|rule| {
        let reason = rule.reason.clone().unwrap_or_default();
        let about = ReportingDescriptorReference::builder()
            .id(rule.id)
            .opt_index(index.get(rule.id).copied())
            .build();
        build_notification(NotificationLevel::Note, &reason, Some(about), lang)
    });
    open.chain(lookups).chain(rules).collect()
}

fn build_notification(
    level: NotificationLevel,
    text: &Text,
    rule: Option<ReportingDescriptorReference>,
    lang: Lang,
) -> Notification {
    Notification::builder()
        .level(word(level))
        .message(Message::from(text.get(lang)))
        .opt_associated_rule(rule)
        .properties(bag(NotificationProperties { text }))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(relative_uri("/usr/a b/%/路"), "usr/a%20b/%25/%E8%B7%AF");
        assert_eq!(relative_uri("/"), ".");
    }
}
