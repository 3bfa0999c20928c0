//! The place of a value in a file.

use std::collections::BTreeMap;

use base::report::Evidence;

/// The lines of a file's values, counted from 1, by the key of the value in that file. A value
/// without a line was not read line by line, or was read by an earlier version of the tool.
pub type Lines = BTreeMap<String, u32>;

/// A file, with the line of this key where known.
pub fn place(path: &str, lines: &Lines, key: &str) -> Evidence {
    Evidence::file(path).line_if(lines.get(key).copied())
}
