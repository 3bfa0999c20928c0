//! A finding: one statement about the machine, with its evidence, cause and remedy.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// The severity of a finding, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing. No action needed.
    Info,
    /// May fail, or will fail for some uses.
    Warning,
    /// Fails, or gives wrong results.
    Error,
}

impl Severity {
    /// The word used in every format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The kind of source of a piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EvidenceKind {
    /// A file or directory of the examined machine.
    File,
    /// An environment variable.
    Env,
    /// The output of a command.
    Command,
    /// A row of the built-in data, for example of the compatibility matrix.
    Data,
    /// The arguments of the run.
    Option,
    /// Hosts of a fleet, as a list such as `node[001-063]`.
    Host,
}

/// One observation that supports a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The kind of its source.
    pub kind: EvidenceKind,
    /// The path, variable, command line or table row.
    pub source: String,
    /// The line in that file, counted from 1, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The value read there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The part of the value that proves the finding. Shortening a long value keeps this part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
    /// The observation in the words of this program, if it is not a quotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Text>,
}

impl Evidence {
    /// Something read from, or about, a file or directory.
    pub fn file(path: impl Into<String>) -> Self {
        Self::new(EvidenceKind::File, path)
    }

    /// An environment variable.
    pub fn env(name: impl Into<String>) -> Self {
        Self::new(EvidenceKind::Env, name)
    }

    /// The output of a command.
    pub fn command(line: impl Into<String>) -> Self {
        Self::new(EvidenceKind::Command, line)
    }

    /// A row of the shipped data.
    pub fn data(row: impl Into<String>) -> Self {
        Self::new(EvidenceKind::Data, row)
    }

    /// An argument of the run.
    pub fn option(name: impl Into<String>) -> Self {
        Self::new(EvidenceKind::Option, name)
    }

    /// Hosts of a fleet.
    pub fn host(hosts: impl Into<String>) -> Self {
        Self::new(EvidenceKind::Host, hosts)
    }

    fn new(kind: EvidenceKind, source: impl Into<String>) -> Self {
        Self { kind, source: source.into(), line: None, value: None, matched: None, said: None }
    }

    /// Adds the value read there.
    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Names the part of the value that proves the finding.
    #[must_use]
    pub fn matched(mut self, part: &str) -> Self {
        self.matched = Some(part.to_owned()).filter(|part| !part.is_empty());
        self
    }

    /// Adds an observation in the words of this program.
    #[must_use]
    pub fn says(mut self, said: Text) -> Self {
        if said.en == said.zh {
            // Equal texts are a quotation, which is not translated.
            self.value = Some(said.en);
        } else {
            self.said = Some(said);
        }
        self
    }

    /// Adds the value read there, if there is one.
    #[must_use]
    pub fn value_if<S: Into<String>>(mut self, value: Option<S>) -> Self {
        self.value = value.map(Into::into);
        self
    }

    /// Adds the line number, counted from 1.
    #[must_use]
    pub fn line(self, line: u32) -> Self {
        self.line_if(Some(line))
    }

    /// Adds the line number, counted from 1, if it is known.
    #[must_use]
    pub fn line_if(mut self, line: Option<u32>) -> Self {
        self.line = line;
        self
    }
}

/// The value of an unknown version, for messages. Sentences spell it out in their language.
pub const UNKNOWN_VERSION: &str = "?";

/// One action: its description and, if possible, a command to paste.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FixStep {
    /// The description of the action.
    pub text: Text,
    /// The command line, its arguments quoted for a POSIX shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// A finding with its texts, as renderers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The stable id; never reused for another meaning.
    pub id: String,
    /// The message of that ID.
    pub message: String,
    /// The severity.
    pub severity: Severity,
    /// One sentence that states the defect.
    pub title: Text,
    /// The reason, or the effect.
    pub cause: Text,
    /// The actions, in order.
    pub fix: Vec<FixStep>,
    /// The evidence.
    pub evidence: Vec<Evidence>,
    /// Values that the evidence names, by stable names such as `ranks` or `op`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Sources of the rule, for further reading.
    pub refs: Vec<String>,
    /// IDs of findings that would explain this one (used for folding).
    #[serde(skip)]
    pub because: Vec<&'static str>,
    /// Findings that this one is the root cause of.
    #[serde(default)]
    pub consequences: Vec<Finding>,
}

impl Finding {
    /// Creates an info without texts yet, for subcommands without rules. Formats that contain only
    /// findings carry the remarks of a report in this form. The ID has a slash, which no ID of the
    /// catalog has.
    pub fn remark(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            message: "remark".to_owned(),
            severity: Severity::Info,
            title: Text::default(),
            cause: Text::default(),
            fix: Vec::new(),
            evidence: Vec::new(),
            values: BTreeMap::new(),
            refs: Vec::new(),
            because: Vec::new(),
            consequences: Vec::new(),
        }
    }
}
