//! Annotations of GitHub Actions: one workflow command per place of a finding.
//!
//! The runner reads `::error file=…,line=…,title=…::message` from the log of a step. Unescaped text
//! of the examined machine could add properties, or separate commands.

use std::io::{self, Write};

use super::Style;
use super::concise::places;
use super::coverage::headline;
use super::line::open_reason;
use base::report::{Evidence, EvidenceKind, ExitStatus, Finding, Report, Severity};
use base::text::{Lang, escape_line};
use data::ui;

/// Writes the findings, and the verdict if no finding explains the exit status.
pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    for finding in &report.findings {
        for place in places(finding) {
            writeln!(out, "{}", annotation(finding, place, lang))?;
        }
    }
    match report.exit_status() {
        ExitStatus::Inconclusive => {
            write_verdict(&ui::INCONCLUSIVE.get(lang), &open_reason(report, lang), out)
        }
        ExitStatus::Findings if !report.findings.iter().any(|found| report.fails(found)) => {
            let headline = headline(report, lang).unwrap_or_default();
            write_verdict("ascend-doctor", &headline, out)
        }
        _ => Ok(()),
    }
}

fn write_verdict(title: &str, message: &str, out: &mut dyn Write) -> io::Result<()> {
    let (title, message) = (escape_property(title), escape_data(message));
    writeln!(out, "::error title={title}::{message}")
}

fn annotation(finding: &Finding, place: Option<&Evidence>, lang: Lang) -> String {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let mut properties = Vec::new();
    if let Some(file) = place.filter(|place| place.kind == EvidenceKind::File) {
        properties.push(format!("file={}", escape_property(&file.source)));
        if let Some(line) = file.line.filter(|&line| line > 0) {
            properties.push(format!("line={line}"));
        }
    }
    properties.push(format!("title={}", escape_property(&finding.id)));
    let steps = finding.fix.iter().map(|step| step.text.get(lang));
    let parts = [finding.title.get(lang), finding.cause.get(lang)].into_iter().chain(steps);
    let lines: Vec<String> = parts.filter(|part| !part.is_empty()).map(escape_data).collect();
    format!("::{level} {}::{}", properties.join(","), lines.join("%0A"))
}

/// A message: line breaks within it become visible text first.
fn escape_data(text: &str) -> String {
    escape_line(text).replace('%', "%25")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::report::FixStep;
    use base::text::Text;

    #[test]
    fn text_of_a_machine_adds_no_command() {
        let mut finding = Finding::remark("PY-DUP");
        finding.severity = Severity::Error;
        finding.title = Text::same("100 %\n::error::x");
        finding.fix = vec![FixStep { text: Text::same("Remove it"), run: None }];
        let place = Evidence::file("a,line=1::b.py\r").line(7);
        assert_eq!(
            annotation(&finding, Some(&place), Lang::En),
            "::error file=a%2Cline=1%3A%3Ab.py\\r,line=7,title=PY-DUP::100 %25\\n::error::x%0ARemove it"
        );
    }

    #[test]
    fn other_evidence_is_no_file() {
        let finding = Finding::remark("A");
        let place = Evidence::env("PATH");
        assert_eq!(annotation(&finding, Some(&place), Lang::En), "::notice title=A::");
    }
}
