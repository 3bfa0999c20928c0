//! TOML files of users: a matrix, error codes, settings.
//!
//! Their rows are read as those of the built-in tables are, from `MessagePack`. A second reader for
//! each of their two dozen types, one that knows of TOML, would be a thirtieth of the program.
//! What is lost on the way is where something stood; so a value is at fault if without it the
//! mistake is another one, or none.

use rmp::encode;
use rmp_serde::decode::Error;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// As many values of a row as are tried to find the one at fault: a row that people write has a
/// few dozen.
const TRIED: usize = 1_000;

/// Stands for a value that is none of what is expected, until it is known which.
const OTHER_KIND: &str = "a value of another kind";

type Value<'t> = Spanned<DeValue<'t>>;

/// What is wrong with a file of a user, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct FileError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// A row, or a value, and the line on which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithLine<T> {
    /// Counted from 1.
    pub line: usize,
    /// What stands there.
    pub value: T,
}

/// The content of a file, taken out piece by piece.
pub struct UserFile<'t> {
    table: DeTable<'t>,
    lines: Lines,
}

impl<'t> UserFile<'t> {
    /// Reads a text in which no other keys stand at the top than `known`.
    ///
    /// # Errors
    ///
    /// If it is no TOML, or has a key that is not known.
    pub fn parse(text: &'t str, known: &[&str]) -> Result<Self, FileError> {
        let lines = Lines::of(text);
        let table = DeTable::parse(text).map_err(|error| FileError {
            line: lines.at(error.span().map_or(0, |span| span.start)),
            what: error.message().to_owned(),
        })?;
        let file = Self { table: table.into_inner(), lines };
        match file.table.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            None => Ok(file),
            Some(key) => {
                let known = known.join("`, `");
                let what = format!("unknown field `{}`, expected one of `{known}`", key.get_ref());
                Err(FileError { line: file.lines.at(key.span().start), what })
            }
        }
    }

    /// The value of a key, if it is there.
    pub fn take_value<T: DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<Option<WithLine<T>>, FileError> {
        let Some(value) = self.table.remove(key) else { return Ok(None) };
        let line = self.lines.at(value.span().start);
        match decode(&value, None) {
            Ok(value) => Ok(Some(WithLine { line, value })),
            Err(what) => Err(self.error_at(&value, what, decode::<T>)),
        }
    }

    /// The same, of a key that has to be there.
    pub fn take_required<T: DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<WithLine<T>, FileError> {
        let missing = || FileError { line: 1, what: format!("missing field `{key}`") };
        self.take_value(key)?.ok_or_else(missing)
    }

    /// The rows of `[[key]]`, in their order; none, if there is no such table.
    pub fn take_rows<T: DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<Vec<WithLine<T>>, FileError> {
        let Some(all) = self.table.remove(key) else { return Ok(Vec::new()) };
        let rows: Result<Vec<T>, String> = decode(&all, None);
        match (rows, all.get_ref()) {
            (Ok(rows), DeValue::Array(array)) => {
                let lines = array.iter().map(|row| self.lines.at(row.span().start));
                Ok(lines.zip(rows).map(|(line, value)| WithLine { line, value }).collect())
            }
            (Err(_), DeValue::Array(array)) => {
                let first =
                    array.iter().find_map(|row| Some((row, decode_alone::<T>(row, None).err()?)));
                let (row, what) = first.unwrap_or_else(|| (&all, "no list of tables".to_owned()));
                Err(self.error_at(row, what, decode_alone::<T>))
            }
            (_, _) => {
                let what = format!("`[[{key}]]`, a list of tables, is expected");
                Err(FileError { line: self.lines.at(all.span().start), what })
            }
        }
    }

    fn error_at<T>(
        &self,
        value: &Value<'_>,
        what: String,
        read: impl Fn(&Value<'_>, Option<&Value<'_>>) -> Result<T, String>,
    ) -> FileError {
        let at = find_fault(value, &what, &|without| read(value, Some(without)).err());
        let line = self.lines.at(at.span().start);
        let what = match at.get_ref() {
            _ if what != OTHER_KIND => return FileError { line, what },
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "`true` or `false`",
            DeValue::Datetime(_) => "a day",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        FileError { line, what: format!("{what} is not what is expected here") }
    }
}

/// The innermost value of `whole` without which reading no longer ends with `what`.
fn find_fault<'v, 't>(
    whole: &'v Value<'t>,
    what: &str,
    error_without: &dyn Fn(&Value<'t>) -> Option<String>,
) -> &'v Value<'t> {
    const MISSING: &str = "missing field";
    let is_fault = |value: &Value<'t>| match error_without(value) {
        None => true,
        // To leave out what has to be there is a mistake of our own.
        Some(other) => other != what && !(what.starts_with(MISSING) && other.starts_with(MISSING)),
    };
    let mut at = whole;
    loop {
        let inner: Vec<&Value<'t>> = match at.get_ref() {
            DeValue::Array(array) => array.iter().take(TRIED).collect(),
            DeValue::Table(table) => table.values().take(TRIED).collect(),
            _ => Vec::new(),
        };
        let Some(value) = inner.into_iter().find(|value| is_fault(value)) else { return at };
        at = value;
    }
}

