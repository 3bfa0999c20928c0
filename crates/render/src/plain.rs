//! A finding as plain lines without layout: for the formats that carry one block of text.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use super::Style;
use super::wrap::wrap;
use base::report::{Evidence, EvidenceKind, Finding, Report, RuleResult, Summary};
use base::text::{Lang, escape_line};
use data::ui;

/// Title, cause, evidence, fix and consequences, one statement per line, safe for a terminal.
pub(super) fn finding_lines(finding: &Finding, lang: Lang) -> Vec<String> {
    let label = |label: ui::Label, text: &str| labeled_sentence(&label.get(lang), text, lang);
    let mut lines = vec![format!(
        "{}[{}] {}",
        ui::severity(finding.severity).get(lang),
        finding.id,
        escape_line(finding.title.get(lang))
    )];
    if !finding.cause.get(lang).is_empty() {
        lines.push(label(ui::WHY, &escape_line(finding.cause.get(lang))));
    }
    for evidence in &finding.evidence {
        lines.push(label(ui::SEEN, &show_evidence(evidence, lang)));
    }
    for step in &finding.fix {
        lines.push(label(ui::FIX, &escape_line(step.text.get(lang))));
        if let Some(run) = &step.run {
            lines.push(format!("  $ {}", escape_line(run)));
        }
    }
    let explained = list_explained(finding);
    if !explained.is_empty() {
        lines.push(label(ui::EXPLAINS, &explained.join(", ")));
    }
    lines
}

/// A label and its text, with the colon of the language.
pub(super) fn labeled_sentence(label: &str, text: &str, lang: Lang) -> String {
    match lang {
        Lang::En => format!("{label}: {text}"),
        Lang::Zh => format!("{label}：{text}"),
    }
}

/// The ids that a finding explains, each once, in order.
pub(super) fn consequences(finding: &Finding) -> Vec<&str> {
    let mut ids: Vec<&str> = finding.consequences.iter().map(|f| f.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The consequences of a finding: IDs, each with the values in its evidence, such as
/// `aicore.timeout (op=MatMulV2, ranks=0-3)`. Safe for a terminal.
pub(super) fn list_explained(finding: &Finding) -> Vec<String> {
    let mut explained: Vec<String> = finding.consequences.iter().map(with_values).collect();
    explained.sort_unstable();
    explained.dedup();
    explained
}

fn with_values(consequence: &Finding) -> String {
    if consequence.values.is_empty() {
        return consequence.id.clone();
    }
    let values = consequence.values.iter().map(|(name, value)| format!("{name}={value}"));
    let values: Vec<String> = values.collect();
    escape_line(&format!("{} ({})", consequence.id, values.join(", "))).into_owned()
}

/// The reason why a rule has no result.
pub(super) fn reason_text(result: &RuleResult, lang: Lang) -> Cow<'_, str> {
    escape_line(result.reason.as_ref().map_or("", |reason| reason.get(lang)))
}

/// The head of a report: a line for each fact, wrapped next to its label.
pub(super) fn write_overview(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let labels = report.overview.iter().map(|(label, _)| label.get(style.lang).width());
    let widest = labels.max().unwrap_or(0);
    let start = widest + 4;
    let width = if style.width == 0 { 0 } else { style.width.saturating_sub(start).max(20) };
    for (label, value) in &report.overview {
        let label = label.get(style.lang);
        let pad = " ".repeat(widest.saturating_sub(label.width()));
        for (number, line) in wrap(&escape_line(value.get(style.lang)), width).iter().enumerate() {
            match number {
                0 => writeln!(out, "  {}{pad}  {line}", style.paint.dim(label))?,
                _ => writeln!(out, "{}{line}", " ".repeat(start))?,
            }
        }
    }
    Ok(())
}

/// The maximum number of shown characters of a value, in addition to the part that proves the
/// finding.
const EVIDENCE_WIDTH: usize = 160;

/// The source and the value, on one line. A variable without a value is unset.
pub(super) fn show_evidence(evidence: &Evidence, lang: Lang) -> String {
    let mut text = escape_line(&evidence.source).into_owned();
    if let Some(line) = evidence.line {
        text.push_str(&format!(":{line}"));
    }
    let said = evidence.said.as_ref().map(|said| said.get(lang));
    if let Some(value) = said.or(evidence.value.as_deref()) {
        let glue = if evidence.kind == EvidenceKind::Env { "=" } else { ": " };
        text.push_str(glue);
        text.push_str(&shorten(
            &escape_line(value),
            evidence.matched.as_deref().map(escape_line).as_deref(),
            EVIDENCE_WIDTH,
        ));
    } else if evidence.kind == EvidenceKind::Env {
        return ui::EnvNotSet { name: text }.text().get(lang).to_owned();
    }
    text
}

/// The number of findings by severity and of checks by outcome, in one sentence. For a run without
/// checks, the latter are omitted.
pub(super) fn summary_line(sum: Summary, checks: bool, lang: Lang) -> String {
    let Summary { errors, warnings, infos, passed, not_checked, not_applicable } = sum;
    let line = if checks {
        ui::Summary { errors, infos, not_applicable, not_checked, passed, warnings }.text()
    } else {
        ui::SummaryFindings { errors, infos, warnings }.text()
    };
    line.get(lang).to_owned()
}

/// The text, shortened to `limit` characters: keeps its beginning and `keep`, or, without `keep`,
/// omits its middle.
fn shorten(text: &str, keep: Option<&str>, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let half = limit / 2;
    let found =
        keep.filter(|keep| !keep.is_empty()).and_then(|keep| Some((text.find(keep)?, keep)));
    let (from, to) = match found {
        Some((at, keep)) => {
            let from = text[..at].chars().count();
            // Its surroundings give it a meaning.
            let kept = keep.chars().count();
            let around = half.saturating_sub(kept) / 2;
            (from.saturating_sub(around), (from + kept + around).min(count))
        }
        None => (count - half, count),
    };
    let part = |from: usize, to: usize| text.chars().skip(from).take(to - from).collect::<String>();
    let tail = if to < count { "…" } else { "" };
    if from <= half {
        // The kept part follows the beginning without a gap.
        let to = to.max(half);
        return format!("{}{}", part(0, to), if to < count { "…" } else { "" });
    }
    format!("{}…{}{tail}", part(0, half), part(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_lose_their_middle() {
        let short = shorten(&"驱".repeat(1000), None, 160);
        assert_eq!(short.chars().count(), 161);
        assert_eq!(shorten("abc", Some("b"), 3), "abc");
        assert_eq!(shorten("abcdefgh", Some("x"), 4), "ab…gh");
    }

    #[test]
    fn what_proves_a_finding_is_never_left_out() {
        let keep = "the ub address out of bounds";
        for before in 0..400 {
            let text = format!("{}{keep}{}", "驱a".repeat(before), "动b".repeat(400 - before));
            let short = shorten(&text, Some(keep), 160);
            assert!(short.contains(keep), "{before}: {short}");
            assert!(short.chars().count() <= 240, "{before}: {}", short.chars().count());
        }
        let long = "x".repeat(500);
        let text = format!("{}{long}{}", "a".repeat(300), "b".repeat(300));
        assert!(shorten(&text, Some(&long), 160).contains(&long));
    }
}
