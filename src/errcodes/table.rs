//! The tables: `data/cann_errors.toml` and one file per family below `data/errors/`.
//!
//! A lookup must be fast including the start of the program, so a table is text with one line per
//! code, and only the requested lines are parsed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;

use super::family::{Family, Row};
use super::overlay::overlay;
use super::query::{Query, trim_punctuation};
use data::data_pack::{Pack, PackError, invalid};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    as_of: String,
    family: Vec<Family>,
}

/// The names of the columns that rows can have.
const COLUMNS: [&str; 13] = [
    "code",
    "symbol",
    "message",
    "zh",
    "component",
    "arguments",
    "becomes",
    "since",
    "until",
    "formerly",
    "doc",
    "level",
    "source",
];

/// Decodes the tables of a pack.
pub(super) fn check(pack: &'static Pack) -> Result<(), PackError> {
    // The index of the pack: the built-in tables must not be read before the pack is in use.
    for family in pack.table::<Index>("cann_errors")?.family {
        let name = format!("errors/{}.tsv", family.id);
        let head = Head::new(pack.text(&name)?);
        if head.columns.first() != Some(&"code") {
            return Err(invalid(&name, "its first column is not `code`"));
        }
        if let Some(column) = head.columns.iter().find(|column| !COLUMNS.contains(column)) {
            return Err(invalid(&name, format!("unknown column `{column}`")));
        }
        let source = head.columns.iter().position(|column| *column == "source");
        let cell = |line: &'static str| source.and_then(|at| line.split('\t').nth(at));
        let lines = || head.body.lines().filter(|line| !line.is_empty());
        if let Some(cell) = lines().filter_map(cell).find(|cell| head.find_source(cell).is_none()) {
            return Err(invalid(&name, format!("there is no source `{cell}`")));
        }
    }
    Ok(())
}

/// The date of the last change of a table, `YYYY-MM-DD`.
pub fn last_change() -> String {
    data::table::<Index>("cann_errors").as_of
}

/// A table: its text, and its rows once all were requested.
struct Table {
    id: String,
    text: OnceLock<&'static str>,
    head: OnceLock<Head>,
    rows: OnceLock<Vec<Row>>,
}

/// The header above the rows.
struct Head {
    columns: Vec<&'static str>,
    sources: Vec<String>,
    /// The rows, one per line, from the line break before the first.
    body: &'static str,
}

/// One table for each family of the index.
static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let table = |family: Family| Table {
        id: family.id,
        text: OnceLock::new(),
        head: OnceLock::new(),
        rows: OnceLock::new(),
    };
    built_in().into_iter().map(table).collect()
});

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let mut families = built_in();
    families.extend(overlay().families.iter().cloned());
    families
});

/// The built-in families.
pub(super) fn built_in() -> Vec<Family> {
    data::table::<Index>("cann_errors").family
}

/// All families, the most plausible first.
pub fn families() -> &'static [Family] {
    &FAMILIES
}

/// The family with this id.
pub fn family(id: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.id == id)
}

/// All codes of a family, in the order of its file.
pub fn rows(family: &Family) -> &'static [Row] {
    let Some(table) = find_table(&family.id) else {
        return OWN.get(&family.id).map(Vec::as_slice).unwrap_or_default();
    };
    table.rows.get_or_init(|| {
        let head = table.head();
        let lines = head.body.lines().filter(|line| !line.is_empty());
        overlay().apply_overlay(
            &family.id,
            lines.map(|line| head.parse_row(line)).collect(),
            |_| true,
        )
    })
}

/// The codes of a family, without parsing the other columns.
pub(super) fn codes(family: &'static Family) -> Vec<&'static str> {
    match find_table(&family.id) {
        Some(table) if overlay().apply_overlay(&family.id, Vec::new(), |_| true).is_empty() => {
            let lines = table.head().body.lines().filter(|line| !line.is_empty());
            lines.filter_map(|line| line.split('\t').next()).collect()
        }
        _ => rows(family).iter().map(|row| row.code.as_str()).collect(),
    }
}

/// The rows of the user's own families.
static OWN: LazyLock<BTreeMap<String, Vec<Row>>> = LazyLock::new(|| {
    let families = overlay().families.iter();
    families
        .map(|family| {
            (family.id.clone(), overlay().apply_overlay(&family.id, Vec::new(), |_| true))
        })
        .collect()
});

/// The rows of a family with this code, in the spelling of the family.
pub(super) fn find_rows(family: &Family, code: &str) -> Vec<Row> {
    let rows = find_table(&family.id).map(|table| {
        let head = table.head();
        head.lines_with_code(code).map(|line| head.parse_row(line)).collect()
    });
    overlay().apply_overlay(&family.id, rows.unwrap_or_default(), |row| row.code == code)
}

/// Returns the first row of a family with this code.
pub(super) fn find_row(id: &str, code: &str) -> Option<Row> {
    find_rows(family(id)?, code).into_iter().next()
}

/// The rows of a family that match a query by code or by symbol.
pub(super) fn find(family: &Family, query: &Query) -> Vec<Row> {
    let spellings = query.spellings(family.kind);
    let numbers = matches!(query, Query::Number { .. });
    if spellings.iter().all(String::is_empty) {
        return Vec::new();
    }
    // Many E-codes share a title, so a title identifies no code.
    let by_symbol = !numbers && !family.id.starts_with("ecode");
    let named = |cell: &str| {
        let cell = unescape(trim_punctuation(cell));
        spellings.iter().any(|name| cell.eq_ignore_ascii_case(name))
    };
    let rows = find_table(&family.id).map(|table| {
        let head = table.head();
        if numbers {
            // A number has one spelling, so the text is searched for it.
            let lines = spellings.iter().flat_map(|spelling| head.lines_with_code(spelling));
            return lines.map(|line| head.parse_row(line)).collect();
        }
        let lines = head.body.lines().filter(|line| {
            let mut cells = line.split('\t');
            let (code, symbol) = (cells.next(), cells.next());
            !line.is_empty() && (code.is_some_and(named) || by_symbol && symbol.is_some_and(named))
        });
        lines.map(|line| head.parse_row(line)).collect()
    });
    overlay().apply_overlay(&family.id, rows.unwrap_or_default(), |row| {
        named(&row.code) || by_symbol && named(&row.symbol)
    })
}

/// The rows of a family that turn into `code` on their way to the user.
pub(super) fn find_turning_into(family: &Family, code: &str) -> Vec<Row> {
    let turns = |row: &Row| row.becomes.iter().any(|becomes| becomes.eq_ignore_ascii_case(code));
    let head = find_table(&family.id).map(Table::head);
    let rows = head.filter(|head| head.columns.contains(&"becomes")).map(|head| {
        let lines = head.body.lines().filter(|line| line.contains(code));
        lines.map(|line| head.parse_row(line)).filter(turns).collect()
    });
    overlay().apply_overlay(&family.id, rows.unwrap_or_default(), turns)
}

fn find_table(id: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.id == id)
}

