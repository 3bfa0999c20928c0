//! The tables below `data/ops/`, as `build.rs` compressed them.

use crate::data::{Packed, unpack};

/// The files, as text.
#[expect(clippy::unreadable_literal, reason = "generated")]
static FILES: &[Packed] = include!(concat!(env!("OUT_DIR"), "/operators.rs"));

/// The content of `data/ops/<name>.tsv`.
///
/// # Panics
///
/// If there is no such file. The files are part of the program, so that this is a defect.
pub(super) fn file(name: &str) -> String {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let packed = found.unwrap_or_else(|| panic!("there is no data/ops/{name}.tsv"));
    let text = String::from_utf8(unpack(packed));
    text.unwrap_or_else(|error| panic!("data/ops/{name}.tsv: {error}"))
}

/// Bytes that all tables take in the binary.
#[cfg(test)]
pub(super) fn size() -> usize {
    FILES.iter().map(|(_, _, packed)| packed.len()).sum()
}

/// The rows of a table: what is no comment, with its columns.
pub(super) fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound that issue and documents state.
    #[test]
    fn all_tables_stay_below_300_kilobytes() {
        assert!(FILES.len() >= 10);
        assert!(size() < 300_000, "{} bytes", size());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads the files that were packed")]
    fn files_are_what_was_written() {
        for (name, ..) in FILES {
            let path = format!("{}/data/ops/{name}.tsv", env!("CARGO_MANIFEST_DIR"));
            assert_eq!(file(name), std::fs::read_to_string(path).unwrap(), "{name}");
        }
    }
}
