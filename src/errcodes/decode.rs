//! Codes that are made of parts: what each part says, also where no table has the whole.
//!
//! Pure functions of a value; a part that nothing is known of is shown as it is.

mod event;
mod mindie;
mod numbers;
mod registers;

pub use event::{ChipEvent, parse_chip_event};
pub use numbers::{
    AclClass, RuntimeInner, e_code_module, hccl_errno, parse_acl_class, parse_runtime_inner,
};
pub use registers::{Bit, Registers, parse_registers};

use serde::Serialize;

use super::query::{Query, trim_punctuation};
use super::{Link, Row, family, table};
use base::text::Text;
use data::words;

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
    fn new(name: &'static str, value: impl Into<String>, meaning: Option<Text>) -> Self {
        Self { name, value: value.into(), meaning }
    }

    /// A part whose meaning is one of the words of the program.
    fn part_with_label(name: &'static str, value: impl Into<String>, key: Option<&str>) -> Self {
        Self::new(name, value, key.map(words))
    }
}

/// Takes `text` apart in every way that it is made for; empty for a code without parts.
pub fn decode(text: &str) -> Vec<Decoding> {
    if let Some(words) = parse_registers(text) {
        return vec![words.decoding()];
    }
    match Query::parse(text) {
        Query::Number { value, form } => numbers::decode(value, form),
        Query::Name(name) => [
            numbers::decode_hccl_errno(trim_punctuation(text)),
            numbers::decode_name(&name),
            mindie::decode_name(&name),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}

/// The row of a family with that code.
fn find_row(id: &str, code: &str) -> Option<Row> {
    let rows = table::find_rows(family(id)?, code);
    rows.into_iter().next()
}

#[cfg(test)]
mod tests;
