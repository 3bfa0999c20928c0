//! Lines that a backslash at their end joins with the next line, for all kinds of files that
//! support this.

use std::ops::Range;

/// Returns the ranges of lines that a backslash joins.
pub(super) fn continued(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    let mut open: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            open.get_or_insert(at);
        } else if let Some(start) = open.take() {
            out.push(start..end);
        }
        at = end;
    }
    out.extend(open.map(|start| start..text.len()));
    out
}
