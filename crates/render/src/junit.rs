//! JUnit XML, as Jenkins, GitLab and others read it: a suite per family, a case per check.
//!
//! A case has one `failure` (several are not portable). It fails if one of its findings is at or
//! above the fail level, so that the color of the CI job and the exit status agree; other findings
//! go to `system-out`. A check without a result is `skipped`, never passed.
//!
//! `quick-junit` writes the XML. Its strings drop control characters, including tabs, and pass
//! bidirectional marks through, so [`line()`] and [`text`] first make all of these visible.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{
    NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite, XmlString,
};

use super::Style;
use super::coverage::{headline, open_points};
use super::plain::{finding_lines, reason_text};
use base::report::{CheckState, ExitStatus, Finding, Need, OnInconclusive, Report, RuleResult};
use base::text::{Lang, escape_line};
use data::{Catalog, ui};

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::new(line(&format!("ascend-doctor {}", report.command)));
    for (number, (name, cases)) in build_suites(report, style.lang).into_iter().enumerate() {
        let mut suite = TestSuite::new(line(&name));
        suite.set_time(Duration::ZERO);
        // Only suites may have properties, and it is enough if one suite has them.
        if number == 0 {
            suite.add_properties(list_properties(report));
        }
        let classname = line(&format!("ascend-doctor.{}.{name}", report.command));
        suite.add_test_cases(cases.into_iter().map(|case| case.build(classname.clone())));
        document.add_test_suite(suite);
    }
    let shown = document.to_string().map_err(io::Error::other)?;
    // The JUnit schema that the xUnit plugin of Jenkins enforces allows this count only on suites.
    // The root element is the first with the attribute, and its name is a subcommand.
    let total = format!(" skipped=\"{}\"", document.skipped);
    out.write_all(shown.replacen(&total, "", 1).as_bytes())
}

/// The content of a `testcase`.
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

    fn build(self, classname: XmlString) -> TestCase {
        let mut output = None;
        let status = match self.body {
            Body::Passed => TestCaseStatus::success(),
            Body::Output(shown) => {
                output = Some(shown);
                TestCaseStatus::success()
            }
            Body::Skipped(message) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(line(&message));
                status
            }
            Body::Failure { kind, message, text } => {
                not_passed(NonSuccessKind::Failure, kind, &message, &text)
            }
            Body::Error { message, text } => {
                not_passed(NonSuccessKind::Error, "inconclusive", &message, &text)
            }
        };
        let mut case = TestCase::new(line(&self.name), status);
        case.set_classname(classname).set_time(Duration::ZERO);
        if let Some(shown) = output {
            case.set_system_out(text(&shown));
        }
        case
    }
}

fn not_passed(kind: NonSuccessKind, word: &str, message: &str, body: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(word).set_message(line(message)).set_description(text(body));
    status
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
    // Findings of subcommands without a list of rules.
    for (id, findings) in of_id {
        add(id, Case { name: id.to_owned(), body: finding_body(report, &findings, lang) });
    }
    let failed = suites.iter().flat_map(|(_, cases)| cases).any(Case::is_failed);
    if let Some(body) = verdict_body(report, failed, lang) {
        suites.push(("verdict".to_owned(), vec![Case { name: "verdict".to_owned(), body }]));
    }
    suites
}

/// The verdict as a case, so that the color of the job matches the exit status even if no finding
/// explains it. `failed` is whether another case failed.
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
fn list_properties(report: &Report) -> Vec<(XmlString, XmlString)> {
    let mut properties = vec![
        ("fail_on", report.gate.fail_on.as_str().to_owned()),
        ("on_inconclusive", report.gate.on_inconclusive.as_str().to_owned()),
        ("exit_status", report.exit_status().code().to_string()),
    ];
    if let Some(verdict) = report.verdict() {
        properties.insert(0, ("verdict", verdict.as_str().to_owned()));
    }
    properties
        .extend(report.gate.settings.iter().map(|setting| ("gate_setting", setting.to_string())));
    properties.into_iter().map(|(name, value)| (XmlString::new(name), line(&value))).collect()
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
            message: first.title.get(lang).to_owned(),
            text,
        },
        None => Body::Output(text),
    }
}

/// "Explained by X": the finding that explains those of `id`.
fn explain_folding(report: &Report, id: &str, lang: Lang) -> String {
    let root = report
        .findings
        .iter()
        .find(|finding| finding.consequences.iter().any(|consequence| consequence.id == id));
    let id = root.map_or("", |root| root.id.as_str());
    ui::ExplainedBy { id }.text().get(lang).to_owned()
}

/// The family of an id in the catalog, else the part before the first hyphen, or before the slash
/// of an error code (`dcmi/-8005`).
fn family(id: &str) -> String {
    if let Some(family) = Catalog::builtin().family_of(id) {
        return family.family.clone();
    }
    id.split(['-', '/']).next().unwrap_or(id).to_ascii_lowercase()
}

/// A value on one line: every character that acts on a terminal or is invalid in XML is made
/// visible.
fn line(value: &str) -> XmlString {
    XmlString::new(show_noncharacters(escape_line(value)))
}

/// Like [`line()`], for the content of an element, which keeps its line feeds.
fn text(value: &str) -> XmlString {
    let lines: Vec<Cow<'_, str>> = value.split('\n').map(escape_line).collect();
    XmlString::new(show_noncharacters(lines.join("\n").into()))
}

/// Makes U+FFFE and U+FFFF visible: XML 1.0 cannot represent them, and no terminal acts on them.
fn show_noncharacters(value: Cow<'_, str>) -> Cow<'_, str> {
    if !value.contains(['\u{fffe}', '\u{ffff}']) {
        return value;
    }
    value.replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader of the XML gets exactly the filtered text: the library drops nothing more.
    #[test]
    fn control_and_forbidden_characters_become_visible() {
        assert_eq!(
            line("a<b>&\"\n\t\u{1b}[31m\u{9b}\u{202e}\u{ffff}").as_str(),
            "a<b>&\"\\n\\t\\x1b[31m\\x9b\\u{202e}\\u{ffff}"
        );
        assert_eq!(text("]]>\r\n\tb\u{fffe}").as_str(), "]]>\\r\n\\tb\\u{fffe}");
    }
}
