//! Causes of failures, their steps and the evidence that a diagnosis needs: types only, without the
//! lookup.

use serde::{Deserialize, Serialize};

use super::step::Step;
use base::report::Severity;
use base::text::Text;
use data::ui;

/// A cause of failures: a name shared by codes, log texts and rules.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// A stable key, `<layer>.<name>`.
    pub id: String,
    /// Severity if this is the cause.
    #[serde(default = "error")]
    pub severity: Severity,
    /// Role in a chain of failures.
    #[serde(default)]
    pub role: Role,
    /// Whether the cause only means that a peer did not come. The ranking of causes needs it;
    /// readers of a report do not.
    #[serde(default, skip_serializing)]
    pub waits: bool,
    /// One-line title.
    pub title: Text,
    /// Explanation of the cause.
    pub text: Text,
    /// Words with which people describe it, in addition to those of the texts; for
    /// [`suggest`](crate::suggest).
    #[serde(default, skip_serializing)]
    pub asked: Vec<String>,
    /// Finding ids of `check` that look for the same thing on a machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// Evidence needed to confirm the cause and to continue: ids of [`evidence`](super::evidence).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Causes that are mistaken for this one, lead to it or result from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
    /// Sources of this knowledge.
    pub sources: Vec<String>,
    /// Steps to take, in order.
    #[serde(rename(deserialize = "step"))]
    pub steps: Vec<Step>,
}

impl Cause {
    /// The layer of the stack: the part of the id before the point.
    pub fn layer(&self) -> &str {
        split_layer(&self.id)
    }
}

/// Default role of a cause in a chain of failures; a rule may set another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It can be the first cause.
    #[default]
    Root,
    /// Something else failed before, mostly elsewhere.
    Consequence,
    /// It reports that something failed, without the reason.
    Wrapper,
}

impl Role {
    /// Its name.
    pub const fn label(self) -> ui::Label {
        match self {
            Self::Root => ui::ROLE_ROOT,
            Self::Consequence => ui::ROLE_CONSEQUENCE,
            Self::Wrapper => ui::ROLE_WRAPPER,
        }
    }
}

/// Something that a diagnosis needs, and how to get it.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// A stable key.
    pub id: String,
    /// Description.
    pub text: Text,
    /// A command line that collects it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

fn error() -> Severity {
    Severity::Error
}

/// Returns the part of an id before its first point; empty without a point.
pub(super) fn split_layer(id: &str) -> &str {
    id.split_once('.').map_or("", |(layer, _)| layer)
}
