//! `check --from-text`: the facts that a text states, without an assessment.

use data::{OrFault as _, faults, ui};
use std::path::Path;

use serde::Serialize;

use super::argument_file::read_argument;
use super::output::Output;
use base::report::ExitStatus;
use base::text::{Lang, escape_line};
use facts::Facts;
use render::{Block, Format, page_markdown, page_text};
use triage::{Stated, facts_of, facts_table, merge, unstated};

/// The facts of a text. Their schema is separate: an empty member means "not stated" here, and "not
/// found" in the facts of a machine.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct StatedDocument {
    schema: &'static str,
    /// The stated facts in the form of `check --facts-only`. Empty members are unknown.
    facts: Facts,
    /// The stated facts with their lines.
    stated: Stated,
    /// Names of usual facts that the text does not state.
    not_known: Vec<String>,
}

/// Prints the facts. The exit status is 3 if there are none.
pub(super) fn run(path: &Path, output: &Output) -> anyhow::Result<ExitStatus> {
    let format = output.format();
    if !matches!(format, Format::Text | Format::Markdown) && !format.is_json() {
        anyhow::bail!(faults::FromTextFormat { format: format.as_str() }.fault());
    }
    let bytes = read_argument(path, pasted::MAX_TEXT as u64)?;
    let text = String::from_utf8_lossy(&bytes);
    let name = escape_line(&path.display().to_string()).into_owned();
    let stated = merge(vec![(name, pasted::read(&text))]);
    let status = if stated.is_empty() { ExitStatus::Inconclusive } else { ExitStatus::Clean };
    let not_known = unstated(&stated);
    if format.is_json() {
        let facts = facts_of(&stated);
        let schema = "ascend-doctor/stated/1";
        output
            .write_document(&StatedDocument { schema, facts, stated, not_known })
            .or_fault(|| faults::FailedToWriteFacts.fault())?;
        return Ok(output.gated(status));
    }
    output
        .write(|out, style| {
            let page = page(&stated, &not_known, style.lang);
            match format {
                Format::Markdown => page_markdown(&page, 2, out),
                _ => page_text(&page, style, out),
            }
        })
        .or_fault(|| faults::FailedToWriteFacts.fault())?;
    Ok(output.gated(status))
}

fn page(stated: &Stated, not_known: &[String], lang: Lang) -> Vec<Block> {
    let mut page = Vec::new();
    let words = |texts: &[base::text::Text]| {
        texts.iter().map(|text| text.get(lang).to_owned()).collect::<Vec<_>>()
    };
    match facts_table(stated) {
        Some(table) => {
            let rows = table.rows.iter().map(|row| words(row)).collect();
            page.push(Block::Table(words(&table.head), rows));
        }
        None => page.push(Block::Paragraph(ui::TRIAGE_FACTS_NONE.get(lang))),
    }
    if !stated.disputed.is_empty() {
        page.push(Block::Heading(ui::TRIAGE_DISPUTED_TITLE.get(lang)));
        let line = |one: &triage::FactOfText| format!("{} ({}:{})", one.value, one.file, one.line);
        let rows = stated.disputed.iter().map(|one| {
            let values: Vec<String> = one.values.iter().map(line).collect();
            format!("{}: {}", one.name, values.join(", "))
        });
        page.push(Block::Bullets(rows.collect()));
    }
    let names = not_known.join(if lang == Lang::Zh { "、" } else { ", " });
    let not_known = ui::TriageNotKnown { names }.text();
    page.push(Block::Paragraph(not_known.get(lang).to_owned()));
    page
}
