//! SARIF 2.1.0, for code-scanning services and editors.
//!
//! A finding is a result; what it is the root cause of is told in its properties and gives no
//! results of its own, as everywhere. Places are files below the examined root (`uriBaseId`
//! `ROOT`) or, for variables, commands and data rows, logical locations.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Style;
use super::gate::GateJson;
use super::plain::{consequences, finding_lines, show_evidence};
use base::report::{
    CheckState, Coverage, Evidence, EvidenceKind, ExitStatus, Finding, FixStep, Need, Report,
    Severity,
};
use base::text::{Lang, Text};
use data::Catalog;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let rules = rule_ids(report);
    let index: BTreeMap<&str, usize> =
        rules.iter().enumerate().map(|(index, id)| (*id, index)).collect();
    let mut seen = BTreeMap::new();
    let places =
        if report.about_sources { split_by_place(report) } else { report.findings.clone() };
    let results: Vec<Value> = places
        .iter()
        .map(|finding| {
            result_json(
                finding,
                index[finding.id.as_str()],
                style.lang,
                report.about_sources,
                &mut seen,
            )
        })
        .collect();
    let status = report.exit_status();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ascend-doctor",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|id| rule_json(report, id, style.lang)).collect::<Vec<_>>(),
            }},
            "language": match style.lang { Lang::En => "en-US", Lang::Zh => "zh-CN" },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "ROOT": {
                "uri": "file:///",
                "description": { "text": "The root directory of the examined machine" },
            }},
            "automationDetails": { "id": format!("ascend-doctor/{}/", report.command) },
            "invocations": [{
                "executionSuccessful": matches!(status, ExitStatus::Clean | ExitStatus::Findings),
                "exitCode": status.code(),
                "toolExecutionNotifications": list_notifications(report, &index, style.lang),
            }],
            "results": results,
            "properties": {
                "subject": report.subject,
                "goal": report.proof.as_ref().map(|proof| &proof.goal),
                "verdict": report.verdict(),
                "gate": GateJson::from(report),
                "provenance": report.provenance.iter().map(|(what, value)| {
                    json!({ "what": what, "value": value })
                }).collect::<Vec<_>>(),
            },
        }],
    });
    super::safe_json::write(&log, out)
}

/// Each place of a finding as a finding: services show one place for each result.
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

/// The rules that ran and those that have findings, each once, in order.
fn rule_ids(report: &Report) -> Vec<&str> {
    let mut ids: Vec<&str> = report.results.iter().map(|result| result.id).collect();
    for finding in &report.findings {
        if !ids.contains(&finding.id.as_str()) {
            ids.push(&finding.id);
        }
    }
    ids
}

fn rule_json(report: &Report, id: &str, lang: Lang) -> Value {
    let entry = Catalog::builtin().entry(id);
    let result = report.results.iter().find(|result| result.id == id);
    let finding = report.findings.iter().find(|finding| finding.id == id);
    let name = entry
        .map(|entry| &entry.name)
        .or(result.map(|result| &result.name))
        .or(finding.map(|finding| &finding.title))
        .cloned()
        .unwrap_or_default();
    let mut rule = json!({
        "id": id,
        "shortDescription": { "text": name.get(lang) },
        "properties": { "name": name },
    });
    if let Some(entry) = entry {
        rule["fullDescription"] = json!({ "text": entry.why.get(lang) });
        rule["help"] = json!({ "text": entry.detects.get(lang) });
        rule["defaultConfiguration"] = json!({ "level": level(entry.severity) });
        rule["properties"]["why"] = json!(entry.why);
        rule["properties"]["detects"] = json!(entry.detects);
        rule["properties"]["sources"] = json!(entry.sources);
        if let Some(uri) = entry.sources.iter().find(|source| is_uri(source)) {
            rule["helpUri"] = json!(uri);
        }
    }
    rule
}

