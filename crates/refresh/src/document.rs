//! A TOML file of arrays of tables with manual rows: [`Document`].
//!
//! Manual rows are in `<table>.overlay.toml` next to the table, in arrays of the same names. Each
//! has `action`, its key fields, any further fields, and `why` with the source of the row. Actions:
//! `add` a row that no source has, `set` fields of a row that a source has, `drop` a row that a
//! source has. `why` is added to the field `source`, if the rows have one.

use std::cmp::Ordering;

use anyhow::{Context as _, Result, bail, ensure};
use toml::Value;

/// Fields of a row by name.
pub(crate) type Row = toml::Table;

/// A TOML file of arrays of tables.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// Comment lines below the ownership line, without `# `.
    pub(crate) remarks: Vec<String>,
    /// Values above the arrays, in order.
    pub(crate) values: Vec<(&'static str, Value)>,
    /// The arrays, in order.
    pub(crate) arrays: Vec<Array>,
}

/// Rows of one kind.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) shape: &'static Shape,
    pub(crate) rows: Vec<Row>,
}

/// Name, key and fields of an array.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// Comment above the first row.
    pub(crate) title: &'static str,
    /// Fields that identify a row. A missing one counts as empty.
    pub(crate) key: &'static [&'static str],
    /// All fields, in the order of the file.
    pub(crate) fields: &'static [&'static str],
    /// Order of the rows. Equal rows keep their order, extracted ones first.
    pub(crate) order: fn(&Row, &Row) -> Ordering,
}

/// Returns the text of a field, or an empty text.
pub(crate) fn text<'r>(row: &'r Row, field: &str) -> &'r str {
    row.get(field).and_then(Value::as_str).unwrap_or_default()
}

impl Shape {
    /// Returns name and key in the form that extractors declare.
    pub(crate) const fn keyed(&self) -> (&'static str, &'static [&'static str]) {
        (self.name, self.key)
    }

    fn key_of(&self, row: &Row) -> String {
        self.key.iter().map(|field| text(row, field)).collect::<Vec<_>>().join(" ")
    }
}

impl Document {
    /// Applies manual rows. Returns those that no longer fit.
    ///
    /// # Errors
    ///
    /// If the overlay is not valid, or a row ends up with an unknown field.
    pub(crate) fn apply(&mut self, overlay: &str) -> Result<Vec<String>> {
        let overlay: toml::Table = toml::from_str(overlay)?;
        let mut stale = Vec::new();
        for (name, value) in overlay {
            if let Some((_, known)) = self.values.iter_mut().find(|(known, _)| *known == name) {
                // The day up to which sources were read: the later one counts.
                ensure!(name == "as_of", "`{name}` cannot be overlaid");
                let (new, old) = (value.as_str(), known.as_str());
                ensure!(new.is_some(), "`{name}` is not a text");
                if new > old {
                    *known = value;
                }
                continue;
            }
            let array = self.arrays.iter_mut().find(|array| array.shape.name == name);
            let array = array.with_context(|| format!("the table has no array [[{name}]]"))?;
            let Value::Array(rows) = value else { bail!("`{name}` is not an array of tables") };
            for row in rows {
                let Value::Table(row) = row else { bail!("`{name}` is not an array of tables") };
                stale.extend(array.apply(row).with_context(|| format!("[[{name}]]"))?);
            }
        }
        Ok(stale)
    }

    /// Checks and sorts the rows.
    pub(crate) fn finish(&mut self) -> Result<()> {
        for array in &mut self.arrays {
            let shape = array.shape;
            array.rows.sort_by(shape.order);
            for row in &mut array.rows {
                row.retain(|_, value| match value {
                    Value::Array(list) => !list.is_empty(),
                    Value::Table(table) => !table.is_empty(),
                    _ => true,
                });
                let unknown = row.keys().find(|field| !shape.fields.contains(&field.as_str()));
                if let Some(field) = unknown {
                    bail!("[[{}]] {}: unknown field `{field}`", shape.name, shape.key_of(row));
                }
            }
        }
        Ok(())
    }

    /// Writes the file. `head` holds the comment lines about the owner, without `# `.
    pub(crate) fn render(&self, head: &[String]) -> String {
        let mut out = String::new();
        for line in head.iter().chain(&self.remarks) {
            out.push_str(&format!("# {line}\n"));
        }
        for (name, value) in &self.values {
            out.push_str(&format!("{name} = {}\n", show(value)));
        }
        for array in &self.arrays {
            out.push_str(&format!("\n# {}\n", array.shape.title));
            for (at, row) in array.rows.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "\n" });
                out.push_str(&format!("[[{}]]\n", array.shape.name));
                for field in array.shape.fields {
                    if let Some(value) = row.get(*field) {
                        out.push_str(&format!("{field} = {}\n", show(value)));
                    }
                }
            }
        }
        out
    }
}

