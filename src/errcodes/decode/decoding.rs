//! Parts of a code and their meanings, shared by all decoders.

use serde::Serialize;

use crate::Link;
use base::text::Text;
use data::ui;

/// A code, taken apart.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decoding {
    /// What the parts are parts of.
    pub scheme: ui::Label,
    /// The parts.
    pub parts: Vec<Part>,
    /// What the parts speak for, the surest first.
    #[serde(skip)]
    pub links: Vec<Link>,
}

/// A part of a code.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// What it is.
    pub name: ui::Label,
    /// The value.
    pub value: String,
    /// What it says, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<Text>,
}

impl Part {
    pub(super) fn new(name: ui::Label, value: impl Into<String>, meaning: Option<Text>) -> Self {
        Self { name, value: value.into(), meaning }
    }

    /// A part whose meaning is one of the words of the program.
    pub(super) fn part_with_label(
        name: ui::Label,
        value: impl Into<String>,
        label: Option<ui::Label>,
    ) -> Self {
        Self::new(name, value, label.map(ui::Label::text))
    }
}
