//! User-provided TOML files: a matrix, error codes, settings. Every error is reported with its
//! line.

use base::text::Text;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::fault::{Value as _, quote};
use crate::{Fault, faults};

type Value<'t> = Spanned<DeValue<'t>>;

/// An error in a user's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {}", what.en)]
pub struct FileError {
    /// The line, counted from 1.
    pub line: usize,
    /// The error. The text of a parser is marked as a quotation.
    pub what: Text,
}

impl FileError {
    /// Creates an error on a line.
    pub fn new(line: usize, what: impl Into<Fault>) -> Self {
        Self { line, what: what.into().value() }
    }
}

/// A row or a value, and its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithLine<T> {
    /// The line, counted from 1.
    pub line: usize,
    /// The decoded value.
    pub value: T,
}

/// The entries of a table and its groups: group, name, value.
pub type TableEntries = WithLine<Vec<WithLine<(Option<String>, String, toml::Value)>>>;

/// A parsed file. Callers remove its top-level values one by one.
pub struct UserFile<'t> {
    table: DeTable<'t>,
    lines: Lines,
}

impl<'t> UserFile<'t> {
    /// Parses a text whose top-level keys are all in `known`.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not TOML or has an unknown key.
    pub fn parse(text: &'t str, known: &[&str]) -> Result<Self, FileError> {
        let lines = Lines::of(text);
        let table = DeTable::parse(text).map_err(|error| lines.locate(&error, 0))?;
        let file = Self { table: table.into_inner(), lines };
        match file.table.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            None => Ok(file),
            Some(key) => {
                let fields = Text::new(known.join("`, `"), known.join("`、`"));
                let what = faults::UnknownField { fields, name: key.get_ref().as_ref() };
                Err(FileError::new(file.lines.at(key.span().start), what))
            }
        }
    }

    /// Removes and returns the value of an optional key.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not fit `T`.
    pub fn take_value<T: DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<Option<WithLine<T>>, FileError> {
        self.table.remove(key).map(|value| self.decode(value)).transpose()
    }

    /// Removes and returns the value of a required key.
    ///
    /// # Errors
    ///
    /// Returns an error if the key is missing or its value does not fit `T`.
    pub fn take_required<T: DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<WithLine<T>, FileError> {
        let missing = || FileError::new(1, faults::MissingField { name: key });
        self.take_value(key)?.ok_or_else(missing)
    }

    /// Removes and returns the rows of `[[key]]` in file order. Empty if the file has no such
    /// table.
    ///
    /// # Errors
    ///
    /// Returns an error if `key` is not a list of tables, or for the first row that does not fit
    /// `T`.
    pub fn take_rows<T: DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<Vec<WithLine<T>>, FileError> {
        let Some(all) = self.table.remove(key) else { return Ok(Vec::new()) };
        let line = self.lines.at(all.span().start);
        let DeValue::Array(rows) = all.into_inner() else {
            return Err(FileError::new(line, faults::ListOfTablesExpected { name: key }));
        };
        rows.into_iter().map(|row| self.decode(row)).collect()
    }

    /// Removes and returns the entries of a table, each with its line: its own entries, and those
    /// of its subtables in `groups`. Also returns the line of the table.
    ///
    /// # Errors
    ///
    /// Returns an error if `key` or a group is not a table.
    pub fn take_entries(
        &mut self,
        key: &str,
        groups: &[&str],
    ) -> Result<Option<TableEntries>, FileError> {
        let Some(all) = self.table.remove(key) else { return Ok(None) };
        let line = self.lines.at(all.span().start);
        let no_table = |line, name| FileError::new(line, faults::TableExpected { name });
        let DeValue::Table(table) = all.into_inner() else { return Err(no_table(line, key)) };
        let mut entries = Vec::new();
        for (name, value) in table {
            let (at, name) = (self.lines.at(name.span().start), name.into_inner().into_owned());
            if !groups.contains(&name.as_str()) {
                let value = self.decode(value)?.value;
                entries.push(WithLine { line: at, value: (None, name, value) });
                continue;
            }
            let DeValue::Table(group) = value.into_inner() else { return Err(no_table(at, &name)) };
            for (inner, value) in group {
                let at = self.lines.at(inner.span().start);
                let value = (
                    Some(name.clone()),
                    inner.into_inner().into_owned(),
                    self.decode(value)?.value,
                );
                entries.push(WithLine { line: at, value });
            }
        }
        entries.sort_by_key(|entry| entry.line);
        Ok(Some(WithLine { line, value: entries }))
    }

    fn decode<T: DeserializeOwned>(&self, mut value: Value<'t>) -> Result<WithLine<T>, FileError> {
        let start = value.span().start;
        days_as_text(&mut value);
        T::deserialize(ValueDeserializer::from(value))
            .map(|value| WithLine { line: self.lines.at(start), value })
            .map_err(|error| self.lines.locate(&error, start))
    }
}

