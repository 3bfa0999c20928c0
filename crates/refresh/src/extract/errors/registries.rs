//! Extractors of registries, knowledge bases and documents, as opposed to headers.

use super::{aicore_tuple, chip, ecode, hccl_stage, knowledge, mindspore, raise_sites, switch};
use crate::context::Context;
use crate::extract::{Content, Extractor, Key, Vanished};

/// Extractors by table.
pub(in crate::extract) const EXTRACTORS: &[Extractor] = &[
    lasting("errors/ecode.tsv", ecode::table),
    lasting("errors/ecode_inner.tsv", raise_sites::inner),
    derived("errors/ecode_changes.tsv", &["code"], ecode::changes),
    derived("errors/module_prefix.tsv", &["code"], ecode::prefixes),
    // One code has several cases.
    derived("errors/mindspore.tsv", &["code", "message"], mindspore::table),
    derived("errors/hccl_stage.tsv", &["code"], hccl_stage::table),
    lasting("errors/aicore_tuple.tsv", aicore_tuple::table),
    lasting("errors/chip.tsv", chip::table),
    lasting("errors/switch.tsv", switch::table),
    Extractor {
        file: "errors/knowledge.toml",
        key: Key::Toml(&[]),
        vanished: Vanished::Drop,
        extract: knowledge::table,
    },
];

/// Declares a table of codes. Vanished codes are kept, because released programs print them.
const fn lasting(
    file: &'static str,
    extract: fn(&Context) -> anyhow::Result<Content>,
) -> Extractor {
    Extractor { file, key: Key::Columns(&["code"]), vanished: Vanished::Keep, extract }
}

/// Declares a table derived from documents or from other tables.
const fn derived(
    file: &'static str,
    key: &'static [&'static str],
    extract: fn(&Context) -> anyhow::Result<Content>,
) -> Extractor {
    Extractor { file, key: Key::Columns(key), vanished: Vanished::Drop, extract }
}
