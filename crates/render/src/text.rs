//! The report as text for terminals.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use super::Style;
use super::coverage::{closing, headline, open_points, write_links};
use super::gate;
use super::plain::{labeled_sentence, list_explained, show_evidence, summary_line, write_overview};
use super::wrap::{wrap, wrap_hanging, write_command};
use base::report::{CheckState, Finding, FixStep, Need, Report, RuleResult, Severity, Table};
use base::text::{Text, escape, escape_line};
use data::ui;

/// The maximum number of pieces of evidence shown for one finding without `--verbose`.
const EVIDENCE_SHOWN: usize = 5;
/// The maximum number of lines written for a cause in logs without `--verbose`, and the minimum
/// number of pieces of evidence kept in them.
const CAUSE_LINES: usize = 25;
const EVIDENCE_KEPT: usize = 2;
/// The maximum number of rows of a table.
const ROWS_SHOWN: usize = 20;

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let page = Page { style };
    page.write_head(report, out)?;
    let mut open = false;
    let limit = (report.command == "translate-error" && !style.verbose).then_some(CAUSE_LINES);
    for finding in &report.findings {
        page.write_finding(finding, limit, out)?;
        open = page.is_short(finding);
    }
    if open {
        writeln!(out)?;
    }
    if !style.quiet {
        for table in &report.tables {
            page.write_table(table, out)?;
        }
        page.write_patches(report, out)?;
        page.write_unanswered(report, out)?;
        if style.verbose {
            page.write_list(report, CheckState::NotApplicable, ui::NOT_APPLICABLE_LIST, out)?;
            page.write_list(report, CheckState::Passed, ui::PASSED_LIST, out)?;
        }
        for note in &report.notes {
            page.write_paragraph("", &escape_line(note.get(style.lang)), out)?;
        }
    }
    page.write_foot(report, out)
}

fn count_lines<'a>(parts: impl IntoIterator<Item = &'a Vec<u8>>) -> usize {
    parts.into_iter().flatten().filter(|byte| **byte == b'\n').count()
}

struct Page {
    style: Style,
}

impl Page {
    fn write_head(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        if let Some(headline) = headline(report, self.style.lang) {
            for line in wrap(&headline, self.style.width) {
                writeln!(out, "{}", self.style.paint.bold(&line))?;
            }
            if self.style.quiet {
                return write_links(report, self.style, out);
            }
            writeln!(out)?;
        }
        if self.style.quiet {
            return Ok(());
        }
        let title = format!("ascend-doctor {}", report.command);
        writeln!(out, "{} {}", self.style.paint.bold(&title), escape_line(&report.subject))?;
        write_overview(report, self.style, out)?;
        writeln!(out)?;
        write_links(report, self.style, out)
    }

    /// Information needs no action: one statement is enough, and `--verbose` shows the rest. Such
    /// statements are listed without empty lines between them.
    fn is_short(&self, finding: &Finding) -> bool {
        finding.severity == Severity::Info && !self.style.verbose
    }

    /// Writes a finding. A limit of lines is met by omitting evidence and steps from their ends;
    /// the title, the reason and the first step are always kept.
    fn write_finding(
        &self,
        finding: &Finding,
        limit: Option<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.write_title(finding, out)?;
        if self.is_short(finding) {
            return Ok(());
        }
        let verbose = self.style.verbose;
        let most = if verbose { usize::MAX } else { EVIDENCE_SHOWN };
        let mut evidence = self.evidence_parts(finding, most)?;
        let mut steps = self.step_parts(finding)?;
        let mut rest = Vec::new();
        if !finding.consequences.is_empty() {
            self.write_labeled(Some(ui::EXPLAINS), &list_explained(finding).join(", "), &mut rest)?;
        }
        let mut why = Vec::new();
        self.write_labeled(
            Some(ui::WHY),
            &escape_line(finding.cause.get(self.style.lang)),
            &mut why,
        )?;
        if let Some(limit) = limit {
            let mut title = Vec::new();
            self.write_title(finding, &mut title)?;
            // One line for each kind of omitted items.
            let fixed = count_lines([&title, &why, &rest]) + 2;
            let total = |evidence: &[Vec<u8>], steps: &[Vec<u8>]| {
                fixed + count_lines(evidence.iter().chain(steps))
            };
            while total(&evidence, &steps) > limit && evidence.len() > EVIDENCE_KEPT {
                evidence.pop();
            }
            while total(&evidence, &steps) > limit && steps.len() > 1 {
                steps.pop();
            }
            if total(&evidence, &steps) > limit && evidence.len() > 1 {
                evidence.truncate(1);
            }
        }
        out.write_all(&why)?;
        for part in &evidence {
            out.write_all(part)?;
        }
        self.write_left_out(finding.evidence.len() - evidence.len(), out)?;
        for part in &steps {
            out.write_all(part)?;
        }
        self.write_left_out(finding.fix.len() - steps.len(), out)?;
        out.write_all(&rest)?;
        if verbose {
            for reference in &finding.refs {
                self.write_labeled(Some(ui::SEE), &escape_line(reference), out)?;
            }
        }
        writeln!(out)
    }

