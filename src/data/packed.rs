//! The tables below `data/`, as `build.rs` packed them.

use serde::Deserialize;

/// Name of the file below `data/` without its ending, and its content in `MessagePack`.
static TABLES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The content of `data/<name>.toml`. What borrows its texts (`&'static str`) copies none of them.
///
/// # Panics
///
/// If there is no such file, or if it has not the shape of `T`. The files are part of the program,
/// so that this is a defect, and each reader has a test that reads its files.
pub(crate) fn table<T: Deserialize<'static>>(name: &str) -> T {
    let found = TABLES.iter().find(|(known, _)| *known == name);
    let (_, packed) = found.unwrap_or_else(|| panic!("there is no data/{name}.toml"));
    rmp_serde::from_slice(packed).unwrap_or_else(|error| panic!("data/{name}.toml: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packing loses nothing of a table.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads the files that were packed")]
    fn tables_are_what_the_files_say() {
        assert!(TABLES.len() > 30);
        for (name, _) in TABLES {
            let path = format!("{}/data/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let written: toml::Table = toml::from_str(&text).unwrap();
            assert_eq!(table::<toml::Table>(name), written, "{name}");
        }
    }
}
