//! Reports as one self-contained page: no script, no network, light or dark as the reader likes,
//! in both languages.
//!
//! Everything that comes from outside is escaped; the page forbids scripts besides. The language
//! is chosen by two radio buttons and the style sheet; without the style sheet both are there.

mod document;
mod finding;
mod items;
mod read;
mod versions;

use base::text::escape_html;
use std::io::{self, Write};

use super::plain::summary_line;
use super::{Style, gate};
use base::report::{CheckState, Report};
use base::text::{Lang, Text};
use data::{Catalog, ui};

pub use document::Document;
use document::{Fact, Gate, State, Table};
pub use read::read;

const STYLE: &str = include_str!("style.css");

/// Adds sections to a page.
pub(super) type ExtraSections<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Writes the report; `more` may add sections before its end.
pub(super) fn render(
    report: &Report,
    style: Style,
    more: Option<ExtraSections<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = Document::from(report);
    let title = document_title(&document);
    let wide = more.is_some();
    begin(&title, style.lang, wide, out)?;
    write_section(&document, 0, out)?;
    if let Some(more) = more {
        more(out)?;
    }
    end(out)
}

/// Writes a page with several reports, each by the name of where it comes from.
pub fn write_page(
    documents: &[(String, Document)],
    lang: Lang,
    out: &mut dyn Write,
) -> io::Result<()> {
    let title = match documents {
        [(_, document)] => document_title(document),
        _ => format!("ascend-doctor: {}", documents.len()),
    };
    begin(&title, lang, false, out)?;
    if documents.len() > 1 {
        writeln!(out, "<nav class=\"report\"><ul class=\"tiles\">")?;
        for (number, (_, document)) in documents.iter().enumerate() {
            let state = document.state();
            writeln!(
                out,
                "<li class=\"{}\"><b><span class=\"sign\" aria-hidden=\"true\">{}</span> \
                 <a href=\"#r{number}\">{}</a></b><small>{}</small></li>",
                state.class(),
                state.sign(),
                escape_html(&document_title(document)),
                bilingual_html(&state.label().text())
            )?;
        }
        writeln!(out, "</ul></nav>")?;
    }
    for (number, (name, document)) in documents.iter().enumerate() {
        writeln!(out, "<p class=\"source\">{}</p>", escape_html(name))?;
        write_section(document, number, out)?;
    }
    end(out)
}

fn document_title(document: &Document) -> String {
    format!("{} {}", document.command, document.subject).trim().to_owned()
}

fn begin(title: &str, lang: Lang, wide: bool, out: &mut dyn Write) -> io::Result<()> {
    let (code, en, zh) = match lang {
        Lang::En => ("en", " checked", ""),
        Lang::Zh => ("zh-CN", "", " checked"),
    };
    let title = escape_html(&format!("ascend-doctor {title}"));
    let language = ui::PAGE_LANGUAGE.text();
    let language = escape_html(language.get(lang));
    let wide = if wide { " wide" } else { "" };
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"{code}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <input class=\"pick\" type=\"radio\" name=\"lang\" id=\"lang-en\"{en}>\n\
         <input class=\"pick\" type=\"radio\" name=\"lang\" id=\"lang-zh\"{zh}>\n\
         <div class=\"bar\"><h1>ascend-doctor</h1>\
         <div class=\"langs\" role=\"group\" aria-label=\"{language}\">\
         <label for=\"lang-en\" lang=\"en\">English</label>\
         <label for=\"lang-zh\" lang=\"zh-CN\">中文</label></div></div>\n<div class=\"content{wide}\">"
    )
}

fn end(out: &mut dyn Write) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    writeln!(out, "</div>\n<footer>ascend-doctor {version}</footer>\n</main>\n</body>\n</html>")
}

