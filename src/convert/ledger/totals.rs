//! Counts of tokens.

use std::collections::BTreeMap;

use serde::Serialize;

use super::FileLedger;
use super::entry::Class;

/// Number of tokens in each class. The four classes add up to `tokens`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// All tokens.
    pub tokens: usize,
    /// Tokens that are rewritten.
    pub changed: usize,
    /// Tokens that need manual work.
    pub manual: usize,
    /// Tokens that stay, with a reason and a witness.
    pub kept: usize,
    /// Tokens that neither a rule nor a reason accounts for.
    pub unexplained: usize,
    /// Tokens that need manual work, by their effect on the program.
    pub by_blocker: BTreeMap<&'static str, usize>,
    /// Tokens that stay, by reason.
    pub by_reason: BTreeMap<&'static str, usize>,
}

impl Totals {
    /// Whether there are no tokens.
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens == 0
    }

    pub(super) fn add(&mut self, file: &FileLedger) {
        self.tokens += file.entries.len() + file.beyond;
        self.unexplained += file.beyond;
        for entry in &file.entries {
            match &entry.class {
                Class::Changed { .. } => self.changed += 1,
                Class::Manual { blocker, .. } => {
                    self.manual += 1;
                    *self.by_blocker.entry(blocker.as_str()).or_default() += 1;
                }
                Class::Kept { reason, .. } => {
                    self.kept += 1;
                    *self.by_reason.entry(reason.as_str()).or_default() += 1;
                }
                Class::Unexplained => self.unexplained += 1,
            }
        }
    }
}
