//! Groups of expressions, read as text.

use regex::bytes::Captures;

/// The text of group `index`, which takes part in every match of its expression and is ASCII.
pub(super) fn read_group<'a>(found: &Captures<'a>, index: usize) -> (usize, &'a str) {
    found.get(index).map_or((0, ""), |group| {
        (group.start(), std::str::from_utf8(group.as_bytes()).unwrap_or_default())
    })
}
