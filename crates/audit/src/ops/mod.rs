//! What is known of operators: which overloads torch_npu has a kernel for, release by release, and
//! what happens to those it has none for.
//!
//! [`tables`] holds the tables below `data/ops/`; [`target`] chooses the column of a torch_npu;
//! [`dispatch`] is the rule by which PyTorch chooses a kernel, the same for the tables and for
//! the registration files of an installation ([`installed`]).

pub mod aclnn;
pub mod dispatch;
pub mod documents;
pub mod host;
pub mod installed;
pub mod onnx;
mod rows;
pub mod tables;
pub mod target;

pub use dispatch::{Class, Outcome, Registrations, Via};
pub use tables::Tables;
pub use target::{Match, Target};

/// The rows of a table below `data/ops/` that another part of the program reads.
pub(crate) fn table_rows(name: &str) -> impl Iterator<Item = rows::Row<'static>> {
    rows::rows(table_text(name))
}

/// The text of a table below `data/ops/` that another part of the program reads.
pub fn table_text(name: &str) -> &'static str {
    data::text(&format!("ops/{name}.tsv"))
}
