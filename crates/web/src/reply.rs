//! What the page shows.

use serde::Serialize;

/// An answer.
#[derive(Debug, Default, Serialize)]
pub struct Reply {
    /// What the input was taken for, in a few words. Empty for searches and lists.
    pub read_as: String,
    /// What the page shows in words of its own.
    pub outcome: Outcome,
    /// The exit status of the program.
    pub status: u8,
    /// The answer as HTML. Every value in it is escaped.
    pub html: String,
    /// Names to choose from.
    pub hits: Vec<Entry>,
    /// Number of hits that are not in `hits`.
    pub more: usize,
    /// The command that gives this answer, or one that the page cannot give.
    pub command: String,
    /// Details of a failure.
    pub detail: String,
    /// What `--format json` writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
    /// What `--format markdown` writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
}

/// Kind of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// `html` is the answer.
    #[default]
    Answered,
    /// `hits` is the answer.
    Listed,
    /// Nothing is known of the input. `hits` may have similar names.
    Unknown,
    /// The input is an address: nothing is fetched.
    Address,
    /// Only the program can answer, with `command`.
    NeedsProgram,
    /// The input is the name of a file, which the page has to be given.
    NeedsFile,
    /// The files need different answers.
    Mixed,
    /// The files cannot be read, for the reason `detail`.
    Failed,
}

/// A name to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Its name.
    pub name: String,
    /// What it means, in the language of the request.
    pub title: String,
    /// What gives its answer: a text to ask for, or a list.
    pub ask: String,
}

/// Kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// An error code.
    Code,
    /// A cause of failures.
    Cause,
    /// A family of codes. `ask` is a list.
    Family,
    /// A finding of `check`.
    Finding,
    /// A version of a package.
    Version,
    /// An environment variable.
    Variable,
    /// A rule of `convert`.
    Rule,
    /// A chip.
    Chip,
}

impl Reply {
    /// An answer without content.
    pub fn of(outcome: Outcome) -> Self {
        Self { outcome, ..Self::default() }
    }

    /// The answer to a request that cannot be read.
    pub fn failed(detail: &str) -> Self {
        Self { status: 2, detail: detail.to_owned(), ..Self::of(Outcome::Failed) }
    }

    /// Its JSON, where another answer cannot be written.
    pub(crate) fn bare(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
