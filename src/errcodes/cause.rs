//! Causes of failures, their steps and the evidence that a diagnosis needs, as types without the
//! look-up.

use serde::{Deserialize, Serialize};

use super::step::Step;
use base::report::Severity;
use base::text::Text;
use data::ui;

/// A cause of failures: a name that codes, texts of logs and rules agree on.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// A stable key, `<layer>.<name>`.
    pub id: String,
    /// How grave it is where it is the cause.
    #[serde(default = "error")]
    pub severity: Severity,
    /// What it is in a chain of failures.
    #[serde(default)]
    pub role: Role,
    /// Whether it means only that a peer did not come.
    /// The ranking of causes needs it; readers of a report do not.
    #[serde(default, skip_serializing)]
    pub waits: bool,
    /// One line.
    pub title: Text,
    /// What it means.
    pub text: Text,
    /// Words in which people describe it, beside those of the texts; for [`suggest`](crate::suggest).
    #[serde(default, skip_serializing)]
    pub asked: Vec<String>,
    /// Finding ids of `check` that look for the same thing on a machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// What is needed to be sure and to go on: ids of [`evidence`](super::evidence).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Causes that are mistaken for this one, lead to it or come of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
    /// Where this is known from.
    pub sources: Vec<String>,
    /// What to do, in order.
    #[serde(rename(deserialize = "step"))]
    pub steps: Vec<Step>,
}

impl Cause {
    /// The part of the stack: what stands before the point of the id.
    pub fn layer(&self) -> &str {
        split_layer(&self.id)
    }
}

/// What a cause is in a chain of failures, unless a rule knows better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It can be the first cause.
    #[default]
    Root,
    /// Something else failed before, mostly elsewhere.
    Consequence,
    /// It says that something failed, not what.
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
    /// What it is.
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
