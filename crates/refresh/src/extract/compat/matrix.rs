//! `compat_matrix.toml`: the extracted rows of all arrays. Manual rows are in its overlay.

use anyhow::{Result, ensure};
use toml::Value;

use super::shapes::{
    CANN, CONSTRAINT, DRIVER, FIRMWARE, GATE, GENERATED_FROM, HDK_WINDOW, IMPORT, MINDCLUSTER,
    MINDSPORE, OS, PAIR, PCI, SOC, TORCH_NPU, VLLM_ASCEND, WINDOW,
};
use super::{chips, images, mind_cluster, mindspore, torch_npu, vllm_ascend};
use crate::context::Context;
use crate::document::{Array, Document, Row, Shape, text};
use crate::extract::Content;

/// Source repositories of rows, and their names in `generated_from`.
const REPOSITORIES: &[(&str, &str)] = &[
    ("cann-images", "images"),
    ("mind-cluster", "mind_cluster"),
    ("mindformers", "mindformers"),
    ("mindspore-docs", "mindspore_docs"),
    ("ascend-pytorch", "pytorch"),
    ("vllm-ascend", "vllm_ascend"),
];

pub(super) fn extract(context: &Context) -> Result<Content> {
    let torch_npu = torch_npu::rows(context)?;
    let windows = torch_npu::windows(context)?;
    let vllm_ascend = vllm_ascend::rows(context)?;
    let mut cann = images::rows(context)?;
    // A CANN version in another row needs its own row.
    let named = torch_npu.iter().map(|row| (text(row, "cann"), text(row, "level"), PYTORCH_TABLE));
    let named = named.filter(|(_, level, _)| *level == "recommended");
    let tested = vllm_ascend.iter().map(|row| (text(row, "cann"), "", VLLM_TABLE));
    for (version, _, source) in named.chain(tested) {
        if !version.is_empty() && !cann.iter().any(|row| text(row, "version") == version) {
            cann.push(row([
                ("version", Value::from(version)),
                ("level", Value::from("recommended")),
                ("source", Value::from(source)),
            ]));
        }
    }
    let arrays: Vec<(&'static Shape, Vec<Row>)> = vec![
        (&TORCH_NPU, torch_npu),
        (&WINDOW, windows),
        (&CANN, cann),
        (&PAIR, mind_cluster::pairs(context)?),
        (&HDK_WINDOW, Vec::new()),
        (&MINDCLUSTER, mind_cluster::windows(context)?),
        (&DRIVER, Vec::new()),
        (&FIRMWARE, Vec::new()),
        (&VLLM_ASCEND, vllm_ascend),
        (&MINDSPORE, mindspore::rows(context)?),
        (&GATE, Vec::new()),
        (&SOC, chips::rows(context)?),
        (&PCI, Vec::new()),
        (&OS, mind_cluster::systems(context)?),
        (&CONSTRAINT, Vec::new()),
        (&IMPORT, Vec::new()),
    ];
    let mut generated = vec![
        row([
            ("name", Value::from("wheels of torch_npu")),
            ("revision", Value::from("package index, names and hashes")),
        ]),
        row([
            ("name", Value::from("wheels of MindSpore")),
            ("revision", Value::from("package index, names and hashes")),
        ]),
    ];
    let revisions = context.revisions();
    let mut newest = String::new();
    for (id, name) in REPOSITORIES {
        let revision = revisions.get(*id).and_then(|revision| revision.commit.clone());
        ensure!(revision.is_some(), "source `{id}` was not read");
        if let Some((commit, day)) = revision {
            newest = newest.max(day.clone());
            generated.push(row([
                ("name", Value::from(*name)),
                ("revision", Value::from(commit)),
                ("date", Value::from(day)),
            ]));
        }
    }
    let mut all = vec![Array { shape: &GENERATED_FROM, rows: generated }];
    all.extend(arrays.into_iter().map(|(shape, rows)| Array { shape, rows }));
    Ok(Content::Document(Document {
        remarks: vec![
            "Versions of the Ascend stack that fit together. docs/compatibility.md explains the"
                .to_owned(),
            "tables, the levels, and `--matrix`. Manual rows: compat_matrix.overlay.toml."
                .to_owned(),
        ],
        values: vec![
            ("schema", Value::from("ascend-doctor/matrix/1")),
            ("as_of", Value::from(newest)),
        ],
        arrays: all,
    }))
}

const PYTORCH_TABLE: &str = "Ascend/pytorch:COMPATIBILITY.md";
const VLLM_TABLE: &str = "vllm-ascend:versioning_policy.md";

/// Creates a row of these fields. Empty texts are left out.
pub(super) fn row<const N: usize>(fields: [(&str, Value); N]) -> Row {
    let filled = fields.into_iter().filter(|(_, value)| value.as_str() != Some(""));
    filled.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Creates a list of texts.
pub(super) fn list(texts: impl IntoIterator<Item = impl Into<String>>) -> Value {
    Value::Array(texts.into_iter().map(|text| Value::from(text.into())).collect())
}
