//! Generates the code that declares the messages from their sentences: `src/messages/` has one
//! value for each message, with the values that its sentences need, and no sentence.
//!
//! The code is committed, so an edited sentence needs no build. `cargo xtask messages` writes the
//! code. A test, and the build script of programs with built-in tables, compare it with the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use toml::{Table, Value};

/// Values that are always numbers. A value with a counted noun, `{n:file|files}`, is a number even
/// if it is not listed.
const COUNTS: [&str; 3] = ["n", "count", "days"];
/// Rust keywords.
const KEYWORDS: [&str; 6] = ["where", "type", "in", "as", "use", "for"];
/// The directory of the causes of failures.
const CAUSES: &str = "errors/causes/";
/// The directory of the texts that identify a cause.
const SIGNATURES: &str = "errors/signatures/";
/// The line width in `rustfmt.toml`.
const WIDTH: usize = 100;

/// Returns the generated files, by path below `data/src/messages/`. `tables` has the content of the
/// files below `data/` by path.
///
/// # Errors
///
/// Returns an error if a table is not valid, or if a language is missing or has other placeholders.
pub(crate) fn generate(
    tables: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut out = BTreeMap::new();
    let mut families = Vec::new();
    let (mut cause_ids, mut signature_ids) = (BTreeSet::new(), BTreeSet::new());
    for (path, text) in tables {
        let table: Table = toml::from_str(text).map_err(|error| format!("data/{path}: {error}"))?;
        match path.strip_prefix("findings/") {
            Some("reasons.toml") => {
                out.insert("reasons.rs".to_owned(), reasons(path, &table)?);
            }
            Some(file) => {
                let family = file.trim_end_matches(".toml").to_owned();
                out.insert(format!("findings/{family}.rs"), findings(path, &table)?);
                families.push(family);
            }
            None if path.starts_with(CAUSES) => cause_ids.extend(ids(&table, "cause")),
            None if path.starts_with(SIGNATURES) => signature_ids.extend(ids(&table, "signature")),
            None => {
                let (labels, sentences) = words(path, &table)?;
                out.insert("labels.rs".to_owned(), labels);
                out.insert("sentences.rs".to_owned(), sentences);
            }
        }
    }
    for (name, directory, ids) in
        [("causes.rs", CAUSES, cause_ids), ("signatures.rs", SIGNATURES, signature_ids)]
    {
        out.insert(name.to_owned(), constants(directory, &ids)?);
    }
    let mut all = head("findings/*.toml");
    for family in &families {
        writeln!(all, "mod {family};").map_err(|error| error.to_string())?;
    }
    all.push('\n');
    for family in &families {
        writeln!(all, "pub use {family}::*;").map_err(|error| error.to_string())?;
    }
    out.insert("findings/mod.rs".to_owned(), all);
    Ok(out)
}

/// Returns whether the rows of `data/<path>` have generated code.
pub(crate) fn has_messages(path: &str) -> bool {
    let below = |directory: &&str| path.starts_with(*directory);
    path == "ui.toml"
        || path.ends_with(".toml") && ["findings/", CAUSES, SIGNATURES].iter().any(below)
}

/// Returns the IDs of the rows of a table.
fn ids(table: &Table, key: &str) -> Vec<String> {
    array(table.get(key)).filter_map(|row| string(row, "id")).map(str::to_owned).collect()
}

/// Generates a constant for each ID `layer.name`, in a module for each layer.
fn constants(directory: &str, ids: &BTreeSet<String>) -> Result<String, String> {
    let mut layers: BTreeMap<&str, Vec<(String, &str)>> = BTreeMap::new();
    for id in ids {
        let (layer, name) = id.split_once('.').unwrap_or(("", id));
        let name = name.to_uppercase().replace(['.', '-'], "_");
        layers.entry(layer).or_default().push((name, id));
    }
    let mut out = head(&format!("{directory}*.toml"));
    out.push_str("#![allow(missing_docs, reason = \"each name is the ID that it stands for\")]\n");
    for (layer, names) in layers {
        let indent = if layer.is_empty() { "" } else { "    " };
        out.push('\n');
        if !layer.is_empty() {
            writeln!(out, "pub mod {layer} {{").map_err(|error| error.to_string())?;
        }
        for (name, id) in names {
            let (name, id) = (format!("{indent}pub const {name}: &str ="), format!("\"{id}\";"));
            let fits = name.len() + 1 + id.len() <= WIDTH;
            let gap = if fits { " ".to_owned() } else { format!("\n{indent}    ") };
            writeln!(out, "{name}{gap}{id}").map_err(|error| error.to_string())?;
        }
        if !layer.is_empty() {
            out.push_str("}\n");
        }
    }
    Ok(out)
}

fn head(path: &str) -> String {
    format!("//! Written by `cargo xtask messages` from `data/{path}`; do not edit.\n\n")
}

