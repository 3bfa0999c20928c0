//! The tables below `data/`, as `build.rs` packed them.

use flate2::{Decompress, FlushDecompress, Status};
use serde::Deserialize;

/// A table or a text: name of the file below its directory without its ending, size in bytes,
/// compressed content.
pub(crate) type Packed = (&'static str, usize, &'static [u8]);

/// The files below `data/`, in `MessagePack`.
static TABLES: &[Packed] = include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The content of `data/<name>.toml`. What borrows its texts (`&'static str`) copies none of them:
/// the unpacked table stays, and so each one is asked for once.
///
/// # Panics
///
/// If there is no such file, or if it has not the shape of `T`. The files are part of the program,
/// so that this is a defect, and each reader has a test that reads its files.
pub(crate) fn table<T: Deserialize<'static>>(name: &str) -> T {
    let found = TABLES.iter().find(|(known, ..)| *known == name);
    let packed = found.unwrap_or_else(|| panic!("there is no data/{name}.toml"));
    let content: &'static [u8] = unpack(packed).leak();
    rmp_serde::from_slice(content).unwrap_or_else(|error| panic!("data/{name}.toml: {error}"))
}

/// The content of a packed file.
///
/// # Panics
///
/// If it is not what `build.rs` wrote.
pub(crate) fn unpack((name, size, packed): &Packed) -> Vec<u8> {
    let mut content = Vec::with_capacity(*size);
    // All at once: a reader would allocate, and go through, a buffer between.
    let mut inflate = Decompress::new(false);
    let done = inflate.decompress_vec(packed, &mut content, FlushDecompress::Finish);
    let done = done.unwrap_or_else(|error| panic!("data/{name}: {error}"));
    assert!(done == Status::StreamEnd && content.len() == *size, "data/{name}: {done:?}");
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packing loses nothing of a table.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads the files that were packed")]
    fn tables_are_what_the_files_say() {
        assert!(TABLES.len() > 30);
        let whole = |name: &str| {
            let mut read: toml::Table = table(name);
            if TABLES.iter().any(|(known, ..)| *known == format!("{name}.told")) {
                let mut told: toml::Table = table(&format!("{name}.told"));
                let (rules, told) = (rows(&mut read), rows(&mut told));
                assert_eq!(rules.len(), told.len(), "{name}");
                for (rule, told) in rules.iter_mut().zip(told) {
                    let (rule, told) = (rule.as_table_mut().unwrap(), told.as_table_mut().unwrap());
                    assert_eq!(rule["id"], told["id"], "{name}");
                    rule.extend(std::mem::take(told));
                }
            }
            read
        };
        for (name, ..) in TABLES.iter().filter(|(name, ..)| !name.ends_with(".told")) {
            let path = format!("{}/data/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let written: toml::Table = toml::from_str(&text).unwrap();
            assert_eq!(whole(name), written, "{name}");
        }
    }

    fn rows(table: &mut toml::Table) -> &mut Vec<toml::Value> {
        table["rule"].as_array_mut().unwrap()
    }
}