/// Turns dates into strings: the tables store days as text, and users write them with or without
/// quotes.
fn days_as_text(value: &mut Value<'_>) {
    match value.get_mut() {
        DeValue::Datetime(day) => {
            let text = day.to_string();
            *value.get_mut() = DeValue::String(text.into());
        }
        DeValue::Array(array) => array.iter_mut().for_each(days_as_text),
        DeValue::Table(table) => table.iter_mut().for_each(|(_, value)| days_as_text(value)),
        _ => {}
    }
}

/// The offsets of the lines of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).collect())
    }

    /// Returns the line of a byte, counted from 1.
    fn at(&self, byte: usize) -> usize {
        1 + self.0.partition_point(|&start| start <= byte)
    }

    /// Returns the error with its line. An error without a position belongs to the value that
    /// begins at `start`.
    fn locate(&self, error: &toml::de::Error, start: usize) -> FileError {
        let at = error.span().map_or(start, |span| span.start);
        FileError { line: self.at(at), what: quote(error.message()) }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Step {
        en: String,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        Plain,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Row {
        id: String,
        #[serde(default)]
        size: Option<u8>,
        #[serde(default)]
        share: f64,
        #[serde(default)]
        on: bool,
        #[serde(default)]
        day: String,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        step: Vec<Step>,
    }

    const GOOD: &str = "schema = 1\n\n[[row]]\nid = 'a'\nsize = 0x10\nshare = 1.5\non = true\n\
                        day = 2027-01-31\nkind = 'plain'\n[[row]]\nid = 'b'\n[[row.step]]\nen = 'one'\n\
                        [[row.step]]\nen = 'two'\n";

    fn read(text: &str) -> Result<(u32, Vec<WithLine<Row>>), FileError> {
        let mut file = UserFile::parse(text, &["schema", "row"])?;
        Ok((file.take_required("schema")?.value, file.take_rows("row")?))
    }

    #[test]
    fn values_of_all_kinds_are_read_with_their_lines() {
        let (schema, rows) = read(GOOD).unwrap();
        let [a, b] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((schema, a.line, b.line), (1, 3, 10));
        let of = |row: &Row| (row.size, row.share, row.on, row.day.clone());
        assert_eq!(of(&a.value), (Some(16), 1.5, true, "2027-01-31".to_owned()));
        assert_eq!(of(&b.value), (None, 0.0, false, String::new()));
        assert_eq!(b.value.step.len(), 2);
    }

    #[test]
    fn mistakes_are_reported_with_the_line_of_the_value() {
        for (from, to, line, what) in [
            ("schema = 1", "schema = ", 1, ""),
            ("schema = 1", "shema = 1", 1, "unknown field `shema`; known fields: `schema`, `row`"),
            ("schema = 1\n", "\n", 1, "missing field `schema`"),
            ("schema = 1", "schema = 'x'", 1, "invalid type: string"),
            ("kind = 'plain'", "kind = 'plan'", 9, "unknown variant `plan`, expected"),
            ("kind = 'plain'", "kind = 0", 9, "wanted string or table"),
            ("id = 'a'", "id = 7", 4, "expected a string"),
            ("0x10", "256", 5, "expected u8"),
            ("0x10", "99999999999999999999", 5, "expected u8"),
            ("on = true", "on = 'yes'", 7, "invalid type: string"),
            ("on = true", "off = true", 7, "unknown field `off`"),
            ("id = 'b'\n", "\n", 10, "missing field `id`"),
            ("en = 'two'", "en = 2", 15, "expected a string"),
            ("en = 'two'", "", 14, "missing field `en`"),
            ("en = 'two'", "em = 'two'", 15, "unknown field `em`"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            let mistake = read(&text).unwrap_err();
            assert!(mistake.line == line && mistake.what.en.contains(what), "{mistake}\n{text}");
        }
        let mistake = read("schema = 1\nrow = 2\n").unwrap_err();
        assert_eq!(mistake.line, 2);
        assert!(mistake.what.en.contains("[[row]]"), "{mistake}");
    }

    #[test]
    fn lines_are_counted_from_one() {
        let lines = Lines::of("a\nb\n\nc");
        assert_eq!([0, 1, 2, 4, 5, 9].map(|byte| lines.at(byte)), [1, 1, 2, 3, 4, 4]);
    }
}
