//! A statement that the tables can judge.

use data::RawFinding;
use serde::Serialize;

/// The subject of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatementKind {
    /// The meaning of an error code, or the number of a symbol.
    Code,
    /// A release of a package.
    Version,
    /// Versions that are named together.
    Pair,
    /// The default of an environment variable, or a value that it gets.
    Default,
    /// A command or a path.
    Command,
}

/// The result of comparing a statement with the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatementState {
    /// A table has the same.
    Agrees,
    /// A table has something else.
    Contradicts,
    /// No table decides it.
    Undecided,
}

/// A statement with its place and result.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Statement {
    /// Its subject.
    pub kind: StatementKind,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The statement in short, for example `torch_npu 2.5.1, CANN 8.5.0`.
    pub says: String,
    /// The result.
    pub state: StatementState,
    /// Sources of the table rows that decide it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub sources: Vec<String>,
    /// The finding of a contradiction.
    #[serde(skip)]
    pub finding: Option<RawFinding>,
}

/// The result of a table, before it has a place.
#[derive(Debug)]
pub(super) struct Judged {
    /// The statement in short.
    pub says: String,
    /// The result.
    pub state: StatementState,
    /// Sources of the deciding rows.
    pub sources: Vec<String>,
    /// The finding of a contradiction.
    pub finding: Option<RawFinding>,
}

impl Judged {
    pub(super) fn agrees(says: String, sources: Vec<String>) -> Self {
        Self { says, state: StatementState::Agrees, sources, finding: None }
    }

    pub(super) fn undecided(says: String) -> Self {
        Self { says, state: StatementState::Undecided, sources: Vec::new(), finding: None }
    }

    pub(super) fn contradicts(says: String, sources: Vec<String>, finding: RawFinding) -> Self {
        Self { says, state: StatementState::Contradicts, sources, finding: Some(finding) }
    }

    /// Whether a table has the same.
    pub(super) fn is_agreement(&self) -> bool {
        self.state == StatementState::Agrees
    }

    /// The statement at a place.
    pub(super) fn at(self, kind: StatementKind, file: &str, line: u32) -> Statement {
        let Self { says, state, sources, finding } = self;
        Statement { kind, file: file.to_owned(), line, says, state, sources, finding }
    }
}
