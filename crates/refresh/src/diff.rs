//! Differences between two versions of a table, by key instead of by line.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde::Serialize;

/// Rows of a file by key: the cells, or the values of a TOML table, with their names.
pub(crate) type Rows = BTreeMap<String, BTreeMap<String, String>>;

/// The differences of one file.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// Path below `data/`.
    pub(crate) file: String,
    /// Number of rows after the refresh.
    pub(crate) rows: usize,
    /// Keys of new rows, with their values.
    pub(crate) added: BTreeMap<String, BTreeMap<String, String>>,
    /// Old and new value of each changed cell, by key and column.
    pub(crate) changed: BTreeMap<String, BTreeMap<String, (String, String)>>,
    /// Keys of removed rows, with their last values.
    pub(crate) removed: BTreeMap<String, BTreeMap<String, String>>,
    /// Rows that vanished from every source and were kept.
    pub(crate) kept: Vec<String>,
    /// Manual rows that no longer fit.
    pub(crate) stale: Vec<String>,
}

impl Difference {
    /// Compares the rows of a file.
    pub(crate) fn between(file: &str, old: &Rows, new: &Rows) -> Self {
        let mut found = Self { file: file.to_owned(), rows: new.len(), ..Self::default() };
        for (key, row) in new {
            let Some(before) = old.get(key) else {
                found.added.insert(key.clone(), row.clone());
                continue;
            };
            let names = before.keys().chain(row.keys().filter(|name| !before.contains_key(*name)));
            let value = |row: &BTreeMap<String, String>, name: &String| {
                row.get(name).cloned().unwrap_or_default()
            };
            let cells: BTreeMap<_, _> = names
                .map(|name| (name.clone(), (value(before, name), value(row, name))))
                // A new, empty column changes no row.
                .filter(|(_, (old, new))| old != new)
                .collect();
            if !cells.is_empty() {
                found.changed.insert(key.clone(), cells);
            }
        }
        let gone = old.iter().filter(|(key, _)| !new.contains_key(*key));
        found.removed = gone.map(|(key, row)| (key.clone(), row.clone())).collect();
        found
    }

    /// Returns whether no row differs.
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// Returns the rows of a TOML file. Each element of an array of tables is one row, keyed by the
/// name of the array and the values of its key fields. All other values are keyed by path.
///
/// # Errors
///
/// If the text is not TOML, or two rows have one key.
pub(crate) fn toml_rows(text: &str, keys: &[(&str, &[&str])]) -> Result<Rows> {
    let root: toml::Table = toml::from_str(text)?;
    let mut rows = Rows::new();
    for (name, value) in root {
        let toml::Value::Array(list) = &value else {
            rows.insert(name, BTreeMap::from([("value".to_owned(), value.to_string())]));
            continue;
        };
        let fields = keys.iter().find(|(array, _)| *array == name).map(|(_, fields)| *fields);
        for (at, element) in list.iter().enumerate() {
            let (key, cells) = match (element, fields) {
                (toml::Value::Table(table), Some(fields)) => {
                    let parts: Vec<String> = fields
                        .iter()
                        .map(|field| table.get(*field).map(show).unwrap_or_default())
                        .collect();
                    let cells = table.iter().map(|(name, value)| (name.clone(), show(value)));
                    (format!("{name} {}", parts.join(" ")), cells.collect())
                }
                (toml::Value::Table(_), None) => {
                    bail!("rows of [[{name}]] have no key: name its key fields")
                }
                (toml::Value::Array(cells), _) => {
                    let key = cells.first().map(show).unwrap_or_default();
                    let cells =
                        cells.iter().enumerate().map(|(at, cell)| (at.to_string(), show(cell)));
                    (format!("{name} {key}"), cells.collect())
                }
                (value, _) => {
                    (format!("{name} {at}"), BTreeMap::from([("value".to_owned(), show(value))]))
                }
            };
            if rows.insert(key.clone(), cells).is_some() {
                bail!("key `{key}` has several values")
            }
        }
    }
    Ok(rows)
}

fn show(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the rows of a table by key. Conflicting rows get a number.
pub(crate) fn table_rows(
    table: &crate::table::Table,
    key: &[&str],
    conflicts: &BTreeMap<String, String>,
) -> Result<Rows> {
    let mut rows = Rows::new();
    for (name, all) in table.by_key(key, conflicts)? {
        for (at, row) in all.iter().enumerate() {
            let name = if at == 0 { name.clone() } else { format!("{name} ({})", at + 1) };
            // The source place of a row changes with every line above it upstream.
            let cells =
                table.columns.iter().zip(row.iter()).filter(|(column, _)| *column != "source");
            let cells = cells.map(|(column, cell)| (column.clone(), cell.clone())).collect();
            rows.insert(name, cells);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    fn rows(text: &str) -> Rows {
        table_rows(&Table::parse(text, None).unwrap(), &["code"], &BTreeMap::new()).unwrap()
    }

    #[test]
    fn differences_are_by_key() {
        let old = rows("code\tname\tsource\n1\ta\t0#L1\n2\tb\t0#L2\n3\tc\t0#L3\n");
        let new = rows("code\tname\tsource\n4\td\t0#L1\n3\tc\t0#L9\n2\tx\t0#L3\n");
        let found = Difference::between("f", &old, &new);
        assert_eq!(found.added.keys().collect::<Vec<_>>(), ["4"]);
        assert_eq!(found.removed.keys().collect::<Vec<_>>(), ["1"]);
        assert_eq!(found.changed["2"]["name"], ("b".to_owned(), "x".to_owned()));
        assert_eq!((found.changed.len(), found.rows), (1, 3));
        assert!(Difference::between("f", &old, &old).is_empty());
    }

    #[test]
    fn rows_of_toml_are_found_by_their_key_fields() {
        let text = "as_of = 'x'\n[[cann]]\nversion = '9'\nhdk = ['a']\n";
        let rows = toml_rows(text, &[("cann", &["version"])]).unwrap();
        assert_eq!(rows["cann 9"]["hdk"], "[\"a\"]");
        assert_eq!(rows["as_of"]["value"], "\"x\"");
        assert!(toml_rows(text, &[]).is_err());
        let twice = format!("{text}[[cann]]\nversion = '9'\n");
        assert!(toml_rows(&twice, &[("cann", &["version"])]).is_err());
    }
}
