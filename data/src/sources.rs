//! Sources and owners of the tables: `data/sources.toml`.

use serde::Deserialize;

use crate::data_pack::{Pack, PackError, invalid};

/// The content of the file.
#[derive(Debug, Deserialize)]
pub struct Sources {
    /// The date of the data, `YYYY-MM-DD`.
    pub as_of: String,
    /// Public sources.
    pub source: Vec<Source>,
    /// Tables and their owners.
    pub table: Vec<TableOrigin>,
}

/// A public source.
#[derive(Debug, Deserialize)]
pub struct Source {
    /// The ID in the file.
    pub id: String,
    /// The name: a repository, a package, a document.
    #[serde(default)]
    pub name: String,
    /// The commit that was read.
    #[serde(default)]
    pub commit: Option<String>,
    /// The date of that commit.
    #[serde(default)]
    pub date: Option<String>,
}

/// The origin of a table.
#[derive(Debug, Deserialize)]
pub struct TableOrigin {
    /// The file below `data/`.
    pub file: String,
    /// The owner: `hand`, `machine` or `recorded`.
    pub owner: String,
    /// IDs of its sources.
    #[serde(default)]
    pub sources: Vec<String>,
}

impl Sources {
    /// Reads the file of the data in use.
    pub fn read() -> Self {
        crate::table("sources")
    }

    /// Returns the source of a table with the newest date.
    pub fn newest(&self, table: &TableOrigin) -> Option<&Source> {
        let of = |source: &&Source| table.sources.contains(&source.id) && source.date.is_some();
        self.source.iter().filter(of).max_by_key(|source| source.date.as_deref())
    }
}

/// Returns the size of a table of the data in use; `None` if the program does not contain it.
pub fn table_size(file: &str) -> Option<TableSize> {
    let name = file.strip_suffix(".toml");
    let names = crate::packed::names();
    if !names.iter().any(|known| known == name.unwrap_or(file)) {
        return None;
    }
    if let Some(name) = name {
        let texts = format!("{name}.texts");
        let texts = names.contains(&texts).then(|| crate::packed::raw(&texts).len());
        let bytes = crate::packed::raw(name).len() + texts.unwrap_or(0);
        return Some(TableSize { rows: None, bytes });
    }
    let text = crate::text(file);
    // Tables of error codes have a line with the column names.
    let is_row =
        |line: &&str| !(line.is_empty() || line.starts_with('#') || line.starts_with("code\t"));
    let rows = text.lines().filter(is_row);
    Some(TableSize { rows: Some(rows.count()), bytes: text.len() })
}

/// The size of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSize {
    /// Rows of a text table without comments; includes the line of column names.
    pub rows: Option<usize>,
    /// The unpacked size in bytes, in the format in the program.
    pub bytes: usize,
}

/// Decodes the table of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let sources: Sources = pack.table("sources")?;
    if sources.as_of == pack.as_of() {
        Ok(())
    } else {
        Err(invalid("sources", "its date differs from the manifest"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_an_owner_and_every_owner_a_table() {
        let sources = Sources::read();
        let mut owned: Vec<String> = sources.table.iter().map(|row| row.file.clone()).collect();
        owned.retain(|file| table_size(file).is_some());
        let names = crate::packed::names().into_iter().filter(|name| !name.ends_with(".texts"));
        let names = names.filter(|name| name != "sources");
        let file = |name: String| if name.ends_with(".tsv") { name } else { name + ".toml" };
        let mut files: Vec<String> = names.map(file).collect();
        owned.sort();
        files.sort();
        assert_eq!(owned, files);
    }

    #[test]
    fn the_newest_source_has_the_latest_date() {
        let sources = Sources::read();
        let matrix = sources.table.iter().find(|row| row.file == "compat_matrix.toml").unwrap();
        let newest = sources.newest(matrix).unwrap();
        assert!(newest.commit.is_some() && newest.date.as_deref() > Some("2026-01-01"));
        let words = sources.table.iter().find(|row| row.file == "ui.toml").unwrap();
        assert!(sources.newest(words).is_none(), "own words have no source");
    }
}
