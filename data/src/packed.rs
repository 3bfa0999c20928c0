//! The files below `data/`: built in, or read on demand.
//!
//! A program with debug assertions reads the files from the source tree, so an edited sentence
//! needs no build. All others contain the files as packed by `build.rs`, and read none.

#[cfg(debug_assertions)]
use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::data_pack::Pack;
#[cfg(debug_assertions)]
use crate::messages_code;

/// The pack that replaces the built-in tables. It is fixed when the first table is read.
static INSTALLED: OnceLock<Option<&'static Pack>> = OnceLock::new();

/// The error for a pack that was installed after a table had been read: a defect of the program.
#[derive(Debug)]
pub struct AlreadyRead;

impl AlreadyRead {
    /// Returns the error for display.
    pub fn fault(&self) -> crate::Fault {
        crate::faults::PackTooLate.fault()
    }
}

crate::impl_fault!(AlreadyRead);

/// Replaces all built-in tables for the rest of the process.
///
/// # Errors
///
/// Returns an error if a table has been read or a pack is installed.
pub fn install(pack: &'static Pack) -> Result<(), AlreadyRead> {
    INSTALLED.set(Some(pack)).map_err(|_| AlreadyRead)
}

/// Returns the installed pack. Later attempts to install one fail.
pub fn installed() -> Option<&'static Pack> {
    *INSTALLED.get_or_init(|| None)
}

/// Returns the date of the data in use, `YYYY-MM-DD`.
pub fn as_of() -> &'static str {
    installed().map_or_else(built_in_as_of, Pack::as_of)
}

/// Returns the date of the built-in tables.
pub(crate) fn built_in_as_of() -> &'static str {
    source::as_of()
}

/// Returns a built-in table even if a pack is installed. It defines the content that the program
/// needs in a pack.
pub(crate) fn built_in_table<T: Deserialize<'static>>(name: &str) -> T {
    rmp_serde::from_slice(source::table(name))
        .unwrap_or_else(|error| panic!("data/{name}.toml: {error}"))
}

/// Returns the names of the built-in tables. TOML tables have no extension in their names, other
/// tables have one.
pub(crate) fn names() -> Vec<String> {
    source::names()
}

/// Returns the sorted names of the tables in use below a directory, such as `errors/signatures`.
pub fn names_below(dir: &str) -> Vec<String> {
    let all = installed().map_or_else(names, |pack| pack.names().map(str::to_owned).collect());
    let is_below = |name: &String| name.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
    let mut found: Vec<String> = all.into_iter().filter(is_below).collect();
    found.sort();
    found
}

/// Returns name and content of all built-in tables, as packs contain them.
pub fn built_in_parts() -> Vec<(String, Vec<u8>)> {
    let mut parts = source::parts();
    parts.sort();
    parts
}

/// Returns the content of `data/<name>.toml`. Types that borrow their texts (`&'static str`) copy
/// none of them. The unpacked table is never freed, so callers read each one once.
///
/// # Panics
///
/// Panics if there is no such file, or if it does not have the shape of `T`. The files are part of
/// the program, so this is a defect, and each reader has a test that reads its files.
pub fn table<T: Deserialize<'static>>(name: &str) -> T {
    rmp_serde::from_slice(raw(name)).unwrap_or_else(|error| panic!("data/{name}.toml: {error}"))
}

/// Returns the packed content of `data/<name>.toml`.
pub(crate) fn raw(name: &str) -> &'static [u8] {
    match installed() {
        Some(pack) => pack.content(name).unwrap_or_else(|| panic!("no `{name}` in the data pack")),
        None => source::table(name),
    }
}

/// Returns the content of the text file `data/<name>`, for example `ops/aclnn.tsv`. As with
/// [`table`], callers read each one once.
///
/// # Panics
///
/// Panics if there is no such file.
pub fn text(name: &str) -> &'static str {
    match installed() {
        Some(pack) => pack.text(name).unwrap_or_else(|error| panic!("{error}")),
        None => source::text(name),
    }
}

#[cfg(not(debug_assertions))]
mod source {
    use flate2::{Decompress, FlushDecompress, Status};

    /// Name, size in bytes, compressed content. The names of TOML tables have no extension, those
    /// of text files have one.
    #[expect(clippy::unreadable_literal, reason = "generated")]
    static TABLES: &[(&str, usize, &[u8])] = include!(concat!(env!("OUT_DIR"), "/tables.rs"));
    static TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/texts.rs"));

    pub(super) fn as_of() -> &'static str {
        include!(concat!(env!("OUT_DIR"), "/as_of.rs"))
    }

    pub(super) fn names() -> Vec<String> {
        let names =
            TABLES.iter().map(|(name, ..)| *name).chain(TEXTS.iter().map(|(name, _)| *name));
        names.map(str::to_owned).collect()
    }

    pub(super) fn parts() -> Vec<(String, Vec<u8>)> {
        let part = |name: String| {
            let text = TEXTS.iter().find(|(known, _)| *known == name);
            let content = text.map(|(_, text)| text.as_bytes().to_vec());
            let content = content.or_else(|| unpack(&name)).unwrap_or_default();
            (name, content)
        };
        names().into_iter().map(part).collect()
    }

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
        // Decompresses in one step: a reader would allocate an intermediate buffer and copy through
        // it.
        let mut inflate = Decompress::new(false);
        let done = inflate.decompress_vec(packed, &mut content, FlushDecompress::Finish);
        let done = done.unwrap_or_else(|error| panic!("data/{name}: {error}"));
        assert!(done == Status::StreamEnd && content.len() == *size, "data/{name}: {done:?}");
        Some(content)
    }
}

