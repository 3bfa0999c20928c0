//! Diagnostics in the form of GCC, which editors and their problem matchers read:
//! `path:line:column: severity: message [ID]`.
//!
//! Findings name lines without columns, and some name only a file. Editors require both numbers, so
//! a missing one is 1. A finding without a file starts with the name of the program, like
//! `cc1: error: …` of the compiler.

use std::io::{self, Write};

use super::Style;
use super::concise::places;
use super::coverage::headline;
use super::line::open_reason;
use base::report::{Evidence, EvidenceKind, ExitStatus, Finding, Report, Severity};
use base::text::escape_line;

/// The place of findings without a file.
const PROGRAM: &str = "ascend-doctor";

/// Writes a line for each place of each finding, and one for the reason of the exit status if no
/// finding explains it.
pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    for finding in &report.findings {
        for place in places(finding) {
            let line = gcc_line(finding, place, finding.title.get(lang));
            writeln!(out, "{}", escape_line(&line))?;
        }
    }
    let rest = match report.exit_status() {
        ExitStatus::Inconclusive => open_reason(report, lang),
        ExitStatus::Findings if !report.findings.iter().any(|found| report.fails(found)) => {
            headline(report, lang).unwrap_or_default()
        }
        _ => return Ok(()),
    };
    writeln!(out, "{PROGRAM}: error: {}", escape_line(&rest))
}

fn gcc_line(finding: &Finding, place: Option<&Evidence>, title: &str) -> String {
    let file = place.filter(|place| place.kind == EvidenceKind::File);
    let place = match file {
        Some(file) => format!("{}:{}:1", file.source, file.line.unwrap_or(1).max(1)),
        None => PROGRAM.to_owned(),
    };
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    format!("{place}: {severity}: {title} [{}]", finding.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_numbers_are_one_and_other_evidence_is_no_file() {
        let mut finding = Finding::remark("CANN-HOME");
        let line = |finding: &Finding| gcc_line(finding, places(finding)[0], "x");
        assert_eq!(line(&finding), "ascend-doctor: note: x [CANN-HOME]");
        finding.evidence = vec![Evidence::env("ASCEND_HOME_PATH")];
        assert_eq!(line(&finding), "ascend-doctor: note: x [CANN-HOME]");
        finding.severity = Severity::Error;
        finding.evidence = vec![Evidence::file("/etc/hccn.conf")];
        assert_eq!(line(&finding), "/etc/hccn.conf:1:1: error: x [CANN-HOME]");
        finding.evidence = vec![Evidence::file("a.py").line(7)];
        assert_eq!(line(&finding), "a.py:7:1: error: x [CANN-HOME]");
    }
}
