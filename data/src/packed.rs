//! The files below `data/`: compiled in, or read when they are asked for.
//!
//! A program with debug assertions reads them from the source tree, so that an edited sentence
//! needs no build. All others carry them, as `build.rs` packed them, and read nothing.

use serde::Deserialize;

/// The content of `data/<name>.toml`. Types that borrow their texts (`&'static str`) copy none of
/// them: the unpacked table stays, so each one is asked for once.
///
/// # Panics
///
/// If there is no such file, or if it does not have the shape of `T`. The files are part of the
/// program, so this is a defect, and each reader has a test that reads its files.
pub fn table<T: Deserialize<'static>>(name: &str) -> T {
    rmp_serde::from_slice(source::table(name))
        .unwrap_or_else(|error| panic!("data/{name}.toml: {error}"))
}

/// The content of the text file `data/<name>`, for example `ops/aclnn.tsv`. As with [`table`],
/// each one is asked for once.
///
/// # Panics
///
/// If there is no such file.
pub fn text(name: &str) -> &'static str {
    source::text(name)
}

#[cfg(not(debug_assertions))]
mod source {
    use flate2::{Decompress, FlushDecompress, Status};

    /// Name, size in bytes, compressed content: tables without their ending, texts with it.
    #[expect(clippy::unreadable_literal, reason = "generated")]
    static TABLES: &[(&str, usize, &[u8])] = include!(concat!(env!("OUT_DIR"), "/tables.rs"));
    static TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/texts.rs"));

    pub(super) fn table(name: &str) -> &'static [u8] {
        unpack(name).unwrap_or_else(|| panic!("there is no data/{name}.toml")).leak()
    }

    pub(super) fn text(name: &str) -> &'static str {
        if let Some((_, text)) = TEXTS.iter().find(|(known, _)| *known == name) {
            return text;
        }
        let content = unpack(name).unwrap_or_else(|| panic!("there is no data/{name}"));
        let text = String::from_utf8(content);
        text.unwrap_or_else(|error| panic!("data/{name}: {error}")).leak()
    }

    fn unpack(name: &str) -> Option<Vec<u8>> {
        let (_, size, packed) = TABLES.iter().find(|(known, ..)| *known == name)?;
        let mut content = Vec::with_capacity(*size);
        // All at once: a reader would allocate, and go through, a buffer between.
        let mut inflate = Decompress::new(false);
        let done = inflate.decompress_vec(packed, &mut content, FlushDecompress::Finish);
        let done = done.unwrap_or_else(|error| panic!("data/{name}: {error}"));
        assert!(done == Status::StreamEnd && content.len() == *size, "data/{name}: {done:?}");
        Some(content)
    }
}

#[cfg(debug_assertions)]
mod source {
    #![expect(clippy::disallowed_methods, reason = "reads the tables of its own source tree")]

    use crate::pack;

    pub(super) fn table(name: &str) -> &'static [u8] {
        let file = name.trim_end_matches(".texts");
        let tables = pack::tables(file, text(&format!("{file}.toml")));
        let tables = tables.unwrap_or_else(|error| panic!("{error}"));
        let found = tables.into_iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("there is no table {name} in data/{file}.toml")).1.leak()
    }

    pub(super) fn text(name: &str) -> &'static str {
        let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path);
        text.unwrap_or_else(|error| panic!("cannot read `{path}`: {error}")).leak()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "reads the files that are packed")]

    use crate::pack;

    /// Packing loses nothing of a table.
    #[test]
    fn packed_tables_equal_their_files() {
        let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut count = 0;
        for entry in walkdir::WalkDir::new(home) {
            let path = entry.unwrap().into_path();
            let name = path.strip_prefix(home).unwrap().to_str().unwrap().to_owned();
            let Some(name) = name.strip_suffix(".toml").filter(|name| *name != "Cargo") else {
                continue;
            };
            let text = std::fs::read_to_string(&path).unwrap();
            let mut tables = pack::tables(name, &text).unwrap();
            let mut read: toml::Table = rmp_serde::from_slice(&tables.pop().unwrap().1).unwrap();
            if let Some((_, texts)) = tables.pop() {
                let mut texts: toml::Table = rmp_serde::from_slice(&texts).unwrap();
                let (rules, texts) = (rows(&mut read), rows(&mut texts));
                assert_eq!(rules.len(), texts.len(), "{name}");
                for (rule, texts) in rules.iter_mut().zip(texts) {
                    let (rule, texts) =
                        (rule.as_table_mut().unwrap(), texts.as_table_mut().unwrap());
                    assert_eq!(rule["id"], texts["id"], "{name}");
                    rule.extend(std::mem::take(texts));
                }
            }
            assert_eq!(read, toml::from_str(&text).unwrap(), "{name}");
            count += 1;
        }
        assert!(count > 30, "{count} tables");
    }

    fn rows(table: &mut toml::Table) -> &mut Vec<toml::Value> {
        table["rule"].as_array_mut().unwrap()
    }
}
