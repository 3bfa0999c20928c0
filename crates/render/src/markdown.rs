//! Markdown for pasting into an issue: a summary, then every finding with its evidence.
//!
//! Nothing from the examined machine becomes markup: prose is escaped, values stay in code spans,
//! evidence in fenced blocks whose fence is longer than any run of backticks inside.

use std::io::{self, Write};

use super::Style;
use super::coverage::{detail, headline, mark, open_points};
use super::gate;
use super::plain::{list_explained, show_evidence, summary_line};
use base::report::{CheckState, Coverage, Finding, Need, Report};
use base::text::{Lang, escape, escape_line};
use data::ui;

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    writeln!(out, "## ascend-doctor {}: {}\n", report.command, escape_prose(&report.subject))?;
    if let Some(headline) = headline(report, lang) {
        writeln!(out, "**{}**\n", escape_prose(&headline))?;
    }
    if let Some(proof) = &report.proof {
        for link in &proof.links {
            if matches!(link.coverage, Coverage::NotApplicable { .. }) {
                continue;
            }
            let (name, detail) = (escape_prose(link.name.get(lang)), detail(link, lang));
            let mark = mark(link);
            if detail.is_empty() {
                writeln!(out, "- {mark} {name}")?;
            } else {
                writeln!(out, "- {mark} {name}: {}", escape_prose(&detail))?;
            }
        }
        writeln!(out)?;
    }
    if !report.overview.is_empty() {
        writeln!(out, "| {} | {} |\n| --- | --- |", ui::ITEM.get(lang), ui::VALUE.get(lang))?;
        for (label, value) in &report.overview {
            writeln!(
                out,
                "| {} | {} |",
                escape_prose(label.get(lang)),
                escape_prose(value.get(lang))
            )?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "**{}**\n",
        escape_prose(&summary_line(report.summary(), !report.results.is_empty(), lang))
    )?;
    if report.findings.len() > 1 {
        write_table(&report.findings, lang, out)?;
    }
    for found in &report.findings {
        write_finding(found, lang, out)?;
    }
    for list in &report.tables {
        writeln!(out, "### {}\n", escape_prose(list.title.get(lang)))?;
        let head: Vec<String> = list.head.iter().map(|cell| escape_prose(cell.get(lang))).collect();
        writeln!(out, "| {} |\n|{}", head.join(" | "), " --- |".repeat(head.len()))?;
        for row in &list.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape_prose(cell.get(lang))).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        writeln!(out)?;
    }
    if !report.patches.is_empty() {
        writeln!(out, "### {}\n", ui::PATCHES.get(lang))?;
        for patch in &report.patches {
            write_block("", "diff", patch, out)?;
            writeln!(out)?;
        }
    }
    for (need, heading) in
        [(Need::Required, ui::INCONCLUSIVE), (Need::Supporting, ui::NOT_EXAMINED)]
    {
        let points = open_points(report, need, lang);
        if !points.is_empty() {
            writeln!(out, "### {}\n", heading.get(lang))?;
            for point in points {
                writeln!(out, "- {}", escape_prose(&point.text(lang)))?;
            }
            writeln!(out)?;
        }
    }
    write_unanswered(report, lang, out)?;
    for note in &report.notes {
        writeln!(out, "{}\n", escape_prose(note.get(lang)))?;
    }
    if let Some(gate) = gate::describe(&report.gate) {
        writeln!(out, "{}\n", escape_prose(gate.get(lang)))?;
    }
    let mut foot = vec![format!("ascend-doctor {}", env!("CARGO_PKG_VERSION"))];
    foot.push(ui::ExitStatus { n: report.exit_status().code() }.text().get(lang).to_owned());
    foot.extend(
        report
            .provenance
            .iter()
            .map(|(what, value)| escape_prose(&format!("{what} {}", value.get(lang)))),
    );
    writeln!(out, "<sub>{}</sub>", foot.join(" · "))
}

fn write_table(findings: &[Finding], lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| {} | {} | {} |\n| --- | --- | --- |",
        ui::LEVEL.get(lang),
        ui::FINDING.get(lang),
        ui::STATEMENT.get(lang)
    )?;
    for finding in findings {
        writeln!(
            out,
            "| {} | {} | {} |",
            ui::severity(finding.severity).get(lang),
            code_span(&finding.id),
            escape_prose(finding.title.get(lang))
        )?;
    }
    writeln!(out)
}