fn decode<T: DeserializeOwned>(
    value: &Value<'_>,
    without: Option<&Value<'_>>,
) -> Result<T, String> {
    let mut packed = Vec::new();
    pack(value, without, &mut packed)?;
    read(&packed)
}

/// A row as the only one of its table, so that there is no other reader of it than that of tables.
fn decode_alone<T: DeserializeOwned>(
    row: &Value<'_>,
    without: Option<&Value<'_>>,
) -> Result<Vec<T>, String> {
    let mut packed = Vec::new();
    encode::write_array_len(&mut packed, 1).map_err(|error| error.to_string())?;
    pack(row, without, &mut packed)?;
    read(&packed)
}

fn read<T: DeserializeOwned>(packed: &[u8]) -> Result<T, String> {
    rmp_serde::from_slice(packed).map_err(|error| match error {
        // It names a byte of the format between, which nobody wrote.
        Error::TypeMismatch(_) => OTHER_KIND.to_owned(),
        error => error.to_string(),
    })
}

/// Writes a value without what lies at one place in it.
fn pack(value: &Value<'_>, without: Option<&Value<'_>>, out: &mut Vec<u8>) -> Result<(), String> {
    let stays = |value: &Value<'_>| without.is_none_or(|out| !std::ptr::eq(value, out));
    // Nothing but a length above 32 bits fails.
    let failed = |error: encode::ValueWriteError| error.to_string();
    let length = |count: usize| u32::try_from(count).map_err(|error| error.to_string());
    match value.get_ref() {
        DeValue::String(text) => encode::write_str(out, text).map_err(failed),
        DeValue::Boolean(value) => encode::write_bool(out, *value).map_err(|e| e.to_string()),
        DeValue::Integer(number) => {
            let value = i64::from_str_radix(number.as_str(), number.radix());
            let value = value.map_err(|_| format!("{number} is too large"))?;
            // With its sign: without, it would do for the number of a name that is expected.
            encode::write_i64(out, value).map_err(failed)
        }
        DeValue::Float(number) => {
            let value: Result<f64, _> = number.as_str().parse();
            let value = value.map_err(|_| format!("{} is no number", number.as_str()))?;
            encode::write_f64(out, value).map_err(failed)
        }
        DeValue::Datetime(moment) => encode::write_str(out, &moment.to_string()).map_err(failed),
        DeValue::Array(array) => {
            let kept: Vec<_> = array.iter().filter(|value| stays(value)).collect();
            encode::write_array_len(out, length(kept.len())?).map_err(failed)?;
            kept.into_iter().try_for_each(|value| pack(value, without, out))
        }
        DeValue::Table(table) => {
            let kept: Vec<_> = table.iter().filter(|(_, value)| stays(value)).collect();
            encode::write_map_len(out, length(kept.len())?).map_err(failed)?;
            kept.into_iter().try_for_each(|(key, value)| {
                encode::write_str(out, key.get_ref()).map_err(failed)?;
                pack(value, without, out)
            })
        }
    }
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).collect())
    }

    /// The line of a byte, counted from 1.
    fn at(&self, byte: usize) -> usize {
        1 + self.0.partition_point(|&start| start <= byte)
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
    fn a_mistake_is_told_with_the_line_of_the_value() {
        for (from, to, line, what) in [
            ("schema = 1", "schema = ", 1, ""),
            (
                "schema = 1",
                "shema = 1",
                1,
                "unknown field `shema`, expected one of `schema`, `row`",
            ),
            ("schema = 1\n", "\n", 1, "missing field `schema`"),
            ("schema = 1", "schema = 'x'", 1, "a text is not"),
            ("kind = 'plain'", "kind = 'plan'", 9, "unknown variant `plan`, expected"),
            ("kind = 'plain'", "kind = 0", 9, "integer `0`"),
            ("id = 'a'", "id = 7", 4, "expected a string"),
            ("0x10", "256", 5, "expected u8"),
            ("0x10", "99999999999999999999", 5, "too large"),
            ("on = true", "on = 'yes'", 7, "a text is not"),
            ("on = true", "off = true", 7, "unknown field `off`"),
            ("id = 'b'\n", "\n", 10, "missing field `id`"),
            ("en = 'two'", "en = 2", 15, "expected a string"),
            ("en = 'two'", "", 14, "missing field `en`"),
            ("en = 'two'", "em = 'two'", 15, "unknown field `em`"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            let mistake = read(&text).unwrap_err();
            assert!(mistake.line == line && mistake.what.contains(what), "{mistake}\n{text}");
        }
        let mistake = read("schema = 1\nrow = 2\n").unwrap_err();
        assert_eq!(mistake.line, 2);
        assert!(mistake.what.contains("[[row]]"), "{mistake}");
    }

    #[test]
    fn lines_are_counted_from_one() {
        let lines = Lines::of("a\nb\n\nc");
        assert_eq!([0, 1, 2, 4, 5, 9].map(|byte| lines.at(byte)), [1, 1, 2, 3, 4, 4]);
    }
}