    fn write_title(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        let Style { lang, paint, width, .. } = self.style;
        let mark = match finding.severity {
            Severity::Error => "✗",
            Severity::Warning => "!",
            Severity::Info => "i",
        };
        let level = ui::severity(finding.severity).get(lang);
        let head = format!("{mark} {level}[{}]", finding.id);
        let title = escape_line(finding.title.get(lang)).into_owned();
        for (number, line) in wrap_hanging(&format!("{head} {title}"), width, 4).iter().enumerate()
        {
            match line.strip_prefix(&head) {
                Some(rest) if number == 0 => {
                    writeln!(out, "{}{rest}", paint.severity(finding.severity, &head))?;
                }
                _ => writeln!(out, "{}{line}", if number == 0 { "" } else { "    " })?,
            }
        }
        Ok(())
    }

    /// The lines of each piece of evidence, of at most `most` pieces.
    fn evidence_parts(&self, finding: &Finding, most: usize) -> io::Result<Vec<Vec<u8>>> {
        let shown = finding.evidence.iter().take(most).enumerate();
        let part = |(number, evidence)| {
            let mut part = Vec::new();
            let label = (number == 0).then_some(ui::SEEN);
            self.write_labeled(label, &show_evidence(evidence, self.style.lang), &mut part)?;
            Ok(part)
        };
        shown.map(part).collect()
    }

    /// The lines of each step.
    fn step_parts(&self, finding: &Finding) -> io::Result<Vec<Vec<u8>>> {
        let part = |(number, step): (usize, &FixStep)| {
            let mut part = Vec::new();
            let label = (number == 0).then_some(ui::FIX);
            self.write_labeled(label, &escape_line(step.text.get(self.style.lang)), &mut part)?;
            if let Some(run) = &step.run {
                write_command(&format!("$ {run}"), 10, self.style, &mut part)?;
            }
            Ok(part)
        };
        finding.fix.iter().enumerate().map(part).collect()
    }

