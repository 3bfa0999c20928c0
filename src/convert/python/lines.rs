//! Lines of a source text.

use std::ops::Range;

/// Returns where the line of `offset` starts.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind(['\n', '\r']).map_or(0, |at| at + 1)
}

/// Returns the line end that the text uses.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        None if text.contains('\r') => "\r",
        _ => "\n",
    }
}

/// Where a statement ends together with its line, and whether another statement follows on the
/// line.
pub(super) fn end_of_line(text: &str, statement: &Range<usize>) -> (usize, bool) {
    let rest = &text[statement.end..];
    let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
    let after = rest[..line].trim_start();
    let goes_on = !(after.is_empty() || after.starts_with('#'));
    let mut end = statement.end + line;
    if text[end..].starts_with("\r\n") {
        end += 2;
    } else if end < text.len() {
        end += 1;
    }
    (end, goes_on)
}
