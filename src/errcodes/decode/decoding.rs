//! Parts of a code and their meanings, shared by all decoders.

use serde::Serialize;

use crate::Link;
use base::text::Text;
use data::ui;

/// A decoded code.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decoding {
    /// The scheme that defines the parts.
    pub scheme: ui::Label,
    /// The parts.
    pub parts: Vec<Part>,
    /// Causes that the parts point to, the most certain first.
    #[serde(skip)]
    pub links: Vec<Link>,
}

/// A part of a code.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// The name of the part.
    pub name: ui::Label,
    /// The value.
    pub value: String,
    /// Its meaning, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<Text>,
}

impl Part {
    pub(super) fn new(name: ui::Label, value: impl Into<String>, meaning: Option<Text>) -> Self {
        Self { name, value: value.into(), meaning }
    }

    /// A part whose meaning is a label of the program.
    pub(super) fn part_with_label(
        name: ui::Label,
        value: impl Into<String>,
        label: Option<ui::Label>,
    ) -> Self {
        Self::new(name, value, label.map(ui::Label::text))
    }
}