    fn write_left_out(&self, count: usize, out: &mut dyn Write) -> io::Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.write_labeled(None, ui::More { n: count }.text().get(self.style.lang), out)
    }

    /// Writes a label in a separate column and a wrapped text next to it.
    fn write_labeled(
        &self,
        label: Option<ui::Label>,
        text: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let label = label.map_or_else(String::new, |label| label.get(self.style.lang));
        self.write_hanging(&label, text, out)
    }

    fn write_hanging(&self, label: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        const INDENT: usize = 4;
        const COLUMN: usize = 6;
        let label_width = label.width();
        let start = INDENT + COLUMN.max(label_width + 1);
        let width =
            if self.style.width == 0 { 0 } else { self.style.width.saturating_sub(start).max(20) };
        for (number, line) in wrap(text, width).iter().enumerate() {
            if number == 0 {
                let pad = " ".repeat(start - INDENT - label_width);
                writeln!(out, "    {}{pad}{line}", self.style.paint.dim(label))?;
            } else {
                writeln!(out, "{}{line}", " ".repeat(start))?;
            }
        }
        Ok(())
    }

    fn write_paragraph(&self, indent: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let width = match self.style.width {
            0 => 0,
            width => width.saturating_sub(indent.len()).max(20),
        };
        for line in wrap(text, width) {
            writeln!(out, "{indent}{line}")?;
        }
        Ok(())
    }

    fn write_table(&self, table: &Table, out: &mut dyn Write) -> io::Result<()> {
        let lang = self.style.lang;
        writeln!(out, "{}", self.style.paint.bold(table.title.get(lang)))?;
        let head = table.head.iter().map(|cell| cell.get(lang).to_owned()).collect();
        let shown = if self.style.verbose { usize::MAX } else { ROWS_SHOWN };
        let cells = |row: &Vec<Text>| row.iter().map(|cell| cell.get(lang).to_owned()).collect();
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(table.rows.iter().take(shown).map(cells)).collect();
        let hidden = table.rows.len().saturating_sub(shown);
        super::page::write_table(&rows, self.style, out)?;
        if hidden > 0 {
            let more = ui::More { n: hidden }.text();
            self.write_paragraph("  ", more.get(lang), out)?;
        }
        writeln!(out)
    }

    /// Writes diffs unchanged, so that they can be copied.
    fn write_patches(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        if report.patches.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}", self.style.paint.bold(&ui::PATCHES.get(self.style.lang)))?;
        for patch in &report.patches {
            write!(out, "{}", escape(patch))?;
        }
        writeln!(out)
    }

    fn write_unanswered(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let lang = self.style.lang;
        for (need, heading) in
            [(Need::Required, ui::UNANSWERED), (Need::Supporting, ui::NOT_EXAMINED)]
        {
            // The lines at the top contain the required links of a goal.
            if need == Need::Required && report.proof.is_some() {
                continue;
            }
            let points = open_points(report, need, lang);
            if points.is_empty() {
                continue;
            }
            writeln!(out, "{}", self.style.paint.bold(&heading.get(lang)))?;
            for point in points {
                self.write_paragraph("  ", &point.reason, out)?;
                if !point.settle.is_empty() {
                    let settle = labeled_sentence(&ui::SETTLE.get(lang), &point.settle, lang);
                    self.write_paragraph("    ", &settle, out)?;
                }
            }
            writeln!(out)?;
        }
        if self.style.verbose {
            self.write_list(report, CheckState::NotChecked, ui::NOT_CHECKED, out)?;
        }
        Ok(())
    }

    /// The rules in this state: grouped by reason, or one per line with their names.
    fn write_list(
        &self,
        report: &Report,
        state: CheckState,
        heading: ui::Label,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let lang = self.style.lang;
        let rules: Vec<&RuleResult> =
            report.results.iter().filter(|result| result.state == state).collect();
        if rules.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}", self.style.paint.bold(&heading.get(lang)))?;
        let mut groups: Vec<(&Text, Vec<&str>)> = Vec::new();
        for rule in rules {
            let text = rule.reason.as_ref().unwrap_or(&rule.name);
            match groups.iter_mut().find(|(known, _)| *known == text) {
                Some((_, ids)) => ids.push(rule.id),
                None => groups.push((text, vec![rule.id])),
            }
        }
        for (text, ids) in groups {
            let line = labeled_sentence(&escape_line(text.get(lang)), &ids.join(", "), lang);
            for (number, part) in wrap(&line, self.style.width.saturating_sub(4)).iter().enumerate()
            {
                writeln!(out, "{}{part}", if number == 0 { "  " } else { "    " })?;
            }
        }
        writeln!(out)
    }

    fn write_foot(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let lang = self.style.lang;
        self.write_paragraph(
            "",
            &summary_line(report.summary(), !report.results.is_empty(), lang),
            out,
        )?;
        if let Some(gate) = gate::describe(&report.gate) {
            self.write_paragraph("", gate.get(lang), out)?;
        }
        if self.style.quiet {
            return Ok(());
        }
        if let Some(first) = report.findings.first() {
            let (id, command) = (&first.id, report.invocation);
            let hint = if self.style.verbose {
                ui::NextExplain { id }.text()
            } else {
                ui::NextExplainOrVerbose { command, id }.text()
            };
            self.write_paragraph("", hint.get(lang), out)?;
        }
        if self.style.verbose {
            for (what, value) in &report.provenance {
                let line = format!("{what} {}", value.get(lang));
                self.write_hanging(&ui::DATA_USED.get(lang), &escape_line(&line), out)?;
            }
        }
        if let Some(sentence) = closing(report, lang) {
            self.write_paragraph("", &sentence, out)?;
        }
        Ok(())
    }
}
