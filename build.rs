//! Packs the tables below `data/` for the binary.
//!
//! People read and review TOML; a program that starts for a single look-up should not parse a
//! megabyte of it. Each file becomes the same tree of values in `MessagePack`, which the readers in
//! `src/` take apart with the same `serde` types, about ten times as fast. A file that is no
//! TOML stops the build here, with its name and line; what else a table has to satisfy is held
//! by the tests beside its reader. The operator tables below `data/ops/` stay the text that they
//! are. All of them are compressed: together they would be a tenth of the program.
#![expect(clippy::disallowed_methods, reason = "a build script reads and writes files")]

use std::io::Read as _;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::read::DeflateEncoder;
use walkdir::WalkDir;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rerun-if-changed=build.rs");
    let data = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("data");
    let out = env::var("OUT_DIR")?;
    let mut index = String::from("&[\n");
    for entry in WalkDir::new(&data).sort_by_file_name() {
        let entry = entry?;
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = path.strip_prefix(&data)?.with_extension("");
        let name = name.to_str().ok_or("a table has a name that is not UTF-8")?;
        let text = fs::read_to_string(path)?;
        let mut table: toml::Table =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let told = name.starts_with("convert/").then(|| told(&mut table)).flatten();
        let told = told.map(|told| (format!("{name}.told"), told));
        for (name, table) in told.into_iter().chain([(name.to_owned(), table)]) {
            let file = format!("{}.msgpack.deflate", name.replace('/', "."));
            let content = rmp_serde::to_vec(&table)?;
            index.push_str(&pack(&name, &content, Path::new(&out), &file)?);
        }
    }
    index.push(']');
    fs::write(Path::new(&out).join("tables.rs"), index)?;
    operators(&data.join("ops"), Path::new(&out))
}

/// Takes what rules of `convert` say to people into a table of its own: planning does not need it,
/// and it is the greater part.
fn told(table: &mut toml::Table) -> Option<toml::Table> {
    let rules = table.get_mut("rule")?.as_array_mut()?;
    let rows = rules.iter_mut().filter_map(|rule| {
        let rule = rule.as_table_mut()?;
        let mut row = toml::Table::new();
        row.insert("id".to_owned(), rule.get("id")?.clone());
        for key in ["note", "advice", "source", "example"] {
            row.extend(rule.remove(key).map(|value| (key.to_owned(), value)));
        }
        Some(toml::Value::Table(row))
    });
    let rows = rows.collect();
    Some(toml::Table::from_iter([("rule".to_owned(), toml::Value::Array(rows))]))
}

/// Compresses a table into a file, and gives its line in a list: name, size, content.
fn pack(name: &str, content: &[u8], out: &Path, file: &str) -> std::io::Result<String> {
    let mut packed = Vec::new();
    DeflateEncoder::new(content, Compression::best()).read_to_end(&mut packed)?;
    fs::write(out.join(file), packed)?;
    let include = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))");
    Ok(format!("    ({name:?}, {}, {include}),\n", content.len()))
}

/// Compresses each table of operators, and writes the list of them.
fn operators(tables: &Path, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut index = String::from("&[\n");
    for entry in WalkDir::new(tables).min_depth(1).sort_by_file_name() {
        let entry = entry?;
        let path = entry.path();
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let name = name.ok_or("a table has a name that is not UTF-8")?;
        index.push_str(&pack(name, &fs::read(path)?, out, &format!("ops.{name}.deflate"))?);
    }
    index.push(']');
    fs::write(out.join("operators.rs"), index)?;
    Ok(())
}
