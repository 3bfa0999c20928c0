//! Codes that are made of parts: what each part says, also where no table has the whole.
//!
//! Pure functions of a value; a part that nothing is known of is shown as it is.

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

#[cfg(test)]
mod tests;
