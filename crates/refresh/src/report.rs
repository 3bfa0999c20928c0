//! Formats the differences of a refresh as text, Markdown and JSON.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::diff::Difference;

/// The maximum number of rows per table and kind in text and Markdown.
const LISTED: usize = 40;

/// Formats every difference as JSON.
pub(crate) fn json(differences: &[Difference]) -> Result<String> {
    let unchanged = differences.iter().filter(|difference| difference.is_empty()).count();
    let changed: Vec<&Difference> =
        differences.iter().filter(|difference| !is_silent(difference)).collect();
    let report = serde_json::json!({
        "schema": "ascend-doctor/refresh/1",
        "tables": differences.len(),
        "unchanged": unchanged,
        "differences": changed,
    });
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

/// Formats one line per table, then one line per row.
pub(crate) fn text(differences: &[Difference]) -> String {
    let mut out = String::new();
    for difference in differences.iter().filter(|difference| !is_silent(difference)) {
        out.push_str(&format!("{}: {}\n", difference.file, counts(difference)));
        for line in lines(difference) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push_str(&summary(differences));
    out
}

/// Formats the same as Markdown, with the rows folded.
pub(crate) fn markdown(differences: &[Difference]) -> String {
    let mut out = format!("{}\n", summary(differences));
    for difference in differences.iter().filter(|difference| !is_silent(difference)) {
        out.push_str(&format!(
            "<details><summary><code>{}</code>: {}</summary>\n\n```diff\n",
            difference.file,
            counts(difference)
        ));
        for line in lines(difference) {
            // A fence inside a value must not end the block.
            out.push_str(&format!("{}\n", line.replace("```", "'''")));
        }
        out.push_str("```\n\n</details>\n");
    }
    out
}

fn is_silent(difference: &Difference) -> bool {
    difference.is_empty() && difference.stale.is_empty()
}

fn summary(differences: &[Difference]) -> String {
    let changed = differences.iter().filter(|difference| !difference.is_empty()).count();
    let count = |of: fn(&Difference) -> usize| differences.iter().map(of).sum::<usize>();
    let (added, modified, removed) =
        (count(|d| d.added.len()), count(|d| d.changed.len()), count(|d| d.removed.len()));
    format!(
        "{changed} of {} tables changed: {added} rows added, {modified} changed, {removed} removed\n",
        differences.len()
    )
}

fn counts(difference: &Difference) -> String {
    let mut parts = vec![
        format!("{} added", difference.added.len()),
        format!("{} changed", difference.changed.len()),
        format!("{} removed", difference.removed.len()),
    ];
    for (count, what) in [(difference.kept.len(), "kept"), (difference.stale.len(), "stale manual")]
    {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    format!("{} ({} rows)", parts.join(", "), difference.rows)
}

fn lines(difference: &Difference) -> Vec<String> {
    let values = |row: &BTreeMap<String, String>| {
        let cells: Vec<&str> =
            row.values().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
        one_line(&cells.join(" | "))
    };
    let added =
        difference.added.iter().map(|(key, row)| format!("+ {}: {}", one_line(key), values(row)));
    let changed = difference.changed.iter().map(|(key, cells)| {
        let cells: Vec<String> = cells
            .iter()
            .map(|(name, (old, new))| format!("{name}: {} -> {}", one_line(old), one_line(new)))
            .collect();
        format!("~ {}: {}", one_line(key), cells.join("; "))
    });
    let removed =
        difference.removed.iter().map(|(key, row)| format!("- {}: {}", one_line(key), values(row)));
    let mut all = limited(added.collect());
    all.extend(limited(changed.collect()));
    all.extend(limited(removed.collect()));
    all.extend(difference.stale.iter().map(|row| format!("! overlay: {row}")));
    all
}

fn limited(mut lines: Vec<String>) -> Vec<String> {
    let rest = lines.len().saturating_sub(LISTED);
    lines.truncate(LISTED);
    if rest > 0 {
        lines.push(format!("  … and {rest} more (--json lists all)"));
    }
    lines
}

/// Formats a value on one line of at most 160 characters, without control characters.
fn one_line(value: &str) -> String {
    let clean: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match clean.char_indices().nth(160) {
        Some((at, _)) => format!("{}…", &clean[..at]),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(&str, &str)]) -> BTreeMap<String, String> {
        cells.iter().map(|(name, cell)| ((*name).to_owned(), (*cell).to_owned())).collect()
    }

    #[test]
    fn every_kind_of_difference_is_shown() {
        let mut one =
            Difference { file: "errors/a.tsv".to_owned(), rows: 3, ..Difference::default() };
        one.added.insert("1".to_owned(), row(&[("symbol", "A\n```")]));
        one.changed.insert(
            "2".to_owned(),
            BTreeMap::from([("symbol".to_owned(), ("B".to_owned(), "C".to_owned()))]),
        );
        one.removed.insert("3".to_owned(), row(&[("symbol", "D")]));
        one.stale.push("`4` is no longer in a source".to_owned());
        let all = [one, Difference { file: "b".to_owned(), ..Difference::default() }];
        let text = text(&all);
        for part in [
            "errors/a.tsv: 1 added, 1 changed, 1 removed, 1 stale manual (3 rows)",
            "+ 1: A ```",
            "~ 2: symbol: B -> C",
            "- 3: D",
            "! overlay: `4`",
            "1 of 2 tables changed: 1 rows added, 1 changed, 1 removed",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert_eq!(markdown(&all).matches("```").count(), 2);
        let json: serde_json::Value = serde_json::from_str(&json(&all).unwrap()).unwrap();
        assert_eq!(json["differences"][0]["changed"]["2"]["symbol"][1], "C");
        assert_eq!(json["unchanged"], 1);
    }
}
