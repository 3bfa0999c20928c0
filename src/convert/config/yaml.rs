//! The scalars of a YAML file with their byte ranges.
//!
//! Uses a dedicated line reader: it returns exact byte ranges, accepts files with templates (Helm,
//! Jinja), which a full parser rejects, and needs one pass. It skips everything that it cannot read
//! with certainty (scalars over several lines, tabs as indentation).

use std::ops::Range;

use super::entries::{Entries, Entry};
use super::flow;

/// A mapping that is open.
struct Level {
    /// Column of its keys.
    column: usize,
    mapping: usize,
    /// The last key.
    key: Range<usize>,
}

pub(super) fn read<'a>(text: &'a str, entries: &mut Entries<'a>) {
    let mut levels: Vec<Level> = Vec::new();
    let mut at = 0;
    let root = entries.mapping();
    while at < text.len() {
        let end = line_end(text, at);
        let next = (end + 1).min(text.len());
        let line = text[at..end].trim_end_matches('\r');
        let body = line.trim_start_matches(' ');
        if body.is_empty() || body.starts_with(['#', '%', '\t']) {
            at = next.max(at + 1);
            continue;
        }
        if line.starts_with("---") || line.starts_with("...") {
            levels.clear();
            at = next.max(at + 1);
            continue;
        }
        let mut column = line.len() - body.len();
        let start_column = column;
        let mut dash = None;
        // `- - key:` is an item of an item.
        loop {
            let rest = &line[column..];
            let Some(item) = rest.strip_prefix('-') else { break };
            if !(item.is_empty() || item.starts_with(' ')) {
                break;
            }
            dash = Some(column);
            column += 1 + (item.len() - item.trim_start_matches(' ').len());
            if column >= line.len() {
                break;
            }
        }
        at = content(text, at, line, column, start_column, dash, root, &mut levels, entries)
            .max(next.max(at + 1));
    }
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |len| at + len)
}

/// Reads the content of a line after indentation and dashes; returns the earliest offset at which
/// to continue.
#[expect(clippy::too_many_arguments, reason = "the state of one loop, in one place")]
fn content<'a>(
    text: &'a str,
    line_start: usize,
    line: &str,
    column: usize,
    start_column: usize,
    dash: Option<usize>,
    root: usize,
    levels: &mut Vec<Level>,
    entries: &mut Entries<'a>,
) -> usize {
    let rest = &line[column..];
    let offset = line_start + column;
    // The key of this list is at the column of the dash or before it.
    let outer = dash.unwrap_or(column);
    let owner = |levels: &[Level]| {
        let owner = levels.iter().rev().find(|level| level.column <= outer);
        owner.map_or((root, 0..0), |level| (level.mapping, level.key.clone()))
    };
    let Some((key, value)) = key(rest) else {
        if dash.is_none() {
            return 0;
        }
        let (mapping, owner) = owner(levels);
        let context = Context { mapping, key: owner, list: true, column: start_column };
        return scalar(text, offset, rest, &context, entries);
    };
    while levels
        .last()
        .is_some_and(|level| level.column > column || dash.is_some_and(|dash| level.column > dash))
    {
        levels.pop();
    }
    let key = offset + key.start..offset + key.end;
    match levels.last_mut() {
        Some(level) if level.column == column => level.key = key.clone(),
        _ => levels.push(Level { column, mapping: entries.mapping(), key: key.clone() }),
    }
    let mapping = levels.last().map_or(root, |level| level.mapping);
    let context = Context { mapping, key, list: false, column };
    scalar(text, offset + value, &rest[value..], &context, entries)
}

