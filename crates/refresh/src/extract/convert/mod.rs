//! Names that rules of `convert` insert: `torch_npu_names.tsv`.

mod names;
mod python_names;

pub(crate) use names::rule_faults;

use super::{Extractor, Key, Vanished};

/// Extractors of facts about conversions.
pub(super) const EXTRACTORS: &[Extractor] = &[Extractor {
    file: names::FILE,
    key: Key::Columns(&["name"]),
    vanished: Vanished::Drop,
    extract: names::extract,
}];
