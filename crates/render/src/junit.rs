//! JUnit XML, as Jenkins, GitLab and others read it: a suite per family, a case per check.
//!
//! A case has one `failure` (several are not portable). It fails when one of its findings is at
//! or above the fail level, so that the colour of the CI job and the exit status agree; other
//! findings go to `system-out`. What gave no answer is `skipped`, never passed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use super::Style;
use super::coverage::{headline, open_points};
use super::plain::{finding_lines, reason_text};
use base::report::{CheckState, ExitStatus, Finding, Need, OnInconclusive, Report, RuleResult};
use base::text::{Lang, escape, escape_line};
use data::{Catalog, ui};

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let suites = build_suites(report, style.lang);
    let total = |what: fn(&Case) -> bool| {
        suites.iter().flat_map(|(_, cases)| cases).filter(|case| what(case)).count()
    };
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuites name="ascend-doctor {}" tests="{}" failures="{}" errors="{}">"#,
        escape_attribute(report.command),
        total(|_| true),
        total(Case::is_failed),
        total(Case::is_error),
    )?;
    for (number, (name, cases)) in suites.iter().enumerate() {
        let count = |what: fn(&Case) -> bool| cases.iter().filter(|case| what(case)).count();
        writeln!(
            out,
            r#"  <testsuite name="{}" tests="{}" failures="{}" errors="{}" skipped="{}" time="0">"#,
            escape_attribute(name),
            cases.len(),
            count(Case::is_failed),
            count(Case::is_error),
            count(Case::is_skipped),
        )?;
        // Only suites may have properties, and one that has them is enough.
        if number == 0 {
            write_properties(report, out)?;
        }
        for case in cases {
            case.write(report.command, name, out)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

/// What stands inside a `testcase`.
enum Body {
    Passed,
    Failure { kind: &'static str, message: String, text: String },
    Output(String),
    Skipped(String),
    Error { message: String, text: String },
}

struct Case {
    name: String,
    body: Body,
}

impl Case {
    fn is_failed(&self) -> bool {
        matches!(self.body, Body::Failure { .. })
    }

    fn is_error(&self) -> bool {
        matches!(self.body, Body::Error { .. })
    }

    fn is_skipped(&self) -> bool {
        matches!(self.body, Body::Skipped(_))
    }

    fn write(&self, command: &str, suite: &str, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            r#"    <testcase classname="ascend-doctor.{}.{}" name="{}" time="0""#,
            escape_attribute(command),
            escape_attribute(suite),
            escape_attribute(&self.name)
        )?;
        match &self.body {
            Body::Passed => return writeln!(out, "/>"),
            Body::Failure { kind, message, text } => writeln!(
                out,
                ">\n      <failure type=\"{kind}\" message=\"{}\">{}</failure>",
                escape_attribute(message),
                escape_content(text)
            )?,
            Body::Output(text) => {
                writeln!(out, ">\n      <system-out>{}</system-out>", escape_content(text))?;
            }
            Body::Skipped(message) => {
                writeln!(out, ">\n      <skipped message=\"{}\"/>", escape_attribute(message))?;
            }
            Body::Error { message, text } => writeln!(
                out,
                ">\n      <error type=\"inconclusive\" message=\"{}\">{}</error>",
                escape_attribute(message),
                escape_content(text)
            )?,
        }
        writeln!(out, "    </testcase>")
    }
}

/// The suites in the order in which their families first occur.
fn build_suites(report: &Report, lang: Lang) -> Vec<(String, Vec<Case>)> {
    let mut of_id: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        of_id.entry(&finding.id).or_default().push(finding);
    }
    let mut suites: Vec<(String, Vec<Case>)> = Vec::new();
    let mut add = |id: &str, case: Case| {
        let family = family(id);
        match suites.iter_mut().find(|(known, _)| *known == family) {
            Some((_, cases)) => cases.push(case),
            None => suites.push((family, vec![case])),
        }
    };
    for result in &report.results {
        let findings = of_id.remove(result.id).unwrap_or_default();
        let name = format!("{} {}", result.id, result.name.get(lang));
        let body = build_body(report, result, &findings, lang);
        add(result.id, Case { name, body });
    }
    // Findings of subcommands that have no list of rules.
    for (id, findings) in of_id {
        add(id, Case { name: id.to_owned(), body: finding_body(report, &findings, lang) });
    }
    let failed = suites.iter().flat_map(|(_, cases)| cases).any(Case::is_failed);
    if let Some(body) = verdict_body(report, failed, lang) {
        suites.push(("verdict".to_owned(), vec![Case { name: "verdict".to_owned(), body }]));
    }
    suites
}

/// The verdict as a case, so that the color of the job is that of the exit status also where no
/// finding has the reason. `failed` tells that another case failed.
fn verdict_body(report: &Report, failed: bool, lang: Lang) -> Option<Body> {
    let open = open_points(report, Need::Required, lang);
    let text: Vec<String> = open.into_iter().map(|point| point.text(lang)).collect();
    let text = text.join("\n");
    let headline = || headline(report, lang).unwrap_or_default();
    let open = !text.is_empty() && report.gate.on_inconclusive == OnInconclusive::Report;
    Some(match report.exit_status() {
        ExitStatus::Findings if !failed => {
            Body::Failure { kind: "verdict", message: headline(), text }
        }
        _ if open => Body::Error { message: ui::INCONCLUSIVE.get(lang), text },
        _ if !text.is_empty() => Body::Output(text),
        _ if report.proof.is_some() => Body::Passed,
        _ => return None,
    })
}

/// The verdict and the gate.
fn write_properties(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut properties = vec![
        ("fail_on", report.gate.fail_on.as_str().to_owned()),
        ("on_inconclusive", report.gate.on_inconclusive.as_str().to_owned()),
        ("exit_status", report.exit_status().code().to_string()),
    ];
    if let Some(verdict) = report.verdict() {
        properties.insert(0, ("verdict", verdict.as_str().to_owned()));
    }
    properties.extend(report.gate.settings.iter().map(|setting| ("gate_setting", setting.clone())));
    writeln!(out, "    <properties>")?;
    for (name, value) in properties {
        writeln!(out, r#"      <property name="{name}" value="{}"/>"#, escape_attribute(&value))?;
    }
    writeln!(out, "    </properties>")
}

fn build_body(report: &Report, result: &RuleResult, findings: &[&Finding], lang: Lang) -> Body {
    match result.state {
        _ if !findings.is_empty() => finding_body(report, findings, lang),
        CheckState::NotChecked | CheckState::NotApplicable => {
            Body::Skipped(reason_text(result, lang).into_owned())
        }
        CheckState::Folded => Body::Skipped(explain_folding(report, result.id, lang)),
        CheckState::Passed | CheckState::Found => Body::Passed,
    }
}

fn finding_body(report: &Report, findings: &[&Finding], lang: Lang) -> Body {
    let text: Vec<String> =
        findings.iter().map(|finding| finding_lines(finding, lang).join("\n")).collect();
    let text = text.join("\n\n");
    match findings.iter().find(|finding| report.fails(finding)) {
        Some(first) => Body::Failure {
            kind: first.severity.as_str(),
            message: escape_line(first.title.get(lang)).into_owned(),
            text,
        },
        None => Body::Output(text),
    }
}

/// "Explained by X": the finding under which those of `id` were folded.
fn explain_folding(report: &Report, id: &str, lang: Lang) -> String {
    let root = report
        .findings
        .iter()
        .find(|finding| finding.consequences.iter().any(|consequence| consequence.id == id));
    let id = root.map_or("", |root| root.id.as_str());
    ui::ExplainedBy { id }.text().get(lang).to_owned()
}

/// The family of an id: as the catalogue has it, else what stands before the first hyphen, or
/// before the slash of an error code (`dcmi/-8005`).
fn family(id: &str) -> String {
    if let Some(family) = Catalog::builtin().family_of(id) {
        return family.family.clone();
    }
    id.split(['-', '/']).next().unwrap_or(id).to_ascii_lowercase()
}

fn escape_attribute(text: &str) -> String {
    escape_xml(&escape_line(text))
}

fn escape_content(text: &str) -> String {
    escape_xml(&escape(text))
}

/// Escapes markup and replaces the characters that XML 1.0 has no way to write. Controls are
/// already visible text here; U+FFFE and U+FFFF are what is left of the forbidden ones.
fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        let replacement: Cow<'_, str> = match c {
            '&' => "&amp;".into(),
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '"' => "&quot;".into(),
            '\u{fffe}' | '\u{ffff}' => format!("\\u{{{:x}}}", c as u32).into(),
            _ => {
                out.push(c);
                continue;
            }
        };
        out.push_str(&replacement);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_forbidden_characters_are_replaced() {
        assert_eq!(
            escape_attribute("a<b>&\"\n\u{1b}\u{ffff}"),
            "a&lt;b&gt;&amp;&quot;\\n\\x1b\\u{ffff}"
        );
        assert_eq!(escape_content("]]>\n"), "]]&gt;\n");
    }
}
