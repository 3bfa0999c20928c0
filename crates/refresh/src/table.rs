//! A table of tab-separated values: comments, column names, rows.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};

/// A table in memory. Cells are plain text; tabs, line breaks and backslashes are escaped in files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// Comment lines below the ownership line, without `# `.
    pub(crate) remarks: Vec<String>,
    /// Names of the columns.
    pub(crate) columns: Vec<String>,
    /// Whether the file has a line with the column names (error codes), or only a comment
    /// (operators).
    pub(crate) named: bool,
    /// Cells by row, one for each column.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates an empty table whose file has a line with these column names.
    pub(crate) fn with_columns(columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Self { columns, named: true, ..Self::default() }
    }

    /// Returns the index of a column.
    pub(crate) fn column(&self, name: &str) -> Result<usize> {
        match self.columns.iter().position(|column| column == name) {
            Some(index) => Ok(index),
            None => bail!("the table has no column `{name}`"),
        }
    }

    /// Writes the file. `head` holds the comment lines about the owner, without `# `.
    pub(crate) fn render(&self, head: &[String]) -> String {
        let mut text = String::new();
        for line in head.iter().chain(&self.remarks) {
            text.push_str(&format!("# {line}\n"));
        }
        let names = self.named.then_some(&self.columns);
        for row in names.into_iter().chain(&self.rows) {
            let mut cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            // Tables without column names may have rows of two kinds.
            while !self.named && cells.len() > 1 && cells.last().is_some_and(String::is_empty) {
                cells.pop();
            }
            text.push_str(&cells.join("\t"));
            text.push('\n');
        }
        text
    }

    /// Reads a file that [`Table::render`] wrote. Without named columns, `columns` names them.
    pub(crate) fn parse(text: &str, columns: Option<&[&str]>) -> Result<Self> {
        let mut table = Self { named: columns.is_none(), ..Self::default() };
        if let Some(columns) = columns {
            table.columns = columns.iter().map(|&name| name.to_owned()).collect();
        }
        for (number, line) in text.lines().enumerate() {
            if let Some(remark) = line.strip_prefix('#') {
                ensure!(table.rows.is_empty(), "line {}: comment between rows", number + 1);
                table.remarks.push(remark.trim_start().to_owned());
                continue;
            }
            let mut cells: Vec<String> = line.split('\t').map(unescape).collect();
            if table.columns.is_empty() {
                table.columns = cells;
                continue;
            }
            let (found, expected) = (cells.len(), table.columns.len());
            if columns.is_some() && (2..expected).contains(&found) {
                cells.resize(expected, String::new());
                table.rows.push(cells);
                continue;
            }
            ensure!(found == expected, "line {}: {found} cells, expected {expected}", number + 1);
            table.rows.push(cells);
        }
        ensure!(!table.columns.is_empty(), "the file has no line with column names");
        Ok(table)
    }

    /// Returns rows by the cells of the key columns, joined by a blank.
    ///
    /// # Errors
    ///
    /// If two rows have one key and the key is not in `conflicts`. Rows that are equal count once.
    pub(crate) fn by_key(
        &self,
        key: &[&str],
        conflicts: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, Vec<&[String]>>> {
        let key: Vec<usize> = key.iter().map(|name| self.column(name)).collect::<Result<_>>()?;
        let mut rows: BTreeMap<String, Vec<&[String]>> = BTreeMap::new();
        for row in &self.rows {
            let name = key.iter().map(|&at| row[at].as_str()).collect::<Vec<_>>().join(" ");
            rows.entry(name).or_default().push(row);
        }
        for (name, rows) in &rows {
            let conflict = rows.len() > 1 && !conflicts.contains_key(name);
            ensure!(
                !conflict,
                "key `{name}` has {} values; list it under conflicts if that is right",
                rows.len()
            );
        }
        Ok(rows)
    }
}

fn escape(cell: &str) -> String {
    cell.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n")
}

fn unescape(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            (c, false) => text.push(c),
        }
    }
    text
}

/// Rows with their source places: a list of sources in the comments, and, if there are several
/// sources or lines, the column `source` (`2#L33`: third source, line 33).
#[derive(Debug, Default)]
pub(crate) struct SourcedRows {
    columns: Vec<String>,
    rows: Vec<(Vec<String>, Place)>,
}

/// The source place of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// `OWNER/NAME@COMMIT:PATH`; several are joined by ` + `.
    pub(crate) source: String,
    /// Line, counted from 1.
    pub(crate) line: Option<usize>,
}

