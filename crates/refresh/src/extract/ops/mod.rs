//! Operators: `data/ops/`.

mod aclnn_docs;
mod aicpu;
mod api_docs;
mod api_pages;
mod cann_headers;
mod columns;
mod cpp;
mod html_table;
mod kernels_cpp;
mod limit_patterns;
mod native;
mod onnx;
mod recorded;
mod registrations;
mod release;
mod runs;
mod wheel_files;

use super::{Content, Extractor, Key, Vanished};

/// Columns of `tables.tsv`.
const TABLE_COLUMNS: [&str; 8] =
    ["number", "kind", "torch", "release", "wheels", "cann", "date", "op_plugin"];
/// Columns of `kernels.tsv` and `custom.tsv`.
const KERNEL_COLUMNS: [&str; 2] = ["overload", "runs"];

/// Extractors of operator tables.
pub(super) const EXTRACTORS: &[Extractor] = &[
    table(columns::TABLES, Key::Unnamed(&TABLE_COLUMNS, 1), columns::tables),
    table(columns::KERNELS, Key::Unnamed(&KERNEL_COLUMNS, 1), columns::kernels),
    table(columns::CUSTOM, Key::Unnamed(&KERNEL_COLUMNS, 1), columns::custom),
    table("ops/aten.tsv", Key::Unnamed(&["overload", "source", "runs"], 1), native::aten),
    Extractor {
        file: "ops/sync.tsv",
        key: Key::Unnamed(&["overload", "tag"], 2),
        vanished: Vanished::Keep,
        extract: native::sync,
    },
    table("ops/host.tsv", Key::Unnamed(&["overload", "runs"], 1), kernels_cpp::host),
    table("ops/aclnn.tsv", Key::Unnamed(&["overload", "functions"], 1), kernels_cpp::aclnn),
    table(
        "ops/aclnn_docs.tsv",
        Key::Unnamed(&["function", "release", "processors", "types"], 1),
        aclnn_docs::extract,
    ),
    table("ops/aicpu.tsv", Key::Unnamed(&["overload", "types"], 1), aicpu::extract),
    table("ops/onnx.tsv", Key::Unnamed(&onnx::COLUMNS, 1), onnx::extract),
    table("ops/aclnn_8.1.RC1.tsv", Key::Unnamed(&["function"], 1), cann_headers::extract),
    table(
        "ops/api_docs.tsv",
        Key::Unnamed(&["api", "value", "types", "chips", "limits"], 1),
        api_docs::extract,
    ),
];

/// Declares a table that is made only from its sources.
const fn table(
    file: &'static str,
    key: Key,
    extract: fn(&crate::context::Context) -> anyhow::Result<Content>,
) -> Extractor {
    Extractor { file, key, vanished: Vanished::Drop, extract }
}

/// Creates a table whose file has no column names, because readers use positions.
fn unnamed(columns: &[&str], remarks: &str, rows: Vec<Vec<String>>) -> crate::table::Table {
    let mut table = crate::table::Table::with_columns(columns);
    table.named = false;
    table.remarks = remarks.trim().lines().map(|line| line.trim().to_owned()).collect();
    table.rows = rows;
    table
}

/// Reads a known version from its wheel again, and lists the differences: a PyTorch version for
/// `aten.tsv`, a torch_npu version for `kernels.tsv`.
pub(crate) fn verify(
    context: &crate::context::Context,
    file: &str,
    version: &str,
) -> anyhow::Result<Vec<String>> {
    match file {
        native::ATEN => native::verify(context, version),
        columns::KERNELS => wheel_files::verify(context, version),
        _ => anyhow::bail!("--verify is for {} and {}", native::ATEN, columns::KERNELS),
    }
}
