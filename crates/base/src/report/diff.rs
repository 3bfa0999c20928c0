//! A changed file for a reviewer: old and new lines side by side, and remarks in their places.

use crate::text::Text;

/// A file that changes, or has places that need manual work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// Its path.
    pub path: String,
    /// The number of changed places, and of those that need manual work.
    pub counts: Text,
    /// The changes with the lines around them.
    pub rows: Vec<DiffRow>,
}

/// A row of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffRow {
    /// Omitted lines.
    Gap,
    /// A line before and after the change; one of them is missing if lines were added or removed.
    Lines {
        /// The line before.
        old: Option<DiffLine>,
        /// The line after.
        new: Option<DiffLine>,
    },
    /// A remark about the line above.
    Note(DiffNote),
}

/// A line of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Its number, counted from 1.
    pub number: usize,
    /// Whether the other side differs.
    pub changed: bool,
    /// Its text, without the line end.
    pub parts: Vec<LinePart>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinePart {
    /// Equal on both sides.
    Same(String),
    /// Only before.
    Removed(String),
    /// Only after.
    Added(String),
}

/// A remark about a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffNote {
    /// The ID of the rule.
    pub rule: String,
    /// The statement of the rule.
    pub title: Text,
    /// The code in question.
    pub detail: Option<String>,
    /// The manual work, if any.
    pub advice: Option<Text>,
}
