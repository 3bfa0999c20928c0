//! Error codes: `data/errors/<family>.tsv`.

mod acl;
mod aicore_tuple;
mod c_header;
mod c_strings;
mod chip;
mod ecode;
mod ecode_messages;
mod ecode_registry;
mod hccl_stage;
mod knowledge;
mod knowledge_base;
mod mindspore;
mod ordered_json;
mod raise_sites;
mod registries;
mod releases;
mod switch;

pub(super) use registries::EXTRACTORS as REGISTRY_EXTRACTORS;

use super::{Content, Extractor, Key, Vanished};

/// Extractors of error codes.
pub(super) const EXTRACTORS: &[Extractor] = &[registry("errors/acl_rt.tsv", acl::runtime)];

/// A registry of codes: a code that vanished stays, with the last version that had it.
const fn registry(
    file: &'static str,
    extract: fn(&crate::context::Context) -> anyhow::Result<Content>,
) -> Extractor {
    Extractor { file, key: Key::Columns(&["code", "symbol"]), vanished: Vanished::Keep, extract }
}
