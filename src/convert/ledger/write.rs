//! The ledger as a file: JSON or CSV.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use super::entry::{Class, Entry, Witness};
use super::totals::Totals;
use super::{FileLedger, Ledger, tokens};

/// The version of both formats.
const VERSION: u32 = 1;

/// The columns of the CSV form.
const HEAD: &str = "path,line,column,token,class,rule,blocker,reason,witness_path,witness_line";

/// Writes the ledger as JSON.
///
/// # Errors
///
/// Errors of `out`.
pub fn json(ledger: &Ledger, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        version: VERSION,
        tokens: tokens::words(),
        counts: ledger.totals(),
        files: Files(ledger),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

/// Writes the ledger as CSV, one token a line. Tokens beyond the limit of a file are one line
/// without a place, with their number as the token.
///
/// # Errors
///
/// Errors of `out`.
pub fn csv(ledger: &Ledger, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEAD}")?;
    for file in &ledger.files {
        let path = field(&file.path);
        for entry in &file.entries {
            let Columns { rule, blocker, reason, witness_path, witness_line } =
                Columns::of(entry, &file.path);
            writeln!(
                out,
                "{path},{},{},{},{},{rule},{blocker},{reason},{},{}",
                entry.line,
                entry.column,
                entry.token.word(),
                entry.class.as_str(),
                field(witness_path),
                witness_line.map(|line| line.to_string()).unwrap_or_default(),
            )?;
        }
        if file.beyond > 0 {
            writeln!(out, "{path},,,{} more,unexplained,,,,,", file.beyond)?;
        }
    }
    Ok(())
}

/// The parts of a class; empty if the class has none.
struct Columns<'a> {
    rule: &'a str,
    blocker: &'a str,
    reason: &'a str,
    witness_path: &'a str,
    witness_line: Option<u32>,
}

impl<'a> Columns<'a> {
    fn of(entry: &'a Entry, path: &'a str) -> Self {
        let mut columns =
            Self { rule: "", blocker: "", reason: "", witness_path: "", witness_line: None };
        match &entry.class {
            Class::Changed { rule } => columns.rule = rule,
            Class::Manual { rule, blocker } => {
                columns.rule = rule;
                columns.blocker = blocker.as_str();
            }
            Class::Kept { reason, witness } => {
                columns.reason = reason.as_str();
                match witness {
                    Witness::Line(line) => {
                        columns.witness_path = path;
                        columns.witness_line = Some(*line);
                    }
                    Witness::Place(path, line) => {
                        columns.witness_path = path;
                        columns.witness_line = (*line > 0).then_some(*line);
                    }
                    Witness::Rule(rule) => columns.rule = rule,
                }
            }
            Class::Unexplained => {}
        }
        columns
    }
}

/// A field of CSV. Escapes control characters, so that a file name cannot end a line.
fn field(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !c.is_control() && !matches!(c, ',' | '"');
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\"\""),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out.push('"');
    Cow::Owned(out)
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tokens: &'a [&'static str],
    counts: Totals,
    files: Files<'a>,
}

struct Files<'a>(&'a Ledger);

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.0.files.len()))?;
        for file in &self.0.files {
            all.serialize_element(&File {
                path: &file.path,
                kind: file.kind,
                counts: file.totals(),
                beyond_limit: file.beyond,
                entries: Entries(file),
            })?;
        }
        all.end()
    }
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    kind: treeedit::kind::FileKind,
    counts: Totals,
    beyond_limit: usize,
    entries: Entries<'a>,
}

struct Entries<'a>(&'a FileLedger);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.0.entries.len()))?;
        for entry in &self.0.entries {
            all.serialize_element(&Row(entry, &self.0.path))?;
        }
        all.end()
    }
}

struct Row<'a>(&'a Entry, &'a str);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(entry, path) = self;
        let columns = Columns::of(entry, path);
        let mut row = serializer.serialize_map(None)?;
        row.serialize_entry("line", &entry.line)?;
        row.serialize_entry("column", &entry.column)?;
        row.serialize_entry("token", entry.token.word())?;
        row.serialize_entry("class", entry.class.as_str())?;
        for (name, value) in
            [("rule", columns.rule), ("blocker", columns.blocker), ("reason", columns.reason)]
        {
            if !value.is_empty() {
                row.serialize_entry(name, value)?;
            }
        }
        if !columns.witness_path.is_empty() {
            row.serialize_entry(
                "witness",
                &Place { path: columns.witness_path, line: columns.witness_line },
            )?;
        }
        row.end()
    }
}

#[derive(Serialize)]
struct Place<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::entry::Reason;
    use treeedit::kind::FileKind;

    fn ledger(path: &str) -> Ledger {
        let (tokens, _) = tokens::find("gpu cuda nccl", 9);
        let classes = [
            Class::kept(Reason::Comment, 1),
            Class::Unexplained,
            Class::Kept { reason: Reason::Rule, witness: Witness::Rule("CV0308") },
        ];
        let entries = tokens.into_iter().zip(classes).map(|(token, class)| Entry {
            token,
            line: 1,
            column: 1,
            class,
        });
        let file = FileLedger {
            path: path.to_owned(),
            kind: FileKind::Python,
            entries: entries.collect(),
            beyond: 2,
            excerpts: Vec::new(),
        };
        Ledger { files: vec![file] }
    }

    #[test]
    fn both_forms_have_every_token() {
        let ledger = ledger("a.py");
        let mut out = Vec::new();
        csv(&ledger, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 1 + 3 + 1, "{text}");
        assert!(text.contains("a.py,1,1,gpu,kept,,,comment,a.py,1\n"), "{text}");
        assert!(text.contains("a.py,1,1,nccl,kept,CV0308,,rule,,\n"), "{text}");
        let mut out = Vec::new();
        json(&ledger, &mut out).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["counts"]["tokens"], 5);
        assert_eq!(document["counts"]["unexplained"], 3);
        assert_eq!(document["files"][0]["entries"][0]["witness"]["line"], 1);
    }

    #[test]
    fn a_hostile_name_stays_in_its_field() {
        let mut out = Vec::new();
        csv(&ledger("a\n\"b\",c\u{1b}[2J"), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 5, "{text:?}");
        assert!(text.contains("\"a\\n\"\"b\"\",c\\u{1b}[2J\""), "{text:?}");
    }
}
