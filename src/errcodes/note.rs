//! Notes on single codes, as a type without the look-up.

use serde::{Deserialize, Serialize};

use base::text::Text;

/// A remark on one code in addition to its cause.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The codes, as `<family>:<code>`.
    #[serde(skip_serializing)]
    pub codes: Vec<String>,
    /// The text.
    pub text: Text,
    /// The step to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Text>,
    /// Whether the code is a result and not a fault.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub status: bool,
    /// Sources of this knowledge.
    pub sources: Vec<String>,
}