/// Writes one report.
fn write_section(document: &Document, number: usize, out: &mut dyn Write) -> io::Result<()> {
    let state = document.state();
    writeln!(
        out,
        "<section class=\"report {}\" id=\"r{number}\">\n<div class=\"head\">\
         <div class=\"lamps\" aria-hidden=\"true\"><i></i><i></i><i></i></div>\
         <div><h2>{}</h2><p><strong>{}</strong> <span class=\"dim\">{}</span></p></div></div>",
        state.class(),
        escape_html(&document_title(document)),
        bilingual_html(&state.label().text()),
        bilingual_html(&counts(document))
    )?;
    if let Some(headline) = &document.headline {
        writeln!(out, "<p class=\"headline\"><strong>{}</strong></p>", bilingual_html(headline))?;
    }
    write_coverage(&document.coverage, out)?;
    for text in &document.no_verdict {
        let label = ui::UNANSWERED.text();
        writeln!(
            out,
            "<p class=\"note\"><b>{}</b> {}</p>",
            bilingual_html(&label),
            bilingual_html(text)
        )?;
    }
    overview(&document.overview, out)?;
    tiles(document, out)?;
    versions::write(document, out)?;
    if !document.findings.is_empty() {
        writeln!(out, "<h3>{}</h3>", bilingual_html(&ui::PAGE_FINDINGS.text()))?;
        for found in &document.findings {
            finding::write(found, out)?;
        }
    }
    for note in &document.notes {
        writeln!(out, "<p class=\"note\">{}</p>", bilingual_html(note))?;
    }
    let Gate { fail_on, on_inconclusive, settings } = document.gate.clone();
    if let Some(text) = gate::describe(&base::report::Gate { fail_on, on_inconclusive, settings }) {
        writeln!(out, "<p class=\"note\">{}</p>", bilingual_html(&text))?;
    }
    for list in &document.tables {
        write_table(list, out)?;
    }
    for patch in &document.patches {
        let lines: Vec<String> = patch.lines().map(escape_html).collect();
        writeln!(
            out,
            "<details open><summary><b>{}</b></summary><pre>{}</pre></details>",
            bilingual_html(&ui::PATCHES.text()),
            lines.join("\n")
        )?;
    }
    write_checks(document, CheckState::NotChecked, ui::NOT_CHECKED, out)?;
    write_checks(document, CheckState::Passed, ui::PASSED_LIST, out)?;
    write_checks(document, CheckState::NotApplicable, ui::NOT_APPLICABLE_LIST, out)?;
    write!(out, "<p class=\"source\">ascend-doctor {}", escape_html(&document.tool.version))?;
    if let Some(time) = document.ended.and_then(format_time) {
        write!(out, " · {}", bilingual_html(&ui::PageCreated { time }.text()))?;
    }
    for part in &document.provenance {
        let said = |value: &str| format!("{} {value}", part.what);
        let both = Text::new(said(&part.value.en), said(&part.value.zh));
        write!(out, " · {}", bilingual_html(&both))?;
    }
    writeln!(out, "</p>\n</section>")
}

/// A time in seconds since 1970.
fn format_time(seconds: i64) -> Option<String> {
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    Some(jiff::tz::TimeZone::UTC.to_datetime(time).strftime("%Y-%m-%d %H:%M UTC").to_string())
}

fn counts(document: &Document) -> Text {
    let sum = document.summary();
    let rules = !document.checks.is_empty();
    Text::new(summary_line(sum, rules, Lang::En), summary_line(sum, rules, Lang::Zh))
}

fn overview(facts: &[Fact], out: &mut dyn Write) -> io::Result<()> {
    if facts.is_empty() {
        return Ok(());
    }
    writeln!(out, "<dl>")?;
    for fact in facts {
        writeln!(
            out,
            "<dt>{}</dt><dd>{}</dd>",
            bilingual_html(&fact.label),
            bilingual_html(&fact.value)
        )?;
    }
    writeln!(out, "</dl>")
}

/// A light for each family of rules; for each rule, if all are of one family.
fn tiles(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut families: Vec<String> = Vec::new();
    for check in &document.checks {
        let family = family(&check.id);
        if !families.contains(&family) {
            families.push(family);
        }
    }
    let mut lights: Vec<(Text, State, Option<Text>)> = Vec::new();
    if families.len() == 1 {
        for check in &document.checks {
            let state = document.state_of(|id| id == check.id);
            let name = Some(&check.name).filter(|name| !name.en.is_empty());
            let name = name.cloned().unwrap_or_else(|| Text::same(&check.id));
            lights.push((name, state, check.reason.clone()));
        }
    } else {
        for name in families {
            let mut catalog = Catalog::builtin().families();
            let known = catalog.find(|known| known.family.eq_ignore_ascii_case(&name));
            let label = known.map_or_else(|| Text::same(&name), |known| known.title.clone());
            lights.push((label, document.state_of(|id| family(id) == name), None));
        }
    }
    lights.retain(|(_, state, _)| *state != State::Nothing);
    if lights.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul class=\"tiles\">")?;
    for (label, state, reason) in lights {
        let said = match (state, reason) {
            (State::Unknown, Some(reason)) => reason,
            (State::Error, _) => ui::ERROR.text(),
            (State::Warning, _) => ui::WARNING.text(),
            (State::Unknown, None) => ui::NOT_CHECKED.text(),
            (State::Good | State::Nothing, _) => ui::PAGE_GOOD.text(),
        };
        writeln!(
            out,
            "<li class=\"{}\"><b>{}</b><small><span class=\"sign\" aria-hidden=\"true\">{}</span> {}</small></li>",
            state.class(),
            bilingual_html(&label),
            state.sign(),
            bilingual_html(&said)
        )?;
    }
    writeln!(out, "</ul>")
}

