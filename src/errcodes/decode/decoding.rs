//! Parts of a code and their meanings, shared by all decoders.

use serde::Serialize;

use crate::Link;
use base::text::Text;

/// A code, taken apart.
#[derive(Debug, Clone, Serialize)]
pub struct Decoding {
    /// What the parts are parts of; words of this name are in `data/ui.toml`.
    pub scheme: &'static str,
    /// The parts.
    pub parts: Vec<Part>,
    /// What the parts speak for, the surest first.
    #[serde(skip)]
    pub links: Vec<Link>,
}

/// A part of a code.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// What it is; words of this name are in `data/ui.toml`.
    pub name: &'static str,
    /// The value.
    pub value: String,
    /// What it says, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<Text>,
}

impl Part {
    pub(super) fn new(name: &'static str, value: impl Into<String>, meaning: Option<Text>) -> Self {
        Self { name, value: value.into(), meaning }
    }

    /// A part whose meaning is one of the words of the program.
    pub(super) fn part_with_label(
        name: &'static str,
        value: impl Into<String>,
        key: Option<&str>,
    ) -> Self {
        Self::new(name, value, key.map(data::words))
    }
}
