//! The result of a rule before its sentences are added.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use base::report::{Evidence, Severity};
use base::text::Spelling;

/// The ID of a finding, for example `CANN-HOME`. Only the tables create one:
/// `data::findings::cann_home::ID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct FindingId(&'static str);

impl FindingId {
    pub(crate) const fn new(id: &'static str) -> Self {
        Self(id)
    }

    /// Returns the ID in the form shown in reports.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl PartialEq<FindingId> for String {
    fn eq(&self, other: &FindingId) -> bool {
        self == other.0
    }
}

impl PartialEq<str> for FindingId {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for FindingId {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

/// The result of a rule before its texts are added: a message of a finding ID, with its arguments.
///
/// Only the messages in [`crate::findings`] create one. The texts are in the catalog
/// (`data/findings/`), so that translators find every sentence in one place.
/// [`crate::Catalog::resolve`] turns this into a [`base::report::Finding`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawFinding {
    /// The finding ID, for example `CANN-HOME`.
    pub id: FindingId,
    /// The key of the message within the ID.
    pub message: &'static str,
    /// The severity in this case.
    pub severity: Severity,
    /// Values for the placeholders of the message.
    pub args: BTreeMap<&'static str, String>,
    /// Values of arguments that are words and differ in Chinese.
    pub args_zh: BTreeMap<&'static str, String>,
    /// The evidence for the finding.
    pub evidence: Vec<Evidence>,
    /// IDs that, if also found, are the cause of this one. The first that was found counts.
    pub because: Vec<FindingId>,
    /// Values that are still missing. Private, so that only messages create findings.
    later: Vec<&'static str>,
}

impl RawFinding {
    pub(crate) fn of<const N: usize>(
        id: FindingId,
        message: &'static str,
        severity: Severity,
        values: [(&'static str, Spelling); N],
    ) -> Self {
        Self::build(id, message, severity, &mut values.into_iter())
    }

    fn build(
        id: FindingId,
        message: &'static str,
        severity: Severity,
        values: &mut dyn Iterator<Item = (&'static str, Spelling)>,
    ) -> Self {
        let (mut args, mut args_zh, mut later) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (name, value) in values {
            match value {
                Spelling::Same(value) => {
                    args.insert(name, value);
                }
                Spelling::Words(words) => {
                    args.insert(name, words.en);
                    args_zh.insert(name, words.zh);
                }
                Spelling::Later => later.push(name),
            }
        }
        let (evidence, because) = (Vec::new(), Vec::new());
        Self { id, message, severity, args, args_zh, evidence, because, later }
    }

    /// Sets the value of each [`base::text::Later`] argument.
    #[must_use]
    pub fn complete(mut self, value: &str) -> Self {
        let later = std::mem::take(&mut self.later);
        self.args.extend(later.into_iter().map(|name| (name, value.to_owned())));
        self
    }

    /// Sets a value for each missing name, otherwise as [`Self::complete`].
    #[must_use]
    pub fn complete_each(mut self, value: impl Fn(&str) -> String) -> Self {
        let later = std::mem::take(&mut self.later);
        self.args.extend(later.into_iter().map(|name| (name, value(name))));
        self
    }

    /// Returns whether all values are known.
    pub(crate) fn is_complete(&self) -> bool {
        self.later.is_empty()
    }

    /// Adds a piece of evidence.
    #[must_use]
    pub fn evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }

    /// Names findings that explain this one if they also occur.
    #[must_use]
    pub fn because(mut self, ids: &[FindingId]) -> Self {
        self.because.extend(ids);
        self
    }
}
