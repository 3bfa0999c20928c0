//! Decodes codes that are made of parts, also where no table has the complete code.
//!
//! Pure functions of a value; a part with an unknown meaning is shown unchanged.

mod decoding;
mod event;
mod mindie;
mod numbers;
mod registers;

pub use decoding::{Decoding, Part};
pub use event::{ChipEvent, parse_chip_event};
pub use numbers::{
    AclClass, RuntimeInner, e_code_module, hccl_errno, parse_acl_class, parse_runtime_inner,
};
pub use registers::{Bit, Registers, parse_registers};

use super::query::{Query, trim_punctuation};
use data::ui;

/// Decodes `text` by every scheme that fits it; empty for a code without parts.
pub fn decode(text: &str) -> Vec<Decoding> {
    if let Some(words) = parse_registers(text) {
        return vec![words.decoding()];
    }
    if let Some(mask) = decode_error_mask(text) {
        return vec![mask];
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

/// The mask that the runtime prints next to the error register values of an AI Core.
fn decode_error_mask(text: &str) -> Option<Decoding> {
    let (before, rest) = text.split_once("error mask")?;
    let unit = before.trim().to_ascii_lowercase();
    if !matches!(unit.as_str(), "" | "aic" | "aicore") {
        return None;
    }
    let value = rest.trim().trim_start_matches([':', '=']).trim();
    let number = value.strip_prefix("0x").unwrap_or(value);
    if !number.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let part = Part::new(ui::PART_MASK, value, Some(ui::MASK_MEANING.text()));
    Some(Decoding { scheme: ui::SCHEME_ERROR_MASK, parts: vec![part], links: Vec::new() })
}

#[cfg(test)]
mod tests;
