//! One line for health checks: schedulers and monitors show a reason, not a report.

use std::io::{self, Write};

use super::Style;
use super::coverage::{headline, open_points};
use super::plain::labeled_sentence;
use base::report::{ExitStatus, Need, Report, Verdict};
use base::text::{Lang, escape_line};
use data::ui;

/// Writes the first finding that fails the run, or the first open point, or the proven claim.
/// Readers cut lines, so the result comes first.
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
        _ => match headline(report, lang) {
            Some(headline) if report.verdict() == Some(Verdict::Pass) => {
                labeled_sentence("OK", &headline, lang)
            }
            Some(headline) => headline,
            None => open_reason(report, lang),
        },
    };
    writeln!(out, "{}", escape_line(&line))
}

/// Why the result is inconclusive, with the evidence that settles it.
pub(super) fn open_reason(report: &Report, lang: Lang) -> String {
    let first = open_points(report, Need::Required, lang).into_iter().next();
    let reason = first.map(|point| point.text(lang)).unwrap_or_default();
    labeled_sentence(&ui::INCONCLUSIVE.get(lang), &reason, lang)
}
