//! Where in a file a value stands.

use std::collections::BTreeMap;

use base::report::Evidence;

/// The lines of a file's values, counted from 1, by the key of the value in that file.
/// What has no line here was not read line by line, or by an earlier version of the tool.
pub type Lines = BTreeMap<String, u32>;

/// A file, with the line of this key where known.
pub fn place(path: &str, lines: &Lines, key: &str) -> Evidence {
    Evidence::file(path).line_if(lines.get(key).copied())
}