impl Array {
    /// Applies one manual row. Returns a remark if it no longer fits.
    fn apply(&mut self, mut manual: Row) -> Result<Option<String>> {
        let shape = self.shape;
        let key = shape.key_of(&manual);
        let taken = |manual: &mut Row, field: &str| match manual.remove(field) {
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
            _ => bail!("row `{key}` has no `{field}`"),
        };
        let action = taken(&mut manual, "action")?;
        let why = taken(&mut manual, "why")?;
        if let Some(field) = manual.keys().find(|field| !shape.fields.contains(&field.as_str())) {
            bail!("row `{key}`: unknown field `{field}`");
        }
        let sourced = shape.fields.contains(&"source");
        ensure!(!sourced || !manual.contains_key("source"), "row `{key}`: `why` is the source");
        let base = self.rows.iter().position(|row| shape.key_of(row) == key);
        let stale = match (action.as_str(), base) {
            ("add", None) => {
                if sourced {
                    manual.insert("source".to_owned(), Value::String(why));
                }
                self.rows.push(manual);
                None
            }
            ("add" | "set", Some(at)) => {
                let row = &mut self.rows[at];
                let same = manual.iter().all(|(field, value)| row.get(field) == Some(value));
                row.extend(manual);
                if sourced && !same {
                    let old = text(row, "source").to_owned();
                    if !old.contains(&why) {
                        row.insert("source".to_owned(), Value::String(format!("{old}; {why}")));
                    }
                }
                match (action.as_str(), same) {
                    (_, true) => Some("is in a source now: remove the manual row".to_owned()),
                    ("add", _) => Some("is in a source now; the manual row replaces it".to_owned()),
                    _ => None,
                }
            }
            ("drop", Some(at)) => {
                self.rows.remove(at);
                None
            }
            ("set" | "drop", None) => Some("is no longer in a source".to_owned()),
            (other, _) => bail!("row `{key}`: unknown action `{other}`"),
        };
        Ok(stale.map(|what| format!("[[{}]] `{key}` {what}", shape.name)))
    }
}

/// Formats a value on one line.
fn show(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Value::Table(table) => {
            let bare = |key: &str| {
                !key.is_empty()
                    && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            };
            let pairs = table.iter().map(|(key, value)| {
                let key = if bare(key) { key.clone() } else { quote(key) };
                format!("{key} = {}", show(value))
            });
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Formats a basic string. JSON escapes are TOML escapes.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        name: "pair",
        title: "Pairs.",
        key: &["cann", "chip"],
        fields: &["cann", "chip", "hdk", "source"],
        order: |a, b| text(b, "cann").cmp(text(a, "cann")),
    };

    fn document() -> Document {
        static PAIR: Shape = SHAPE;
        let rows = [("8", "a"), ("9", "b")].map(|(cann, hdk)| {
            Row::from_iter(
                [("cann", cann), ("hdk", hdk), ("source", "x")]
                    .map(|(name, value)| (name.to_owned(), Value::from(value))),
            )
        });
        Document {
            remarks: vec!["r".to_owned()],
            values: vec![("as_of", Value::from("2026-01-01"))],
            arrays: vec![Array { shape: &PAIR, rows: rows.to_vec() }],
        }
    }

    #[test]
    fn rows_are_added_changed_and_dropped() {
        let mut document = document();
        let overlay = "as_of = '2026-02-02'\n\
                       [[pair]]\naction = 'set'\ncann = '9'\nhdk = 'c\"'\nwhy = 'y'\n\
                       [[pair]]\naction = 'drop'\ncann = '8'\nwhy = 'y'\n\
                       [[pair]]\naction = 'add'\ncann = '95'\nchip = 'a3'\nwhy = 'z'\n";
        assert!(document.apply(overlay).unwrap().is_empty());
        document.finish().unwrap();
        assert_eq!(
            document.render(&["head".to_owned()]),
            "# head\n# r\nas_of = \"2026-02-02\"\n\n# Pairs.\n\
             [[pair]]\ncann = \"95\"\nchip = \"a3\"\nsource = \"z\"\n\n\
             [[pair]]\ncann = \"9\"\nhdk = \"c\\\"\"\nsource = \"x; y\"\n"
        );
    }

    #[test]
    fn rows_that_no_longer_fit_are_reported() {
        let mut document = document();
        let overlay = "[[pair]]\naction = 'add'\ncann = '9'\nhdk = 'b'\nwhy = 'y'\n\
                       [[pair]]\naction = 'add'\ncann = '8'\nhdk = 'z'\nwhy = 'y'\n\
                       [[pair]]\naction = 'set'\ncann = '7'\nwhy = 'y'\n\
                       [[pair]]\naction = 'drop'\ncann = '6'\nwhy = 'y'\n";
        assert_eq!(document.apply(overlay).unwrap().len(), 4);
        let rows = &document.arrays[0].rows;
        assert_eq!((text(&rows[0], "hdk"), text(&rows[1], "source")), ("z", "x"));
    }

    #[test]
    fn malformed_overlays_are_rejected() {
        for (overlay, message) in [
            ("[[pair]]\naction = 'add'\ncann = '1'\n", "no `why`"),
            ("[[pair]]\ncann = '1'\nwhy = 'x'\n", "no `action`"),
            ("[[pair]]\naction = 'keep'\ncann = '1'\nwhy = 'x'\n", "unknown action"),
            ("[[pair]]\naction = 'add'\ncolor = '1'\nwhy = 'x'\n", "unknown field `color`"),
            ("[[pair]]\naction = 'add'\nsource = '1'\nwhy = 'x'\n", "`why` is the source"),
            ("[[gate]]\naction = 'add'\nwhy = 'x'\n", "no array [[gate]]"),
            ("as_of = 3\n", "not a text"),
        ] {
            let error = document().apply(overlay).unwrap_err();
            assert!(format!("{error:#}").contains(message), "{error:#}");
        }
    }
}
