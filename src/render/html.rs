//! A report as one self-contained page: no script, no network, light or dark as the reader likes.
//!
//! Everything that comes from outside is escaped; the page forbids scripts besides.

use std::io::{self, Write};

use super::Style;
use super::plain::{consequences, show_evidence, summary_line};
use crate::report::{Finding, Report, Table, Verdict};
use crate::text::{Lang, escape_line, word};

const STYLE: &str = include_str!("html.css");

/// Writes the report; `more` may add sections before the end of the page.
pub(super) fn render(
    report: &Report,
    style: Style,
    more: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lang = style.lang;
    let title = escaped(&format!("ascend-doctor {} {}", report.command, report.subject));
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>",
        match lang {
            Lang::En => "en",
            Lang::Zh => "zh-CN",
        }
    )?;
    writeln!(out, "<dl>")?;
    for (label, value) in &report.overview {
        writeln!(
            out,
            "<dt>{}</dt><dd>{}</dd>",
            escaped(label.get(lang)),
            escaped(value.get(lang))
        )?;
    }
    writeln!(out, "</dl>\n<p><strong>{}</strong></p>", escaped(&summary_line(report, lang)))?;
    for note in &report.notes {
        writeln!(out, "<p>{}</p>", escaped(note.get(lang)))?;
    }
    for text in &report.no_verdict {
        writeln!(
            out,
            "<p><strong>{}</strong> {}</p>",
            escaped(&word("no_verdict", lang)),
            escaped(text.get(lang))
        )?;
    }
    for found in &report.findings {
        finding(found, lang, out)?;
    }
    for list in &report.tables {
        table(list, lang, out)?;
    }
    for patch in &report.patches {
        writeln!(
            out,
            "<details open><summary><b>{}</b></summary><pre>{}</pre></details>",
            escaped(&word("patches", lang)),
            escaped(patch)
        )?;
    }
    unanswered(report, lang, out)?;
    more(out)?;
    write!(out, "<footer>ascend-doctor {}", env!("CARGO_PKG_VERSION"))?;
    for (what, value) in &report.provenance {
        write!(out, " · {}", escaped(&format!("{what} {value}")))?;
    }
    writeln!(out, "</footer>\n</body>\n</html>")
}

fn finding(finding: &Finding, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let level = finding.severity.as_str();
    writeln!(
        out,
        "<details class=\"finding {level}\"><summary><b>{} {}</b> {}</summary>",
        escaped(&word(level, lang)),
        escaped(&finding.id),
        escaped(finding.title.get(lang))
    )?;
    writeln!(out, "<p>{}</p>", escaped(finding.cause.get(lang)))?;
    if !finding.evidence.is_empty() {
        writeln!(out, "<ul>")?;
        for evidence in &finding.evidence {
            writeln!(out, "<li><code>{}</code></li>", escaped(&show_evidence(evidence, lang)))?;
        }
        writeln!(out, "</ul>")?;
    }
    if !finding.fix.is_empty() {
        writeln!(out, "<p>{}</p>\n<ol>", escaped(&word("fix", lang)))?;
        for step in &finding.fix {
            write!(out, "<li>{}", escaped(step.text.get(lang)))?;
            if let Some(run) = &step.run {
                write!(out, "<pre>{}</pre>", escaped(run))?;
            }
            writeln!(out, "</li>")?;
        }
        writeln!(out, "</ol>")?;
    }
    let explained = consequences(finding);
    if !explained.is_empty() {
        let list = escaped(&explained.join(", "));
        writeln!(out, "<p>{} {list}</p>", escaped(&word("explains", lang)))?;
    }
    writeln!(out, "</details>")
}

fn table(table: &Table, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<details open><summary><b>{}</b></summary>", escaped(table.title.get(lang)))?;
    write!(out, "<table class=\"list\"><tr>")?;
    for cell in &table.head {
        write!(out, "<th>{}</th>", escaped(cell.get(lang)))?;
    }
    writeln!(out, "</tr>")?;
    for row in &table.rows {
        write!(out, "<tr>")?;
        for cell in row {
            write!(out, "<td>{}</td>", escaped(cell.get(lang)))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</table></details>")
}

fn unanswered(report: &Report, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<_> =
        report.results.iter().filter(|rule| rule.verdict == Verdict::NotChecked).collect();
    if rules.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<details><summary>{} ({})</summary><ul>",
        escaped(&word("not_checked", lang)),
        rules.len()
    )?;
    for rule in rules {
        let reason = rule.reason.as_ref().map_or("", |reason| reason.get(lang));
        let name = rule.name.get(lang);
        writeln!(out, "<li>{}: {} ({})</li>", rule.id, escaped(name), escaped(reason))?;
    }
    writeln!(out, "</ul></details>")
}

/// Text that is neither markup nor acts on the reading order.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in escape_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(escaped("<b a='x' b=\"y\">&"), "&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;");
        assert_eq!(escaped("\u{202e}x\x1b"), "\\u{202e}x\\x1b");
    }
}
