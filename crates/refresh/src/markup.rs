//! Parses tables in Markdown and HTML.

use std::sync::LazyLock;

use regex::Regex;

/// A table without markup. Cells that span rows or columns are repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Line of its first row, counted from 1.
    pub(crate) line: usize,
    /// Rows of headings.
    pub(crate) head: Vec<Vec<Cell>>,
    /// Other rows.
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// The items of a cell: list items, paragraphs or lines. An empty cell has none.
pub(crate) type Cell = Vec<String>;

impl Grid {
    /// Returns the column whose last heading, without blanks, is one of these.
    pub(crate) fn column(&self, names: &[&str]) -> Option<usize> {
        let heading = |cell: &Cell| cell.concat().replace(' ', "");
        let last = self.head.last()?;
        last.iter().position(|cell| names.contains(&heading(cell).as_str()))
    }

    /// Returns the only item of a cell. Several items are joined by a blank.
    pub(crate) fn cell(row: &[Cell], column: Option<usize>) -> String {
        column.and_then(|at| row.get(at)).map(|items| items.join(" ")).unwrap_or_default()
    }
}

fn regex(cell: &'static LazyLock<Option<Regex>>) -> Option<&'static Regex> {
    cell.as_ref()
}

macro_rules! pattern {
    ($name:ident = $text:literal) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
    };
}

pattern!(TABLE = r"(?s)<table.*?</table>");
pattern!(ROW = r"(?s)<tr.*?</tr>");
pattern!(CELL = r"(?s)<(td|th)\b([^>]*)>(.*?)</(?:td|th)>");
pattern!(ITEM = r"</li>|</p>|<br\s*/?>");
pattern!(TAG = r"(?s)<[^>]*>");
pattern!(SPAN = r#"(row|col)span="?(\d+)"#);
pattern!(RULE = r"^\|[\s:|-]+\|?\s*$");

/// Returns the tables of a text that are in Markdown.
pub(crate) fn markdown_tables(text: &str) -> Vec<Grid> {
    let mut tables: Vec<Grid> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.starts_with('|') {
            open = false;
            continue;
        }
        if regex(&RULE).is_some_and(|rule| rule.is_match(line)) {
            continue;
        }
        let inner = line.strip_prefix('|').unwrap_or(line);
        let inner = inner.strip_suffix('|').unwrap_or(inner);
        let row: Vec<Cell> = inner.split('|').map(items).collect();
        match tables.last_mut() {
            Some(table) if open => table.rows.push(row),
            _ => tables.push(Grid { line: at + 1, head: vec![row], rows: Vec::new() }),
        }
        open = true;
    }
    tables
}

/// Returns the tables of a text that are in HTML.
pub(crate) fn html_tables(text: &str) -> Vec<Grid> {
    let (Some(table), Some(row), Some(cell), Some(span)) =
        (regex(&TABLE), regex(&ROW), regex(&CELL), regex(&SPAN))
    else {
        return Vec::new();
    };
    let mut tables = Vec::new();
    for found in table.find_iter(text) {
        let line = text[..found.start()].matches('\n').count() + 1;
        let mut grid = Grid { line, ..Grid::default() };
        // Rows that a cell above still extends into, by column.
        let mut open: Vec<(usize, Cell)> = Vec::new();
        for source in row.find_iter(found.as_str()) {
            let mut cells: Vec<Cell> = Vec::new();
            let reach = |cells: &mut Vec<Cell>, open: &mut Vec<(usize, Cell)>| {
                while let Some((left, items)) = open.get_mut(cells.len())
                    && *left > 0
                {
                    *left -= 1;
                    cells.push(items.clone());
                }
            };
            let mut heading = true;
            for parts in cell.captures_iter(source.as_str()) {
                reach(&mut cells, &mut open);
                heading &= &parts[1] == "th";
                let wide = |kind: &str| {
                    let all = span.captures_iter(&parts[2]);
                    let mut all = all.filter(|part| &part[1] == kind);
                    all.next().and_then(|part| part[2].parse::<usize>().ok()).unwrap_or(1)
                };
                let (rows, columns) = (wide("row"), wide("col").clamp(1, 100));
                for _ in 0..columns {
                    let at = cells.len();
                    if open.len() <= at {
                        open.resize(at + 1, (0, Vec::new()));
                    }
                    open[at] = (rows.saturating_sub(1), items(&parts[3]));
                    cells.push(items(&parts[3]));
                }
            }
            reach(&mut cells, &mut open);
            if heading { grid.head.push(cells) } else { grid.rows.push(cells) }
        }
        tables.push(grid);
    }
    tables
}

/// Returns the items of a cell, without markup.
fn items(source: &str) -> Cell {
    let parts: Vec<&str> = match regex(&ITEM) {
        Some(item) => item.split(source).collect(),
        None => vec![source],
    };
    parts.into_iter().map(plain).filter(|item| !item.is_empty()).collect()
}

fn plain(source: &str) -> String {
    let text = regex(&TAG).map_or_else(|| source.into(), |tag| tag.replace_all(source, ""));
    let mut text = text.into_owned();
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", " "),
        ("&quot;", "\""),
        ("&#8226;", ""),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_span_are_repeated() {
        let text = "x\n<table class=\"t\"><thead>\n<tr><th rowspan=\"2\">N</th><th colspan=\"2\">C</th></tr>\n\
                    <tr><th>8.5.X</th><th>9.0.X</th></tr></thead>\n\
                    <tr><td>7.3.X</td><td>Y</td><td> </td></tr>\n\
                    <tr><td rowspan=\"2\"><p>a</p><ul><li>b &amp; c</li><li>d</li></ul></td><td colspan=\"2\">Y</td></tr>\n\
                    <tr><td>1</td><td>2</td></tr></table>";
        let table = &html_tables(text)[0];
        assert_eq!(table.line, 2);
        assert_eq!(table.column(&["9.0.X"]), Some(2));
        assert_eq!(table.column(&["N"]), Some(0));
        let cells = |at: usize| -> Vec<String> {
            table.rows[at].iter().map(|items| items.join("/")).collect()
        };
        assert_eq!(cells(0), ["7.3.X", "Y", ""]);
        assert_eq!(cells(1), ["a/b & c/d", "Y", "Y"]);
        assert_eq!(cells(2), ["a/b & c/d", "1", "2"]);
    }

    #[test]
    fn tables_with_bars_are_read() {
        let text = "a\n\n| CANN 版本 | x |\n|:--:|--|\n| CANN 9.1.0<br>CANN 9.0.0 | |\r\n|b|c|\n\n|other|\n|--|\n";
        let tables = markdown_tables(text);
        assert_eq!(tables.len(), 2);
        assert_eq!((tables[0].line, tables[0].column(&["CANN版本"])), (3, Some(0)));
        assert_eq!(
            tables[0].rows[0],
            [vec!["CANN 9.1.0".to_owned(), "CANN 9.0.0".to_owned()], vec![]]
        );
        assert_eq!(Grid::cell(&tables[0].rows[1], Some(1)), "c");
        assert_eq!(Grid::cell(&tables[0].rows[1], None), "");
    }
}