/// Returns the message tables as edited, by path below `data/`.
#[cfg(debug_assertions)]
pub fn built_in_texts() -> BTreeMap<String, String> {
    let files = source::files_of_messages();
    files.into_iter().map(|file| (file.clone(), source::text(&file).to_owned())).collect()
}

/// Returns the code that declares the messages: files below `data/src/messages/` and their content.
///
/// # Errors
///
/// Returns an error if a table is not valid, or if a language is missing or has other placeholders.
#[cfg(debug_assertions)]
pub fn generated_messages() -> Result<BTreeMap<String, String>, String> {
    messages_code::generate(&built_in_texts())
}

#[cfg(debug_assertions)]
mod source {
    #![expect(clippy::disallowed_methods, reason = "reads the tables of its own source tree")]

    use std::path::Path;

    use crate::pack;

    const HOME: &str = env!("CARGO_MANIFEST_DIR");

    pub(super) fn as_of() -> &'static str {
        let quoted = text("sources.toml").lines().find_map(|line| line.strip_prefix("as_of = "));
        quoted.expect("data/sources.toml has a date").trim_matches('"')
    }

    /// Adds every table file below `dir`.
    fn files(dir: &Path, found: &mut Vec<String>) {
        let entries =
            std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let file = path.strip_prefix(HOME).ok().and_then(Path::to_str).unwrap_or_default();
            if path.is_dir() {
                files(&path, found);
            } else if pack::is_table(file) {
                found.push(file.to_owned());
            }
        }
    }

    pub(super) fn files_of_messages() -> Vec<String> {
        let mut all = Vec::new();
        files(Path::new(HOME), &mut all);
        all.retain(|file| crate::messages_code::has_messages(file));
        all
    }

    pub(super) fn names() -> Vec<String> {
        let mut all = Vec::new();
        files(Path::new(HOME), &mut all);
        let texts = all.iter().filter(|file| file.starts_with("convert/"));
        let texts = texts.map(|file| file.replace(".toml", ".texts")).collect::<Vec<_>>();
        let names = all.iter().map(|file| file.strip_suffix(".toml").unwrap_or(file).to_owned());
        names.chain(texts).collect()
    }

    pub(super) fn parts() -> Vec<(String, Vec<u8>)> {
        let mut all = Vec::new();
        files(Path::new(HOME), &mut all);
        let parts = all.into_iter().flat_map(|file| match file.strip_suffix(".toml") {
            Some(name) => {
                let tables = pack::tables(name, text(&file));
                tables.unwrap_or_else(|error| panic!("{error}"))
            }
            None => vec![(file.clone(), text(&file).as_bytes().to_vec())],
        });
        parts.collect()
    }

    pub(super) fn table(name: &str) -> &'static [u8] {
        let file = name.trim_end_matches(".texts");
        let tables = pack::tables(file, text(&format!("{file}.toml")));
        let tables = tables.unwrap_or_else(|error| panic!("{error}"));
        let found = tables.into_iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("there is no table {name} in data/{file}.toml")).1.leak()
    }

    pub(super) fn text(name: &str) -> &'static str {
        let path = format!("{HOME}/{name}");
        let text = std::fs::read_to_string(&path);
        text.unwrap_or_else(|error| panic!("cannot read `{path}`: {error}")).leak()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "reads the files that are packed")]

    use crate::pack;

    /// Packing preserves the complete content of a table.
    #[test]
    fn packed_tables_equal_their_files() {
        let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut count = 0;
        for entry in walkdir::WalkDir::new(home) {
            let path = entry.unwrap().into_path();
            let name = path.strip_prefix(home).unwrap().to_str().unwrap().to_owned();
            let Some(stem) = name.strip_suffix(".toml").filter(|_| pack::is_table(&name)) else {
                continue;
            };
            let name = stem;
            let text = std::fs::read_to_string(&path).unwrap();
            let mut tables = pack::tables(name, &text).unwrap();
            let mut read: toml::Table = rmp_serde::from_slice(&tables.pop().unwrap().1).unwrap();
            if let Some((_, texts)) = tables.pop()
                && read.contains_key("rule")
            {
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

    #[test]
    fn tables_exclude_overlays_and_files_of_the_crate() {
        for file in ["ui.toml", "index.tsv", "ops/aten.tsv", "errors/causes/hw.toml"] {
            assert!(pack::is_table(file), "{file}");
        }
        for file in [
            "Cargo.toml",
            "src/lib.rs",
            "compat_matrix.overlay.toml",
            "ops/kernels.overlay.tsv",
            "ops/recorded/onnx_map.tsv",
            "torch_npu_names.tsv",
            "acl_abi/values.tsv",
            "errors/healthy.txt",
        ] {
            assert!(!pack::is_table(file), "{file}");
        }
    }

    #[test]
    fn every_built_in_table_has_a_part() {
        let parts = super::built_in_parts();
        let mut names = super::names();
        names.sort();
        assert!(parts.iter().map(|(name, _)| name).eq(&names), "{names:?}");
    }

    fn rows(table: &mut toml::Table) -> &mut Vec<toml::Value> {
        table["rule"].as_array_mut().unwrap()
    }
}
