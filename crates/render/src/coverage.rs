//! The verdict as text: the sentence at the top, a line for each link, and the open points.

use std::io::{self, Write};

use super::Style;
use super::plain::labeled_sentence;
use super::wrap::wrap_hanging;
use base::report::{Coverage, Link, Need, Report, Verdict};
use base::text::{Lang, escape_line};
use data::{goals, ui};

/// The sentence at the top; lookups have none.
pub(super) fn headline(report: &Report, lang: Lang) -> Option<String> {
    let text = goals::headline(report)?;
    Some(escape_line(text.get(lang)).into_owned())
}

/// The sentence at the end of a check of a machine: the goal that it is ready for, or the first
/// step to take. A reader who scrolls to the end of a long report needs one of them.
pub(super) fn closing(report: &Report, lang: Lang) -> Option<String> {
    let proof = report.proof.as_ref().filter(|_| report.command == "check")?;
    let first = |is: fn(&Coverage) -> bool| {
        let mut required = proof.links.iter().filter(|link| link.need == Need::Required);
        Some(&required.find(|link| is(&link.coverage))?.coverage)
    };
    let step = match proof.verdict() {
        // Without a known purpose, a machine is ready for nothing.
        Verdict::Pass if proof.goal.id == "inventory" => return None,
        Verdict::Pass => return headline(report, lang),
        Verdict::Fail => {
            let broken = first(|coverage| matches!(coverage, Coverage::Contradicted { .. }))?;
            let Coverage::Contradicted { findings, .. } = broken else { return None };
            let cause = report.findings.iter().find(|found| findings.contains(&found.id))?;
            let step = cause.fix.first()?.text.get(lang);
            match lang {
                Lang::En => format!("{step} ({})", cause.id),
                Lang::Zh => format!("{step}（{}）", cause.id),
            }
        }
        Verdict::Inconclusive => {
            let open = first(|coverage| matches!(coverage, Coverage::NotExamined { .. }))?;
            let Coverage::NotExamined { settle, .. } = open else { return None };
            settle.get(lang).to_owned()
        }
    };
    Some(labeled_sentence(&ui::FIRST_STEP.get(lang), &escape_line(&step), lang))
}

/// A fact that could not be established.
pub(super) struct OpenPoint {
    /// The link, with its reason.
    pub(super) reason: String,
    /// The evidence that settles it.
    pub(super) settle: String,
}

impl OpenPoint {
    /// Reason and evidence in one line.
    pub(super) fn text(self, lang: Lang) -> String {
        if self.settle.is_empty() {
            return self.reason;
        }
        let settle = labeled_sentence(&ui::SETTLE.get(lang), &self.settle, lang);
        match lang {
            Lang::En => format!("{}. {settle}", self.reason),
            Lang::Zh => format!("{}。{settle}", self.reason),
        }
    }
}

/// The links that were not examined and have this need; for [`Need::Required`] also the reasons of
/// unanswered lookups.
pub(super) fn open_points(report: &Report, need: Need, lang: Lang) -> Vec<OpenPoint> {
    let links = report.proof.iter().flat_map(|proof| &proof.links);
    let links = links.filter(|link| link.need == need).filter_map(|link| {
        let Coverage::NotExamined { reason, settle } = &link.coverage else { return None };
        let reason = labeled_sentence(link.name.get(lang), reason.get(lang), lang);
        Some(OpenPoint {
            reason: escape_line(&reason).into_owned(),
            settle: escape_line(settle.get(lang)).into_owned(),
        })
    });
    let lookups = report.unanswered.iter().filter(|_| need == Need::Required);
    let lookups = lookups.map(|text| OpenPoint {
        reason: escape_line(text.get(lang)).into_owned(),
        settle: String::new(),
    });
    links.chain(lookups).collect()
}

/// The mark of a link: shown, shown with warnings, contradicted, open, waived, not applicable.
pub(super) fn mark(link: &Link) -> &'static str {
    match &link.coverage {
        Coverage::Shown if link.warnings.is_empty() => "✓",
        Coverage::Shown => "!",
        Coverage::Contradicted { .. } => "✗",
        Coverage::NotExamined { .. } => "?",
        Coverage::Waived { .. } => "~",
        Coverage::NotApplicable { .. } => "-",
    }
}

/// The text of a link behind its name.
pub(super) fn detail(link: &Link, lang: Lang) -> String {
    let text = match &link.coverage {
        Coverage::Shown if !link.warnings.is_empty() => link.warnings.join(", "),
        Coverage::Shown => link.note.as_ref().map_or("", |note| note.get(lang)).to_owned(),
        Coverage::Contradicted { findings, reason } => {
            let reason = reason.iter().map(|reason| reason.get(lang).to_owned());
            findings.iter().cloned().chain(reason).collect::<Vec<_>>().join(", ")
        }
        Coverage::NotExamined { reason, .. }
        | Coverage::Waived { reason }
        | Coverage::NotApplicable { reason } => reason.get(lang).to_owned(),
    };
    escape_line(&text).into_owned()
}

/// Writes a line for each link: required ones, and all others that were evaluated. Supporting links
/// without evidence come after the findings. Links that do not apply are omitted.
pub(super) fn write_links(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(proof) = &report.proof else { return Ok(()) };
    let shown = |link: &&Link| match link.coverage {
        Coverage::NotApplicable { .. } => style.verbose,
        Coverage::NotExamined { .. } => link.need == Need::Required,
        _ => true,
    };
    for link in proof.links.iter().filter(shown) {
        let name = link.name.get(style.lang);
        let detail = detail(link, style.lang);
        let text = if detail.is_empty() {
            name.to_owned()
        } else {
            labeled_sentence(name, &detail, style.lang)
        };
        let line = format!("{} {text}", mark(link));
        write_hanging(&line, "  ", "    ", style, out)?;
        if let Coverage::NotExamined { settle, .. } = &link.coverage {
            let settle = escape_line(settle.get(style.lang));
            let line = labeled_sentence(&ui::SETTLE.get(style.lang), &settle, style.lang);
            write_hanging(&line, "    ", "      ", style, out)?;
        }
    }
    writeln!(out)
}

fn write_hanging(
    text: &str,
    first: &str,
    rest: &str,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = if style.width == 0 { 0 } else { style.width.saturating_sub(rest.len()).max(20) };
    for (number, line) in wrap_hanging(text, width, 0).iter().enumerate() {
        writeln!(out, "{}{line}", if number == 0 { first } else { rest })?;
    }
    Ok(())
}