fn write_finding(finding: &Finding, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "### {} {}: {}\n",
        ui::severity(finding.severity).get(lang),
        code_span(&finding.id),
        escape_prose(finding.title.get(lang))
    )?;
    if !finding.cause.get(lang).is_empty() {
        writeln!(out, "{}\n", escape_prose(finding.cause.get(lang)))?;
    }
    if !finding.evidence.is_empty() {
        writeln!(out, "**{}**\n", ui::SEEN.get(lang))?;
        let lines: Vec<String> =
            finding.evidence.iter().map(|evidence| show_evidence(evidence, lang)).collect();
        write_block("", "text", &lines.join("\n"), out)?;
        writeln!(out)?;
    }
    if !finding.fix.is_empty() {
        writeln!(out, "**{}**\n", ui::FIX.get(lang))?;
        for (number, step) in (1..).zip(&finding.fix) {
            let bullet = format!("{number}. ");
            writeln!(out, "{bullet}{}", escape_prose(step.text.get(lang)))?;
            if let Some(run) = &step.run {
                writeln!(out)?;
                write_block(&" ".repeat(bullet.len()), "sh", &escape_line(run), out)?;
            }
        }
        writeln!(out)?;
    }
    let explained = list_explained(finding);
    if !explained.is_empty() {
        let spans: Vec<String> = explained.iter().map(|one| code_span(one)).collect();
        writeln!(out, "**{}** {}\n", ui::EXPLAINS.get(lang), spans.join(", "))?;
    }
    Ok(())
}

/// The rules without a result, collapsed for the reader of the issue.
fn write_unanswered(report: &Report, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<_> =
        report.results.iter().filter(|rule| rule.state == CheckState::NotChecked).collect();
    if rules.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details><summary>{} ({})</summary>\n", ui::NOT_CHECKED.get(lang), rules.len())?;
    for rule in rules {
        let reason = rule.reason.as_ref().map_or("", |reason| reason.get(lang));
        writeln!(
            out,
            "- {} {}: {}",
            code_span(rule.id),
            escape_prose(rule.name.get(lang)),
            escape_prose(reason)
        )?;
    }
    writeln!(out, "\n</details>\n")
}

/// A fenced block.
pub(super) fn write_block(
    indent: &str,
    language: &str,
    text: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = escape(text);
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    writeln!(out, "{indent}{fence}{language}")?;
    for line in text.lines() {
        writeln!(out, "{indent}{line}")?;
    }
    writeln!(out, "{indent}{fence}")
}

/// A code span that can contain any text, including backticks and, in tables, vertical bars.
pub(super) fn code_span(text: &str) -> String {
    let text = escape_line(text).replace('|', "\\|");
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Prose: text between backticks becomes a code span, everything else is escaped.
pub fn escape_prose(text: &str) -> String {
    let text = escape_line(text);
    let parts: Vec<&str> = text.split('`').collect();
    let mut out = String::with_capacity(text.len() + 16);
    for (number, part) in parts.iter().enumerate() {
        let inside = number % 2 == 1;
        let closed = number + 1 < parts.len();
        if inside && closed && !part.is_empty() {
            out.push_str(&code_span(part));
        } else {
            if inside && !closed {
                out.push_str("\\`");
            }
            escape_markup(part, &mut out);
        }
    }
    out
}

fn escape_markup(text: &str, out: &mut String) {
    let mut previous = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let inside_word =
            previous.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '_' if inside_word => out.push(c),
            '\\' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
        previous = c;
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_carry_no_markup() {
        assert_eq!(escape_prose("<img src=x> [a](b) *c*"), "&lt;img src=x&gt; \\[a\\](b) \\*c\\*");
        assert_eq!(escape_prose("torch_npu _x_ $HOME"), "torch_npu \\_x\\_ \\$HOME");
    }

    #[test]
    fn code_spans_stay_and_cannot_be_left() {
        assert_eq!(escape_prose("`/a_b|c` is gone"), "`/a_b\\|c` is gone");
        assert_eq!(escape_prose("`a` <b>` c"), "`a` &lt;b&gt;\\` c");
    }

    #[test]
    fn the_fence_is_longer_than_any_run_inside() {
        let mut out = Vec::new();
        write_block("", "text", "a ```` b", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "`````text\na ```` b\n`````\n");
    }
}
