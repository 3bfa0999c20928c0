//! One line per place of a finding, for CI logs and editors: `path:line: severity ID message`.

use std::io::{self, Write};

use super::Style;
use super::line::open_reason;
use base::report::{Evidence, EvidenceKind, ExitStatus, Finding, Report};
use base::text::escape_line;

/// Writes a line for each place of each finding, and a line for each reason of an inconclusive
/// result. A report without either is empty.
pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        for place in places(finding) {
            let line = concise_line(finding, place, finding.title.get(style.lang));
            writeln!(out, "{}", escape_line(&line))?;
        }
    }
    if report.exit_status() == ExitStatus::Inconclusive {
        writeln!(out, "{}", escape_line(&open_reason(report, style.lang)))?;
    }
    Ok(())
}

/// All lines of files; if there are none, the first file or else the first other evidence.
pub(super) fn places(finding: &Finding) -> Vec<Option<&Evidence>> {
    let is_file = |evidence: &&Evidence| evidence.kind == EvidenceKind::File;
    let lines = finding.evidence.iter().filter(is_file).filter(|evidence| evidence.line.is_some());
    let lines: Vec<Option<&Evidence>> = lines.map(Some).collect();
    if lines.is_empty() {
        return vec![finding.evidence.iter().find(is_file).or(finding.evidence.first())];
    }
    lines
}

fn concise_line(finding: &Finding, place: Option<&Evidence>, title: &str) -> String {
    let place = place.map_or_else(String::new, |at| match at.line {
        Some(line) => format!("{}:{line}: ", at.source),
        None => format!("{}: ", at.source),
    });
    format!("{place}{} {} {title}", finding.severity.as_str(), finding.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(finding: &Finding) -> Vec<String> {
        places(finding).into_iter().map(|place| concise_line(finding, place, "x")).collect()
    }

    #[test]
    fn each_line_of_a_file_is_a_place() {
        let mut finding = Finding::remark("CANN-HOME");
        assert_eq!(lines(&finding), ["info CANN-HOME x"]);
        finding.evidence = vec![Evidence::env("ASCEND_HOME_PATH")];
        assert_eq!(lines(&finding), ["ASCEND_HOME_PATH: info CANN-HOME x"]);
        for line in [7, 9] {
            let mut file = Evidence::file("a.py");
            file.line = Some(line);
            finding.evidence.push(file);
        }
        assert_eq!(lines(&finding), ["a.py:7: info CANN-HOME x", "a.py:9: info CANN-HOME x"]);
    }
}
