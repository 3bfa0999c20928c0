//! One module per group of tables. Each extractor reads sources and returns rows. It writes nothing
//! and does not affect other tables.
//!
//! To add a table: write a function here or in a submodule, list it in the `EXTRACTORS` of its
//! group, and add its entry to `data/sources.toml`.

mod compat;
pub(crate) mod convert;
mod errors;
pub(crate) mod ops;

use anyhow::Result;

use crate::context::Context;
use crate::diff::Rows;
use crate::document::Document;
use crate::table::Table;

/// One machine-owned table.
#[derive(Debug)]
pub(crate) struct Extractor {
    /// Path below `data/`.
    pub(crate) file: &'static str,
    /// Key of a row.
    pub(crate) key: Key,
    /// Whether rows that vanish from every source are kept.
    pub(crate) vanished: Vanished,
    pub(crate) extract: fn(&Context) -> Result<Content>,
}

/// Key of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    /// Columns of a table with named columns.
    Columns(&'static [&'static str]),
    /// Column names of a table whose file does not name them, and how many of the first ones are
    /// the key.
    Unnamed(&'static [&'static str], usize),
    /// Key fields of each array of tables in a TOML file.
    Toml(&'static [(&'static str, &'static [&'static str])]),
    /// A reader of a file with a custom format.
    Lines(fn(&str) -> Result<Rows>),
}

/// Handling of rows that vanish from every source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vanished {
    /// Keep them, because released programs still print these codes.
    Keep,
    /// Drop them, as far as the floor of the table allows.
    Drop,
}

/// The result of an extractor.
#[derive(Debug)]
pub(crate) enum Content {
    /// Tab-separated values.
    Table(Table),
    /// The body of a TOML file, without the comment about its owner.
    Toml(String),
    /// A TOML file of arrays of tables, which may have manual rows.
    Document(Document),
    /// The body of a file with a custom format.
    Lines(String),
}

impl From<Table> for Content {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

/// Returns all extractors, in the order of `data/sources.toml`.
pub(crate) fn all() -> impl Iterator<Item = &'static Extractor> {
    GROUPS.iter().copied().flatten()
}

/// Extractors by group.
const GROUPS: &[&[Extractor]] = &[
    errors::EXTRACTORS,
    errors::REGISTRY_EXTRACTORS,
    compat::EXTRACTORS,
    ops::EXTRACTORS,
    convert::EXTRACTORS,
];
