//! Compatible versions: `data/compat_matrix.toml`, `data/known_wheels.tsv` and `data/index.tsv`.

mod chips;
mod images;
mod index;
mod matrix;
mod mind_cluster;
mod mindspore;
mod shapes;
mod source_archive;
mod torch_npu;
mod versions;
mod vllm_ascend;
mod wheels;

use super::{Extractor, Key, Vanished};

/// Extractors of compatible versions.
pub(super) const EXTRACTORS: &[Extractor] = &[
    Extractor {
        file: "compat_matrix.toml",
        key: Key::Toml(shapes::KEYS),
        vanished: Vanished::Drop,
        extract: matrix::extract,
    },
    Extractor {
        file: "known_wheels.tsv",
        key: Key::Lines(wheels::rows),
        vanished: Vanished::Keep,
        extract: wheels::extract,
    },
    Extractor {
        file: "index.tsv",
        key: Key::Columns(&["package", "version"]),
        vanished: Vanished::Drop,
        extract: index::extract,
    },
];
