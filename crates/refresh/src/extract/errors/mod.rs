//! Error codes: `data/errors/<family>.tsv`.

mod acl;
mod c_header;
mod releases;

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