impl Place {
    /// Returns the place of a complete file.
    pub(crate) fn file(source: impl Into<String>) -> Self {
        Self { source: source.into(), line: None }
    }

    /// Returns the place of a line of a file.
    pub(crate) fn line(source: impl Into<String>, line: usize) -> Self {
        Self { source: source.into(), line: Some(line) }
    }
}

impl SourcedRows {
    /// Creates an empty set of rows with these columns (without `source`).
    pub(crate) fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each column.
    pub(crate) fn push<const N: usize>(&mut self, cells: [&str; N], place: Place) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push((cells.iter().map(|&cell| cell.to_owned()).collect(), place));
    }

    /// Adds a row whose cells were computed at run time.
    pub(crate) fn push_row(&mut self, cells: Vec<String>, place: Place) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push((cells, place));
    }

    /// Converts the rows to a table.
    pub(crate) fn into_table(self) -> Table {
        let mut sources: Vec<String> = Vec::new();
        let mut cells = Vec::with_capacity(self.rows.len());
        for (_, place) in &self.rows {
            let known = sources.iter().position(|source| *source == place.source);
            let index = known.unwrap_or_else(|| {
                sources.push(place.source.clone());
                sources.len() - 1
            });
            cells.push(match place.line {
                Some(line) => format!("{index}#L{line}"),
                None => index.to_string(),
            });
        }
        let shown = sources.len() > 1 || self.rows.iter().any(|(_, place)| place.line.is_some());
        let mut table = Table { columns: self.columns, named: true, ..Table::default() };
        table.remarks = sources
            .iter()
            .enumerate()
            .map(|(at, source)| format!("source {at}: {source}"))
            .collect();
        table.rows = self.rows.into_iter().map(|(row, _)| row).collect();
        if shown {
            table.columns.push("source".to_owned());
            table.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_they_were_written() {
        let mut rows = SourcedRows::new(&["code", "message"]);
        rows.push(["1", "a\tb\\\n"], Place::line("o/a@1:x", 3));
        rows.push(["2", ""], Place::file("o/a@1:y"));
        let table = rows.into_table();
        let text = table.render(&["owner: machine".to_owned()]);
        assert_eq!(
            text,
            "# owner: machine\n# source 0: o/a@1:x\n# source 1: o/a@1:y\ncode\tmessage\tsource\n\
             1\ta\\tb\\\\\\n\t0#L3\n2\t\t1\n"
        );
        let read = Table::parse(&text, None).unwrap();
        assert_eq!((read.columns, read.rows), (table.columns, table.rows));
    }

    #[test]
    fn one_source_without_lines_needs_no_column() {
        let mut rows = SourcedRows::new(&["code"]);
        rows.push(["1"], Place::file("a"));
        rows.push(["2"], Place::file("a"));
        assert_eq!(rows.into_table().render(&[]), "# source 0: a\ncode\n1\n2\n");
    }

    #[test]
    fn rows_without_names_may_end_early() {
        let text = "=0\tyes\t-\na\t0:0\n";
        let table = Table::parse(text, Some(&["key", "value", "types"])).unwrap();
        assert_eq!(table.rows[1], ["a", "0:0", ""]);
        assert_eq!(table.render(&[]), text);
        assert!(Table::parse("a\n", Some(&["key", "value", "types"])).is_err());
    }

    #[test]
    fn malformed_files_are_rejected() {
        for (text, message) in [
            ("code\tx\n1\n", "1 cells, expected 2"),
            ("code\n1\n# late\n", "between rows"),
            ("# only\n", "no line with column names"),
        ] {
            assert!(Table::parse(text, None).unwrap_err().to_string().contains(message), "{text}");
        }
    }

    #[test]
    fn second_value_of_a_key_needs_a_listed_conflict() {
        let table = Table::parse("code\tname\n1\ta\n1\tb\n2\tc\n", None).unwrap();
        let none = BTreeMap::new();
        assert!(table.by_key(&["code"], &none).unwrap_err().to_string().contains("`1` has 2"));
        assert_eq!(table.by_key(&["code", "name"], &none).unwrap().len(), 3);
        let listed = BTreeMap::from([("1".to_owned(), "two headers".to_owned())]);
        assert_eq!(table.by_key(&["code"], &listed).unwrap()["1"].len(), 2);
    }
}
