//! Packs the tables of this directory for programs with built-in tables.
//!
//! Each TOML file becomes the same tree of values in `MessagePack`, which readers decode with the
//! same `serde` types about ten times as fast. Tables are compressed, except the error codes,
//! because a single look-up scans all of them. A file that is not TOML stops the build with its
//! name and line.
//!
//! A program with debug assertions has no built-in tables and reads the files at run time, so an
//! edited sentence needs no build.
#![expect(clippy::disallowed_methods, reason = "a build script reads and writes files")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::read::DeflateEncoder;
use walkdir::WalkDir;

mod faults;
mod messages;
mod pack;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=messages.rs");
    println!("cargo::rerun-if-changed=pack.rs");
    println!("cargo::rerun-if-changed=faults.rs");
    if env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_some() {
        return Ok(());
    }
    let data = env::var("CARGO_MANIFEST_DIR")?;
    let data = Path::new(&data);
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    let mut tables = String::from("&[\n");
    let mut texts = String::from("&[\n");
    let mut as_of_line = String::new();
    let mut sentences = BTreeMap::new();
    let files = WalkDir::new(data).min_depth(1).sort_by_file_name();
    let own = |name: &std::ffi::OsStr| {
        // Inputs of a refresh are not tables of the product.
        let input = name == "recorded" || name.to_string_lossy().contains(".overlay.");
        let code = ["src", "target", "acl_abi", "examples"].iter().any(|code| name == *code);
        input || code
    };
    for entry in files.into_iter().filter_entry(|entry| !own(entry.file_name())) {
        let entry = entry?;
        let path = entry.path();
        println!("cargo::rerun-if-changed={}", path.display());
        let file =
            path.strip_prefix(data)?.to_str().ok_or("a table has a name that is not UTF-8")?;
        if !entry.file_type().is_file() || !pack::is_table(file) {
            continue;
        }
        if let Some(name) = file.strip_suffix(".toml") {
            let text = fs::read_to_string(path)?;
            if messages::has_messages(file) {
                sentences.insert(file.to_owned(), text.clone());
            }
            if name == "sources" {
                let sources: toml::Table = toml::from_str(&text)?;
                let as_of = sources.get("as_of").and_then(toml::Value::as_str);
                as_of_line = format!("{:?}", as_of.ok_or("data/sources.toml has no as_of")?);
            }
            if name == "faults"
                && faults::generate(&text)? != fs::read_to_string(data.join("src/faults.rs"))?
            {
                return Err("data/src/faults.rs is stale: run `cargo xtask faults`".into());
            }
            for (name, content) in pack::tables(name, &text)? {
                tables.push_str(&compress(&name, &content, out)?);
            }
        } else if file.starts_with("ops/") || file == "official_pairs.tsv" {
            tables.push_str(&compress(file, &fs::read(path)?, out)?);
        } else {
            let path = path.to_str().ok_or("the path of the tables is not UTF-8")?;
            writeln!(texts, "    ({file:?}, include_str!({path:?})),")?;
        }
    }
    check_messages(data, &sentences)?;
    fs::write(out.join("tables.rs"), tables + "]")?;
    fs::write(out.join("texts.rs"), texts + "]")?;
    fs::write(out.join("as_of.rs"), as_of_line)?;
    Ok(())
}

/// Rejects sentences without a translation, and code that does not declare these messages.
fn check_messages(data: &Path, sentences: &BTreeMap<String, String>) -> Result<(), String> {
    println!("cargo::rerun-if-changed={}", data.join("src/messages").display());
    for (name, code) in messages::generate(sentences)? {
        let known = fs::read_to_string(data.join("src/messages").join(&name)).unwrap_or_default();
        if known != code {
            return Err(format!("data/src/messages/{name} is stale: run `cargo xtask messages`"));
        }
    }
    Ok(())
}

/// Compresses a table into a file, and returns its line in a list: name, size, content.
fn compress(name: &str, content: &[u8], out: &Path) -> std::io::Result<String> {
    let file = format!("{}.deflate", name.replace('/', "."));
    let mut packed = Vec::new();
    DeflateEncoder::new(content, Compression::best()).read_to_end(&mut packed)?;
    fs::write(out.join(&file), packed)?;
    let include = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))");
    Ok(format!("    ({name:?}, {}, {include}),\n", content.len()))
}