/// Generates the messages of a family, in modules by ID.
fn findings(path: &str, table: &Table) -> Result<String, String> {
    let mut out = head(path);
    out.push_str("use crate::message::findings;\n\nfindings! {\n");
    for entry in array(table.get("finding")) {
        let id = string(entry, "id").ok_or_else(|| format!("data/{path}: a finding has no id"))?;
        let place = format!("data/{path}: {id}");
        let why = entry.get("why").ok_or_else(|| format!("{place} has no `why`"))?;
        for key in ["name", "detects"] {
            let text = entry.get(key).ok_or_else(|| format!("{place} has no `{key}`"))?;
            Values::default().add(&format!("{place}.{key}"), text)?;
        }
        let _ = writeln!(out, "    {} = {id:?} {{", id.to_ascii_lowercase().replace('-', "_"));
        let messages = entry.get("message").and_then(Value::as_table);
        for (key, message) in messages.into_iter().flatten() {
            let place = format!("{place}.{key}");
            let title = message.get("title").ok_or_else(|| format!("{place} has no title"))?;
            let mut values = Values::default();
            values.add(&place, title)?;
            values.add(&place, message.get("cause").unwrap_or(why))?;
            for step in array(message.get("fix")) {
                values.add(&place, step)?;
                if let Some(run) = string(step, "run") {
                    values.extend(run);
                }
            }
            row(&mut out, 2, &camel(key), key, &values);
        }
        out.push_str("    }\n");
    }
    out.push_str("}\n");
    Ok(out)
}

/// Generates the reasons why rules have no result.
fn reasons(path: &str, table: &Table) -> Result<String, String> {
    let mut out = head(path);
    out.push_str("use crate::message::reasons;\n\nreasons! {\n");
    for (key, text) in table.get("reason").and_then(Value::as_table).into_iter().flatten() {
        let mut values = Values::default();
        values.add(&format!("data/{path}: {key}"), text)?;
        if let Some(settle) = text.get("settle") {
            values.add(&format!("data/{path}: {key}.settle"), settle)?;
        }
        if values.0.keys().any(|name| name != "what") {
            return Err(format!("data/{path}: {key} has another value than `what`"));
        }
        let value = if values.0.is_empty() { "" } else { " { what }" };
        let _ = writeln!(out, "    {} = {key:?}{value},", camel(key));
    }
    out.push_str("}\n");
    Ok(out)
}

/// Generates words without values, and sentences with values.
fn words(path: &str, table: &Table) -> Result<(String, String), String> {
    let (mut labels, mut sentences) = (head(path), head(path));
    labels.push_str("use crate::message::labels;\n\nlabels! {\n");
    sentences.push_str("use crate::message::sentences;\n\nsentences! {\n");
    for (key, text) in table.get("word").and_then(Value::as_table).into_iter().flatten() {
        let mut values = Values::default();
        values.add(&format!("data/{path}: {key}"), text)?;
        if values.0.is_empty() {
            let _ = writeln!(labels, "    {} = {key:?},", key.to_ascii_uppercase());
        } else {
            row(&mut sentences, 1, &camel(key), key, &values);
        }
    }
    labels.push_str("}\n");
    sentences.push_str("}\n");
    Ok((labels, sentences))
}

/// Writes a row such as `Closed = "closed" { uid: Count, user: Argument },`.
fn row(out: &mut String, depth: usize, name: &str, key: &str, values: &Values) {
    let indent = "    ".repeat(depth);
    let fields: Vec<String> = values
        .0
        .iter()
        .map(|(name, count)| {
            let raw = if KEYWORDS.contains(&name.as_str()) { "r#" } else { "" };
            format!("{raw}{name}: {}", if *count { "Count" } else { "Argument" })
        })
        .collect();
    if fields.is_empty() {
        let _ = writeln!(out, "{indent}{name} = {key:?},");
        return;
    }
    let line = format!("{indent}{name} = {key:?} {{ {} }},", fields.join(", "));
    if line.len() <= WIDTH {
        let _ = writeln!(out, "{line}");
    } else {
        let _ = writeln!(out, "{indent}{name} = {key:?} {{");
        let _ = writeln!(out, "{indent}    {},", fields.join(", "));
        let _ = writeln!(out, "{indent}}},");
    }
}

/// The values of a message by name, and whether each one is a number.
#[derive(Default)]
struct Values(BTreeMap<String, bool>);

impl Values {
    /// Adds the values of a text, which must have the same placeholders in both languages.
    fn add(&mut self, place: &str, text: &Value) -> Result<(), String> {
        let [en, zh] = ["en", "zh"].map(|lang| {
            string(text, lang)
                .filter(|text| !text.trim().is_empty())
                .ok_or_else(|| format!("{place} has no `{lang}`"))
        });
        let (en, zh) = (en?, zh?);
        let names = |text| placeholders(text).map(|(name, _)| name).collect::<BTreeSet<_>>();
        if let Some(name) = names(en).symmetric_difference(&names(zh)).next() {
            return Err(format!("{place}: only one language has `{{{name}}}`"));
        }
        self.extend(en);
        self.extend(zh);
        Ok(())
    }

    fn extend(&mut self, template: &str) {
        for (name, counted) in placeholders(template) {
            let count = self.0.entry(name.to_owned()).or_insert(COUNTS.contains(&name));
            *count |= counted;
        }
    }
}

/// Returns the placeholders of a template, and whether each one counts a noun. The build script
/// cannot use the reader in `base`; a test compares the two.
pub(crate) fn placeholders(template: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut until = 0;
    template.match_indices('{').filter_map(move |(at, _)| {
        if at < until {
            return None;
        }
        let inside = &template[at + 1..];
        let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let end = inside.find(|c| !in_name(c)).filter(|end| *end > 0)?;
        let (name, behind) = inside.split_at(end);
        let Some(words) = behind.strip_prefix(':') else {
            return behind.starts_with('}').then_some((name, false));
        };
        let (words, _) = words.split_once('}')?;
        words.contains('|').then(|| {
            until = at + 1 + name.len() + 1 + words.len();
            (name, true)
        })
    })
}

/// Converts `no_driver` to `NoDriver`.
fn camel(key: &str) -> String {
    let part = |part: &str| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    key.split('_').map(part).collect()
}

fn array(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn string<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}
