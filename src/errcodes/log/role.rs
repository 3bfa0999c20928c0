//! Roles of texts and codes, shared by signatures, codes and hits.

use serde::{Deserialize, Serialize};

/// Part of a text or code in the course of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Tells of ranks, peers or operators; no finding by itself.
    Context,
    /// Repeats what another layer said.
    Wrapper,
    /// Follows from something that happened elsewhere.
    Consequence,
    /// Shows a cause without saying which.
    Symptom,
    /// States a cause.
    Root,
}
