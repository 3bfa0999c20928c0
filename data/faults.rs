//! Generates the code that declares the errors of `faults.toml`: `src/faults.rs` has one type for
//! each error, with the values that its sentence needs, and no sentence.
//!
//! The code is committed, so an edited sentence needs no build. `cargo xtask faults` writes the
//! code. A test, and the build script of programs with built-in tables, compare it with the table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

/// Values that are always numbers.
const COUNTS: [&str; 15] = [
    "begin", "column", "data", "end", "gid", "known", "limit", "line", "more", "n", "number",
    "offset", "pid", "size", "uid",
];

/// Returns the generated code.
///
/// # Errors
///
/// Returns an error if a sentence has no English or no Chinese, or if their placeholders differ.
pub(crate) fn generate(text: &str) -> Result<String, String> {
    let table: Table =
        toml::from_str(text).map_err(|error| format!("data/faults.toml: {error}"))?;
    let mut out = "//! Written by `cargo xtask faults` from `data/faults.toml`; do not edit.\n\n\
                   use crate::fault::faults;\n\nfaults! {\n"
        .to_owned();
    for (key, row) in table.get("fault").and_then(Value::as_table).into_iter().flatten() {
        let [en, zh] = ["en", "zh"].map(|lang| {
            let text = row.get(lang).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
            text.ok_or_else(|| format!("data/faults.toml: `{key}` has no `{lang}`"))
        });
        let (values, other) = (placeholders(en?), placeholders(zh?));
        if let Some(name) = values
            .keys()
            .chain(other.keys())
            .find(|name| !values.contains_key(*name) || !other.contains_key(*name))
        {
            return Err(format!("data/faults.toml: `{key}`: only one language has `{{{name}}}`"));
        }
        let kind = |number| if number { "Number" } else { "Value" };
        let fields: Vec<String> =
            values.iter().map(|(name, number)| format!("{name}: {}", kind(*number))).collect();
        let fields =
            if fields.is_empty() { String::new() } else { format!(" {{ {} }}", fields.join(", ")) };
        writeln!(out, "    {} = {key:?}{fields},", camel(key))
            .map_err(|error| error.to_string())?;
    }
    out.push_str("}\n");
    Ok(out)
}

/// Returns the placeholders of a template, and whether each one is a number. The build script
/// cannot use the reader in `base`; a test compares the two.
pub(crate) fn placeholders(template: &str) -> BTreeMap<&str, bool> {
    let found = template.match_indices('{').filter_map(|(at, _)| {
        let inside = &template[at + 1..];
        let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let end = inside.find(|c| !in_name(c)).filter(|end| *end > 0)?;
        let (name, behind) = inside.split_at(end);
        let counted = behind.strip_prefix(':').and_then(|words| words.split_once('}'));
        let counted = counted.is_some_and(|(words, _)| words.contains('|'));
        (counted || behind.starts_with('}')).then_some((name, counted || COUNTS.contains(&name)))
    });
    found.collect()
}

/// Converts `not_utf8` to `NotUtf8`.
fn camel(key: &str) -> String {
    let part = |part: &str| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    key.split('_').map(part).collect()
}