/// Range of the key without quotes, and where its value begins.
fn key(rest: &str) -> Option<(Range<usize>, usize)> {
    let bytes = rest.as_bytes();
    let (range, colon) = match bytes.first()? {
        b'"' | b'\'' => {
            let end = flow::quoted(rest, 0)?;
            let blanks = rest[end..].len() - rest[end..].trim_start_matches(' ').len();
            (1..end - 1, end + blanks)
        }
        b'{' | b'[' | b'|' | b'>' | b'&' | b'*' | b'!' | b'%' | b'@' | b'`' => return None,
        _ => {
            let mut colon = None;
            for (at, &byte) in bytes.iter().enumerate() {
                if byte == b':' && matches!(bytes.get(at + 1), None | Some(b' ' | b'\t')) {
                    colon = Some(at);
                    break;
                }
                if byte == b'#' && at > 0 && bytes[at - 1] == b' ' {
                    break;
                }
            }
            let colon = colon?;
            (0..rest[..colon].trim_end().len(), colon)
        }
    };
    if bytes.get(colon) != Some(&b':') || !matches!(bytes.get(colon + 1), None | Some(b' ' | b'\t'))
    {
        return None;
    }
    let after = &rest[colon + 1..];
    Some((range, colon + 1 + after.len() - after.trim_start_matches([' ', '\t']).len()))
}

/// The position of a scalar.
struct Context {
    mapping: usize,
    key: Range<usize>,
    list: bool,
    /// Column of the key, or of the dash.
    column: usize,
}

/// Reads the value that begins at `offset`; returns the earliest offset at which to continue.
fn scalar<'a>(
    text: &'a str,
    mut offset: usize,
    mut rest: &str,
    context: &Context,
    entries: &mut Entries<'a>,
) -> usize {
    // Anchors and tags.
    while rest.starts_with(['&', '!']) {
        let len = rest.find(' ').unwrap_or(rest.len());
        let len = len + rest[len..].len() - rest[len..].trim_start_matches(' ').len();
        offset += len;
        rest = &rest[len..];
    }
    let mut push = |value: Range<usize>| {
        let (mapping, list) = (context.mapping, context.list);
        entries.push(Entry { mapping, key: context.key.clone(), value, list });
    };
    match rest.bytes().next() {
        None | Some(b'#' | b'*') => 0,
        Some(b'|' | b'>') => {
            let end = deeper(text, line_end(text, offset) + 1, context.column);
            let body = (line_end(text, offset) + 1).min(text.len());
            entries.block(context.key.clone(), body..end.max(body));
            end
        }
        Some(b'"' | b'\'') => {
            let Some(end) = flow::quoted(text, offset) else { return 0 };
            let behind = &text[end..line_end(text, end)];
            let behind = behind.trim();
            if behind.is_empty() || behind.starts_with('#') {
                push(offset + 1..end - 1);
            }
            line_end(text, end) + 1
        }
        Some(b'{' | b'[') => {
            let mark = entries.mark();
            if let Ok(end) = flow::yaml(text, offset, context.mapping, &context.key, entries) {
                return line_end(text, end) + 1;
            }
            // Templates look the same.
            entries.back_to(mark);
            0
        }
        Some(_) => {
            let comment = rest.find(" #").unwrap_or(rest.len());
            let len = rest[..comment].trim_end().len();
            let next = line_end(text, offset) + 1;
            let end = deeper(text, next, context.column);
            // Lines with a deeper indentation continue the scalar.
            if comment == rest.len() && text.get(next..end).is_some_and(|t| !t.trim().is_empty()) {
                return end;
            }
            push(offset..offset + len);
            0
        }
    }
}

/// End of the lines from `at` on that are blank or indented deeper than `column`.
fn deeper(text: &str, mut at: usize, column: usize) -> usize {
    let mut last = at.min(text.len());
    while at < text.len() {
        let end = line_end(text, at);
        let line = text[at..end].trim_end_matches('\r');
        let body = line.trim_start_matches(' ');
        if !body.is_empty() {
            if line.len() - body.len() <= column {
                break;
            }
            last = (end + 1).min(text.len());
        }
        at = end + 1;
    }
    last
}
