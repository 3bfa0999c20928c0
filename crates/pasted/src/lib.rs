//! Reads a text pasted into an issue, and returns the facts it states about a machine: versions,
//! chips, operating system, environment variables, container image.
//!
//! Must not touch: files, the environment, the terminal, tables of `data/`. It draws no
//! conclusions: the caller checks whether versions are compatible.
//!
//! A fact that the text does not state is absent. Requirements, candidates listed by pip,
//! quotations, questions and earlier versions do not count as facts: they are in [`Pasted::other`]
//! with the reason. Two different values of equal weight cancel each other ([`Pasted::conflicts`]),
//! because a wrong version misleads more than a missing one.
//!
//! - [`lines`]: the text without Markdown and HTML, line numbers kept.
//! - [`kind`]: logs, code and commands, in which prose rules do not apply.
//! - [`forms`]: one reader for each family of formats; they produce candidates.
//! - [`choose`]: from candidates to at most one fact for each name.

mod candidate;
mod choose;
mod forms;
mod kind;
mod labels;
mod lines;
mod names;
mod version;

pub use candidate::{Form, Reason};

use serde::Serialize;

/// Maximum number of bytes read from a text.
pub const MAX_TEXT: usize = 8 << 20;
/// Maximum number of bytes read from a line.
pub const MAX_LINE: usize = 64 << 10;
/// Maximum number of kept candidates.
pub const MAX_CANDIDATES: usize = 4096;

/// A value that a text states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stated {
    /// `torch`, `cann`, `package.numpy`, `env.HCCL_IF_IP`, …
    pub name: String,
    /// The value as written, without decoration.
    pub value: String,
    /// The line, from 1.
    pub line: u32,
    /// The format that contains the value.
    pub form: Form,
}

/// A value that was not chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Other {
    /// The value.
    #[serde(flatten)]
    pub stated: Stated,
    /// The reason why it does not count as a fact.
    pub reason: Reason,
}

/// A name that the text states with different values of equal weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conflict {
    /// The name.
    pub name: String,
    /// The different values, in the order of the text.
    pub values: Vec<Stated>,
}

/// A chip in the table of npu-smi.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chip {
    /// Number of the NPU.
    pub npu: u32,
    /// Number of the chip on the NPU, if its row is in the text.
    pub chip: Option<u32>,
    /// Name as written: `910B3`, `Ascend910`, …
    pub name: String,
    /// Health as written.
    pub health: String,
    /// PCI address.
    pub bus_id: Option<String>,
    /// Memory in use, in MB: HBM if the table has that column.
    pub used_mb: Option<u64>,
    /// Total memory, in MB.
    pub total_mb: Option<u64>,
    /// The line of the name, from 1.
    pub line: u32,
}

/// All facts and values in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pasted {
    /// Facts: at most one for each name, in a fixed order of names.
    pub facts: Vec<Stated>,
    /// Values that were not chosen.
    pub other: Vec<Other>,
    /// Rows of npu-smi.
    pub chips: Vec<Chip>,
    /// The formats that were recognized.
    pub forms: Vec<Form>,
    /// Names with contradicting values.
    pub conflicts: Vec<Conflict>,
}

impl Pasted {
    /// The value of a fact.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
    }
}

/// Reads a text. Never fails: unknown lines are ignored.
pub fn read(text: &str) -> Pasted {
    let lines = lines::split(text);
    let found = forms::read(&lines);
    choose::choose(found)
}

#[cfg(test)]
mod tests;