fn is_uri(text: &str) -> bool {
    text.starts_with("https://") && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn result_json(
    finding: &Finding,
    rule_index: usize,
    lang: Lang,
    sources: bool,
    seen: &mut BTreeMap<String, u32>,
) -> Value {
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
    let mut result = json!({
        "ruleId": finding.id,
        "ruleIndex": rule_index,
        "level": level(finding.severity),
        "kind": "fail",
        "message": { "text": message, "markdown": super::markdown::escape_prose(&message.replace('\n', ". ")) },
        "locations": first.map(|place| location_json(place, None, lang, sources)).into_iter().collect::<Vec<_>>(),
        "partialFingerprints": { "ascendDoctor/v1": format!("{fingerprint}:{ordinal}") },
        "properties": {
            "message": finding.message,
            "severity": finding.severity.as_str(),
            "title": finding.title,
            "cause": finding.cause,
            "fix": finding.fix.iter().map(step_json).collect::<Vec<_>>(),
            "rootCauseOf": consequences(finding),
            "evidence": finding.evidence,
            "text": finding_lines(finding, lang).join("\n"),
        },
    });
    let related: Vec<Value> =
        (1..).zip(places).map(|(id, at)| location_json(at, Some(id), lang, sources)).collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

fn step_json(step: &FixStep) -> Value {
    let mut value = json!({ "text": step.text });
    if let Some(run) = &step.run {
        value["run"] = json!(run);
    }
    value
}

/// Whether it is a path of the examined machine, or of a source file.
fn is_file(evidence: &Evidence, sources: bool) -> bool {
    evidence.kind == EvidenceKind::File && (sources || evidence.source.starts_with('/'))
}

fn location_json(evidence: &Evidence, id: Option<u32>, lang: Lang, sources: bool) -> Value {
    let mut location = json!({ "message": { "text": show_evidence(evidence, lang) } });
    if let Some(id) = id {
        location["id"] = json!(id);
    }
    if is_file(evidence, sources) {
        let mut physical = json!({ "artifactLocation": { "uri": relative_uri(&evidence.source) } });
        if evidence.source.starts_with('/') {
            physical["artifactLocation"]["uriBaseId"] = json!("ROOT");
        }
        if let Some(line) = evidence.line.filter(|&line| line > 0) {
            physical["region"] = json!({ "startLine": line });
        }
        location["physicalLocation"] = physical;
    } else {
        let kind = match evidence.kind {
            EvidenceKind::File => "resource",
            EvidenceKind::Env => "variable",
            EvidenceKind::Command => "command",
            EvidenceKind::Data => "data",
            EvidenceKind::Option => "option",
            EvidenceKind::Host => "host",
        };
        location["logicalLocations"] =
            json!([{ "fullyQualifiedName": evidence.source, "kind": kind }]);
    }
    location
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

/// What stays the same when the same thing is found again: id, message, and places, but no
/// values and no words, which change with versions of the machine and of the tool.
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

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// What could not be examined: no result, but not silent either.
fn list_notifications(report: &Report, index: &BTreeMap<&str, usize>, lang: Lang) -> Vec<Value> {
    let links = report.proof.iter().flat_map(|proof| &proof.links);
    let open = links.filter_map(|link| match &link.coverage {
        Coverage::NotExamined { reason, settle } => {
            let level = if link.need == Need::Required { "error" } else { "note" };
            let text = Text::new(
                format!("{}: {}. {}", link.name.en, reason.en, settle.en),
                format!("{}：{}。{}", link.name.zh, reason.zh, settle.zh),
            );
            Some(notification_json(level, &text, lang))
        }
        _ => None,
    });
    let lookups = report.unanswered.iter().map(|text| notification_json("error", text, lang));
    let verdicts = open.chain(lookups);
    let rules = report.results.iter().filter(|rule| rule.state == CheckState::NotChecked);
    verdicts
        .chain(rules.map(|rule| {
            let reason = rule.reason.clone().unwrap_or_default();
            let mut value = notification_json("note", &reason, lang);
            value["associatedRule"] = json!({ "id": rule.id, "index": index.get(rule.id) });
            value
        }))
        .collect()
}

fn notification_json(level: &str, text: &Text, lang: Lang) -> Value {
    json!({ "level": level, "message": { "text": text.get(lang) }, "properties": { "text": text } })
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