impl Table {
    fn text(&self) -> &'static str {
        self.text.get_or_init(|| data::text(&format!("errors/{}.tsv", self.id)))
    }

    fn head(&self) -> &Head {
        self.head.get_or_init(|| Head::new(self.text()))
    }
}

impl Head {
    fn new(text: &'static str) -> Self {
        let mut sources = Vec::new();
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            let Some(remark) = line.strip_prefix('#') else {
                let body = &text[text.len() - after.len() - 1..];
                return Self { columns: line.split('\t').collect(), sources, body };
            };
            if let Some((_, source)) =
                remark.strip_prefix(" source ").and_then(|source| source.split_once(": "))
            {
                sources.push(without_commits(source));
            }
            rest = after;
        }
        Self { columns: Vec::new(), sources, body: "" }
    }

    /// The lines that begin with this code. Codes contain no tab and no line break.
    fn lines_with_code<'a>(&'a self, code: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let start = format!("\n{}\t", code.replace('\\', "\\\\"));
        let mut rest = self.body;
        std::iter::from_fn(move || {
            let at = rest.find(&start)? + 1;
            let line = rest[at..].lines().next()?;
            rest = &rest[at + line.len()..];
            Some(line)
        })
    }

    fn parse_row(&self, line: &str) -> Row {
        // A family with a single source does not repeat it in every row.
        let source = self.sources.first().cloned().unwrap_or_default();
        let mut row = Row { source, ..Row::default() };
        for (&column, cell) in self.columns.iter().zip(line.split('\t')) {
            let cell = unescape(cell).into_owned();
            match column {
                "code" => row.code = cell,
                "symbol" => row.symbol = cell,
                "message" => row.message = cell,
                "zh" => row.zh = cell,
                "component" => row.component = cell,
                "arguments" => row.arguments = cell,
                "becomes" => row.becomes = cell.split_whitespace().map(str::to_owned).collect(),
                "since" => row.since = cell,
                "until" => row.until = cell,
                "formerly" => row.formerly = cell,
                "doc" => row.doc = cell,
                "level" => row.level = cell,
                "source" => row.source = self.resolve_source(&cell),
                other => debug_assert!(false, "the column `{other}` is unknown"),
            }
        }
        row
    }

    /// `2#L33`: the third source, line 33.
    fn resolve_source(&self, cell: &str) -> String {
        let source = self.find_source(cell);
        debug_assert!(source.is_some(), "there is no source `{cell}`");
        let (source, line) = source.unwrap_or_default();
        if line.is_empty() { source.to_owned() } else { format!("{source}#{line}") }
    }
}

/// `OWNER/NAME@COMMIT:PATH` as `OWNER/NAME:PATH`; several sources are joined by ` + `.
fn without_commits(source: &str) -> String {
    let shown = source.split(" + ").map(|part| match part.split_once('@') {
        Some((name, rest)) if rest.as_bytes().get(12) == Some(&b':') => {
            format!("{name}{}", &rest[12..])
        }
        _ => part.to_owned(),
    });
    shown.collect::<Vec<_>>().join(" + ")
}

impl Head {
    fn find_source<'s, 'a>(&'s self, cell: &'a str) -> Option<(&'s str, &'a str)> {
        let (index, line) = cell.split_once('#').unwrap_or((cell, ""));
        let source = self.sources.get(index.parse::<usize>().ok()?)?;
        Some((source, line))
    }
}

/// The value of a cell: replaces the escapes `\t`, `\n` and `\\`.
fn unescape(cell: &str) -> Cow<'_, str> {
    if !cell.contains('\\') {
        return Cow::Borrowed(cell);
    }
    let mut text = String::with_capacity(cell.len());
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                other => text.extend(other),
            },
            c => text.push(c),
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests;
