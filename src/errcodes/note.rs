//! Notes on single codes, as a type without the look-up.

use serde::{Deserialize, Serialize};

use base::text::Text;

/// What is to be said of one code beside its cause.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The codes, as `<family>:<code>`.
    #[serde(skip_serializing)]
    pub codes: Vec<String>,
    /// The words.
    pub text: Text,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Text>,
    /// Whether the code is an answer, and no fault.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub status: bool,
    /// Where this is known from.
    pub sources: Vec<String>,
}