/// The family that the catalogue has an id in, else what the id begins with: ids of a family need
/// not begin with its name.
fn family(id: &str) -> String {
    let known = Catalog::builtin().family_of(id).map(|family| family.family.clone());
    known.unwrap_or_else(|| id.split('-').next().unwrap_or(id).to_ascii_lowercase())
}

fn write_table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<details open><summary><b>{}</b></summary>", bilingual_html(&table.title))?;
    write!(out, "<table class=\"list\"><thead><tr>")?;
    for cell in &table.head {
        write!(out, "<th scope=\"col\">{}</th>", bilingual_html(cell))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for row in &table.rows {
        write!(out, "<tr>")?;
        for cell in row {
            write!(out, "<td>{}</td>", bilingual_html(cell))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></details>")
}

/// A line for each link of the goal.
fn write_coverage(links: &[document::Link], out: &mut dyn Write) -> io::Result<()> {
    if links.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul class=\"links\">")?;
    for link in links.iter().filter(|link| link.state != "not_applicable") {
        // The state comes from a file: words of an unknown one are those of no evidence.
        let (mark, state) = match link.state.as_str() {
            "shown" if link.warnings.is_empty() => ("✓", ui::LINK_SHOWN),
            "shown" => ("!", ui::LINK_SHOWN),
            "contradicted" => ("✗", ui::LINK_CONTRADICTED),
            "waived" => ("~", ui::LINK_WAIVED),
            _ => ("?", ui::LINK_NOT_EXAMINED),
        };
        let state = state.text();
        write!(
            out,
            "<li class=\"{}\"><span aria-hidden=\"true\">{mark}</span> {} <span class=\"dim\">({})",
            escape_html(&link.state),
            bilingual_html(&link.name),
            bilingual_html(&state)
        )?;
        for id in link.findings.iter().chain(&link.warnings) {
            write!(out, " {}", escape_html(id))?;
        }
        for text in [&link.note, &link.reason, &link.settle].into_iter().flatten() {
            write!(out, " · {}", bilingual_html(text))?;
        }
        writeln!(out, "</span></li>")?;
    }
    writeln!(out, "</ul>")
}

/// The rules with this outcome.
fn write_checks(
    document: &Document,
    state: CheckState,
    heading: ui::Label,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rules: Vec<_> = document.checks.iter().filter(|rule| rule.state == state).collect();
    if rules.is_empty() {
        return Ok(());
    }
    let heading = bilingual_html(&heading.text());
    writeln!(out, "<details><summary>{heading} ({})</summary><ul>", rules.len())?;
    for rule in rules {
        write!(out, "<li>{}: {}", escape_html(&rule.id), bilingual_html(&rule.name))?;
        if let Some(reason) = &rule.reason {
            write!(out, " <span class=\"dim\">({})</span>", bilingual_html(reason))?;
        }
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ul></details>")
}

/// Words in both languages, of which the style sheet shows one.
fn bilingual_html(text: &Text) -> String {
    both_languages(text, prose_html)
}

/// The same for what stands inside of an element for code.
fn bilingual_code(text: &Text) -> String {
    both_languages(text, escape_html)
}

fn both_languages(text: &Text, escape: fn(&str) -> String) -> String {
    if text.en == text.zh {
        return escape(&text.en);
    }
    format!(
        "<span class=\"en\" lang=\"en\">{}</span><span class=\"zh\" lang=\"zh-CN\">{}</span>",
        escape(&text.en),
        escape(&text.zh)
    )
}

/// Words: what stands between backticks is code, all else is escaped.
fn prose_html(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut out = String::with_capacity(text.len() + 16);
    for (number, part) in parts.iter().enumerate() {
        let inside = number % 2 == 1;
        let closed = number + 1 < parts.len();
        match (inside, closed) {
            (true, true) if !part.is_empty() => {
                out.push_str(&format!("<code>{}</code>", escape_html(part)));
            }
            (true, _) => {
                out.push_str(&format!("`{}{}", escape_html(part), if closed { "`" } else { "" }));
            }
            (false, _) => out.push_str(&escape_html(part)),
        }
    }
    out
}

/// The same inside of a drawing.
fn bilingual_tspans(text: &Text) -> String {
    if text.en == text.zh {
        return escape_html(&text.en);
    }
    let (en, zh) = (escape_html(&text.en), escape_html(&text.zh));
    format!("<tspan class=\"en\">{en}</tspan><tspan class=\"zh\">{zh}</tspan>")
}

#[cfg(test)]
mod tests;
