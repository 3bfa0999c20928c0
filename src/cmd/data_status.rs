//! `data status`: the tables in use, their owners, sizes and newest sources.

use data::{OrFault as _, faults};
use serde::Serialize;
use std::collections::BTreeMap;

use super::finish;
use super::output::Output;
use base::report::{DataOrigin, ExitStatus, Report, Table};
use base::text::{Lang, Text};
use data::{
    sources::{Sources, TableSize, table_size},
    ui,
};
use render::{Block, Format, page_markdown, page_text};

/// Number of characters of a commit to show.
const COMMIT: usize = 12;

/// The members of the JSON report that only `data status` has.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct DataMembers<'a> {
    /// The tables in use.
    data_tables: Vec<TableMember<'a>>,
}

/// A table.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TableMember<'a> {
    /// Its file, relative to `data/`.
    file: &'a str,
    /// Its maintainer: `hand`, `machine` or `recorded`.
    owner: &'a str,
    /// The number of its rows; null if it has no rows or is not included.
    rows: Option<usize>,
    /// Its size in bytes; null if it is not included.
    bytes: Option<usize>,
    /// The IDs of its sources.
    sources: &'a [String],
    /// Its newest source.
    newest: Option<SourceMember<'a>>,
}

/// A source of a table.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SourceMember<'a> {
    /// Its ID.
    id: &'a str,
    /// Its name.
    name: &'a str,
    /// The commit that was read.
    commit: Option<&'a str>,
    /// The date of that commit or release, `YYYY-MM-DD`.
    date: Option<&'a str>,
}

pub(super) fn run(output: &Output) -> anyhow::Result<ExitStatus> {
    let sources = Sources::read();
    let mut report = Report::new("data", "data status");
    report.invocation = "data status";
    report.overview = overview(output);
    let mut table = Table {
        title: ui::DATA_TABLES.text(),
        head: [ui::DATA_FILE, ui::DATA_OWNER, ui::DATA_SIZE, ui::DATA_DATE, ui::DATA_SOURCE]
            .map(ui::Label::text)
            .to_vec(),
        rows: Vec::new(),
    };
    let mut documents = Vec::new();
    for row in &sources.table {
        let size = table_size(&row.file);
        let newest = sources.newest(row);
        let commit = newest.and_then(|source| source.commit.as_deref());
        let source = newest.map_or_else(String::new, |source| {
            let commit = commit.unwrap_or_default();
            let short = commit.get(..COMMIT).unwrap_or(commit);
            format!("{} {short}", source.name).trim_end().to_owned()
        });
        let date = newest.and_then(|source| source.date.as_deref());
        table.rows.push(vec![
            Text::same(&row.file),
            owner(&row.owner),
            describe(size),
            Text::same(date.unwrap_or("-")),
            Text::same(if source.is_empty() { "-" } else { &source }),
        ]);
        documents.push(TableMember {
            file: &row.file,
            owner: &row.owner,
            rows: size.and_then(|size| size.rows),
            bytes: size.map(|size| size.bytes),
            sources: &row.sources,
            newest: newest.map(|source| SourceMember {
                id: &source.id,
                name: &source.name,
                commit: source.commit.as_deref(),
                date: source.date.as_deref(),
            }),
        });
    }
    if !matches!(output.format(), Format::Text | Format::Markdown) {
        report.tables.push(table);
        report.add_members(&DataMembers { data_tables: documents });
        return finish(report, output);
    }
    let page = |lang: Lang| {
        let both = |text: &Text| text.get(lang).to_owned();
        let facts = report.overview.iter().map(|(label, value)| (both(label), both(value)));
        let head: Vec<String> = table.head.iter().map(both).collect();
        let mut rows: Vec<Vec<String>> =
            table.rows.iter().map(|row| row.iter().map(both).collect()).collect();
        // Plain text has no separate line for the column names.
        if output.is_text() {
            rows = by_directory(rows);
            rows.insert(0, head.clone());
        }
        let title = Block::Title(both(&ui::DATA_TITLE.text()), String::new());
        vec![
            title,
            Block::Facts(facts.collect()),
            Block::Heading(both(&table.title)),
            Block::Table(head, rows),
        ]
    };
    output
        .write(|out, style| match output.format() {
            Format::Markdown => page_markdown(&page(style.lang), 2, out),
            _ => page_text(&page(style.lang), style, out),
        })
        .or_fault(|| faults::FailedToWriteTables.fault())?;
    Ok(ExitStatus::Clean)
}

/// Groups rows below a line with the directory of their files, which needs less width than paths.
fn by_directory(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for mut row in rows {
        let Some(file) = row.first_mut() else { continue };
        let (dir, name) = file.rsplit_once('/').unwrap_or(("", file));
        let (dir, name) = (dir.to_owned(), name.to_owned());
        *file = if dir.is_empty() { name } else { format!("  {name}") };
        groups.entry(dir).or_default().push(row);
    }
    let mut all = Vec::new();
    for (dir, rows) in groups {
        if !dir.is_empty() {
            all.push(vec![format!("{dir}/")]);
        }
        all.extend(rows);
    }
    all
}

/// The head of the page: date, age, source.
fn overview(output: &Output) -> Vec<(Text, Text)> {
    let data = output.data();
    let mut facts = vec![(ui::DATA_DATE.text(), Text::same(&data.as_of))];
    if let Some(days) = data.age_days {
        facts.push((ui::DATA_AGE.text(), ui::DataDays { n: days }.text()));
    }
    let origin = match data.origin {
        DataOrigin::Builtin => ui::DATA_BUILTIN.text(),
        DataOrigin::Pack => Text::same(output.pack().unwrap_or_default()),
    };
    facts.push((ui::DATA_ORIGIN.text(), origin));
    if let Some(sha256) = &data.sha256 {
        facts.push((Text::same("SHA-256"), Text::same(sha256)));
        let key = data.signed_by.as_ref();
        let key = key.map_or_else(|| ui::DATA_NO_SIGNATURE.text(), Text::same);
        facts.push((ui::DATA_SIGNED_BY.text(), key));
    }
    facts
}

fn owner(owner: &str) -> Text {
    match owner {
        "hand" => ui::DATA_BY_HAND.text(),
        "machine" => ui::DATA_BY_MACHINE.text(),
        "recorded" => ui::DATA_BY_RECORD.text(),
        other => Text::same(other),
    }
}

fn describe(size: Option<TableSize>) -> Text {
    match size {
        None => ui::DATA_NOT_CARRIED.text(),
        Some(TableSize { rows: Some(rows), .. }) => ui::DataRows { n: rows }.text(),
        Some(TableSize { bytes, .. }) => ui::DataBytes { n: bytes }.text(),
    }
}
