//! A finding, folded in: what is wrong, why, by which evidence, what to do.

use std::io::{self, Write};

use super::{bilingual_code, bilingual_html};
use crate::plain::{consequences, show_evidence};
use base::report::{Finding, Severity};
use base::text::escape_html;
use base::text::{Lang, Text};
use data::ui;

/// As much evidence as is shown at once; the rest is folded in once more.
const SHOWN: usize = 8;

pub(super) fn write(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let level = finding.severity.as_str();
    // What has to be read is open.
    let open = if finding.severity == Severity::Error { " open" } else { "" };
    writeln!(
        out,
        "<details class=\"finding {level}\"{open}><summary><b>{} {}</b> {}</summary>",
        bilingual_html(&ui::severity(finding.severity).text()),
        escape_html(&finding.id),
        bilingual_html(&finding.title)
    )?;
    if finding.cause != Text::default() {
        writeln!(out, "<p>{}</p>", bilingual_html(&finding.cause))?;
    }
    if !finding.fix.is_empty() {
        writeln!(out, "<h4>{}</h4>\n<ol>", bilingual_html(&ui::WHAT_TO_DO.text()))?;
        for step in &finding.fix {
            write!(out, "<li>{}", bilingual_html(&step.text))?;
            if let Some(run) = &step.run {
                write!(out, "<pre>{}</pre>", escape_html(run))?;
            }
            writeln!(out, "</li>")?;
        }
        writeln!(out, "</ol>")?;
    }
    if !finding.evidence.is_empty() {
        writeln!(out, "<h4>{}</h4>\n<ul>", bilingual_html(&ui::PAGE_EVIDENCE.text()))?;
        for (number, evidence) in finding.evidence.iter().enumerate() {
            if number == SHOWN {
                let more = finding.evidence.len() - SHOWN;
                let more = ui::More { n: more }.text();
                writeln!(out, "</ul><details><summary>{}</summary><ul>", bilingual_html(&more))?;
            }
            let said = |lang| show_evidence(evidence, lang);
            let text = Text::new(said(Lang::En), said(Lang::Zh));
            writeln!(out, "<li><code>{}</code></li>", bilingual_code(&text))?;
        }
        writeln!(out, "</ul>{}", if finding.evidence.len() > SHOWN { "</details>" } else { "" })?;
    }
    let explained = consequences(finding);
    if !explained.is_empty() {
        let list = escape_html(&explained.join(", "));
        writeln!(out, "<p>{} {list}</p>", bilingual_html(&ui::EXPLAINS.text()))?;
    }
    if !finding.refs.is_empty() {
        writeln!(out, "<details><summary>{}</summary><ul>", bilingual_html(&ui::SOURCES.text()))?;
        for source in &finding.refs {
            writeln!(out, "<li>{}</li>", escape_html(source))?;
        }
        writeln!(out, "</ul></details>")?;
    }
    writeln!(out, "</details>")
}
