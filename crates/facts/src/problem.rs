//! Files and directories that could not be read or parsed.

use base::text::Text;
use serde::{Deserialize, Serialize};

use super::is_below;

/// Kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The user who runs the tool may not read it.
    Denied,
    /// A FIFO, device or directory where a file is expected, or the other way round.
    WrongType,
    /// Larger than anything of its kind.
    TooLarge,
    /// A loop of symbolic links.
    LinkLoop,
    /// A name that is not valid UTF-8.
    Name,
    /// The content does not have the format that the file name implies.
    Malformed,
    /// Any other error.
    Unreadable,
}

/// A file or directory without facts, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// The path on the examined machine.
    pub path: String,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The message of the operating system, of the parser or of this tool.
    pub detail: Text,
    /// The directory without search permission, if it hides the path.
    #[serde(default)]
    pub barrier: Option<String>,
    /// The line in the file, counted from 1, where known.
    #[serde(default)]
    pub line: Option<u32>,
}

impl Problem {
    /// The path whose permissions must change to resolve the problem: the directory that hides the
    /// path, or the path itself.
    pub fn place(&self) -> &str {
        self.barrier.as_deref().unwrap_or(&self.path)
    }
}

/// A directory or file without read permission that a collector tried to read. Files below it seem
/// to be missing, but may exist.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnreadablePath {
    /// The path without links.
    pub real: String,
    /// Other paths that lead to it.
    pub names: Vec<String>,
}

impl UnreadablePath {
    /// Returns whether `path`, or a part of the tree below it, is unreadable.
    pub fn hides(&self, path: &str) -> bool {
        self.is_above(path) || self.is_below(path)
    }

    /// Returns whether all of `path` is unreadable.
    pub fn is_above(&self, path: &str) -> bool {
        self.places().any(|place| is_below(path.trim_end_matches('/'), place))
    }

    /// Returns whether the unreadable path is `path` or is below it.
    pub fn is_below(&self, path: &str) -> bool {
        self.places().any(|place| is_below(place, path.trim_end_matches('/')))
    }

    fn places(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.real).chain(&self.names).map(String::as_str)
    }
}
