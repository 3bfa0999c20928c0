//! Tables in Markdown and HTML with the environment.
//!
//! A table of a manual lists many versions. A table of an environment has one value per label.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, key_value};
use crate::candidate::{Form, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::names;
use crate::version::regex;

/// The line below the head of a table in Markdown.
static RULE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\|?\s*:?-{2,}:?(?:\s*\|\s*:?-{2,}:?)+\s*\|?$"));

pub(super) fn read(lines: &[Line], found: &mut Found) {
    let mut at = 0;
    while at < lines.len() {
        let end = table_end(lines, at, found);
        if end > at {
            table(lines, at, end, found);
            at = end;
        } else {
            at += 1;
        }
    }
}

fn table_end(lines: &[Line], from: usize, found: &Found) -> usize {
    let mut end = from;
    // A table without marks at its ends has a rule below its head.
    let open = lines.get(from + 1).is_some_and(|rule| RULE.is_match(&rule.text));
    while let Some(line) = lines.get(end)
        && !found.is_taken(end)
        && matches!(line.kind, Kind::Text | Kind::Quotation)
        && cells(&line.text, open).len() >= 2
    {
        end += 1;
    }
    end
}

fn cells(text: &str, open: bool) -> Vec<&str> {
    if !text.starts_with('|') && !open {
        return Vec::new();
    }
    text.trim_matches('|').split('|').map(str::trim).take(16).collect()
}

fn is_rule(row: &[&str]) -> bool {
    row.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | '=' | '+' | ' ')))
}

fn table(lines: &[Line], from: usize, end: usize, found: &mut Found) {
    let all = lines.get(from..end).unwrap_or_default();
    let rows: Vec<(&Line, Vec<&str>)> = all
        .iter()
        .map(|line| (line, cells(&line.text, true)))
        .filter(|(_, row)| !is_rule(row))
        .collect();
    for index in from..end {
        found.take(index);
    }
    let Some((_, head)) = rows.first() else { return };
    let labels = |row: &[&str]| row.iter().filter(|cell| names::of_label(cell).is_some()).count();
    if labels(head) >= 2 {
        // Labels above, values below. Several rows of values are a table of a manual.
        let data = rows.get(1..).unwrap_or_default();
        for (line, row) in data {
            if row.len() != head.len() {
                continue;
            }
            for (label, value) in head.iter().zip(row) {
                let Some(name) = names::of_label(label) else { continue };
                if data.len() == 1 {
                    key_value::value(&name, value, line, Form::Table, found);
                } else {
                    found.reject(&name, value, line, Form::Table, Reason::Requirement);
                }
            }
        }
        return;
    }
    for (line, row) in &rows {
        // A third column is a remark; more are a comparison.
        if let [label, value] | [label, value, _] = row[..]
            && let Some(name) = names::of_label(label)
        {
            key_value::value(&name, value, line, Form::Table, found);
        }
    }
}
