//! The operator tables: the overloads with a torch_npu kernel, release by release, and the behavior
//! of the others.
//!
//! [`tables`] holds the tables below `data/ops/`. [`target`] selects the column of a torch_npu.
//! [`dispatch`] is the rule by which PyTorch selects a kernel, the same for the tables and for the
//! registration files of an installation ([`installed`]).

pub mod aclnn;
mod composites;
pub mod dispatch;
pub mod documents;
pub mod host;
pub mod installed;
pub mod libraries;
pub mod onnx;
mod rows;
pub mod tables;
pub mod target;

use data::data_pack::{Pack, PackError, invalid};

pub use dispatch::{Class, Outcome, Registrations, Via};
pub use tables::Tables;
pub use target::{Match, Target};

/// The tables below `data/ops/` and the minimum number of cells per row.
const TABLES: [(&str, usize); 21] = [
    ("aclnn", 2),
    ("aclnn_8.1.RC1", 1),
    ("aclnn_docs", 4),
    ("aicpu", 2),
    ("api", 6),
    ("api_docs", 2),
    ("aten", 3),
    ("composites", 3),
    ("custom", 2),
    ("fusions", 3),
    ("host", 2),
    ("kernels", 2),
    ("libraries", 5),
    ("limits", 4),
    ("methods", 2),
    ("modules", 4),
    ("onnx", 2),
    ("python", 2),
    ("quantization", 4),
    ("sync", 1),
    ("tables", 7),
];
/// The maximum number of rows of a table, because names are numbered with 16 bits.
const MAX_ROWS: usize = 16_000;

/// Checks those tables of a pack that this crate reads.
///
/// # Errors
///
/// Returns an error for the first invalid table.
pub fn check_pack(pack: &'static Pack) -> Result<(), PackError> {
    for (name, cells) in TABLES {
        let name = format!("ops/{name}.tsv");
        let text = pack.text(&name)?;
        let mut count = 0;
        for row in rows::rows(text) {
            count += 1;
            if row.len() < cells {
                let row = row.join(" ");
                return Err(invalid(&name, format!("{cells} cells expected in `{row}`")));
            }
        }
        if !(1..=MAX_ROWS).contains(&count) {
            return Err(invalid(&name, format!("{count} rows")));
        }
    }
    Ok(())
}

/// Returns the rows of a table below `data/ops/` that another part of the program reads.
pub(crate) fn table_rows(name: &str) -> impl Iterator<Item = rows::Row<'static>> {
    rows::rows(table_text(name))
}

/// Returns the text of a table below `data/ops/` that another part of the program reads.
pub fn table_text(name: &str) -> &'static str {
    data::text(&format!("ops/{name}.tsv"))
}
