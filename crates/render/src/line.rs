//! One line for health checks: schedulers and monitors show a reason, not a report.

use std::io::{self, Write};

use super::Style;
use base::report::{ExitStatus, Report};
use base::text::{Lang, escape_line};
use data::{sentence, word};

/// Writes the gravest finding that fails the run, or why there is no verdict, or that all is well.
/// The order of the words puts what matters first: readers cut lines.
pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    let failing: Vec<_> = report.findings.iter().filter(|finding| report.fails(finding)).collect();
    let line = match (report.exit_status(), failing.first()) {
        (ExitStatus::Findings, Some(first)) => {
            let more = match failing.len() - 1 {
                0 => String::new(),
                n => format!(" (+{n})"),
            };
            format!("{}{more}: {}", first.id, first.title.get(lang))
        }
        (ExitStatus::Inconclusive, _) => no_verdict(report, lang),
        _ => {
            let passed = sentence("all_passed", &[("passed", report.summary().passed.to_string())]);
            format!("OK: {}", passed.get(lang))
        }
    };
    writeln!(out, "{}", escape_line(&line))
}

/// Why there is no verdict.
pub(super) fn no_verdict(report: &Report, lang: Lang) -> String {
    let reason = report.no_verdict.first().map_or("", |text| text.get(lang));
    format!("{}: {reason}", word("no_verdict", lang))
}
