//! Roles of texts and codes, shared by signatures, codes and hits.

use serde::{Deserialize, Serialize};

/// The role of a text or code in a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Names ranks, peers or operators; not a finding by itself.
    Context,
    /// Repeats the report of another layer.
    Wrapper,
    /// Follows from something that happened elsewhere.
    Consequence,
    /// Shows a failure without naming its cause.
    Symptom,
    /// States a cause.
    Root,
}
