//! `cargo xtask page`: builds the offline page.
//!
//! The parts in `crates/web/page/` become one file: style sheet, scripts, texts and the compressed
//! module. The policy of the page names the scripts and the style sheet by their hashes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::workspace;

/// The most bytes of the page.
const LIMIT: usize = 6_000_000;
const TARGET: &str = "wasm32-unknown-unknown";

/// Options of `page`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// File to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

/// Builds the module and writes the page.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let root = workspace::root();
    let page = assemble(&root, &build(&root)?)?;
    ensure!(page.len() <= LIMIT, "the page has {} bytes, more than {LIMIT}", page.len());
    fs::write(&options.output, &page).with_context(|| options.output.display().to_string())?;
    println!("{}: {} bytes", options.output.display(), page.len());
    Ok(true)
}

/// Builds the module and returns its bytes.
fn build(root: &Path) -> Result<Vec<u8>> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--package", "ascend-doctor-web", "--lib"])
        .args(["--profile", "page", "--target", TARGET])
        .current_dir(root)
        .status()
        .context("cargo does not start")?;
    ensure!(status.success(), "the module does not build: `rustup target add {TARGET}` may help");
    let module = root.join(target).join(TARGET).join("page/web.wasm");
    fs::read(&module).with_context(|| module.display().to_string())
}

/// The page with its parts.
fn assemble(root: &Path, module: &[u8]) -> Result<String> {
    let read = |path: &str| fs::read_to_string(root.join(path)).with_context(|| path.to_owned());
    let own = |name: &str| read(&format!("crates/web/page/{name}"));
    let style = read("crates/render/templates/style.css")? + &own("page.css")?;
    let (engine, script) = (own("engine.js")?, own("page.js")?);
    let scripts = format!("{} {}", hash(&engine), hash(&script));
    let policy = format!(
        "default-src 'none'; script-src {scripts} 'wasm-unsafe-eval'; style-src {}; \
         worker-src blob:; base-uri 'none'; form-action 'none'",
        hash(&style)
    );
    for (name, part) in [("engine.js", &engine), ("page.js", &script), ("the style", &style)] {
        ensure!(!part.contains("</") && !part.contains("<!--"), "{name} would end its element");
    }
    let sources: toml::Table = toml::from_str(&read("data/sources.toml")?)?;
    let as_of = sources.get("as_of").and_then(toml::Value::as_str);
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")?)?;
    let version = manifest["workspace"]["package"]["version"].as_str();
    let parts = [
        ("policy", policy),
        ("style", style),
        ("version", version.context("Cargo.toml has no version")?.to_owned()),
        ("as_of", as_of.context("data/sources.toml has no as_of")?.to_owned()),
        ("texts", texts(&own("texts.toml")?)?),
        ("module", base64(&compress(module)?)),
        ("engine", engine),
        ("script", script),
    ];
    fill(&own("page.html")?, &parts)
}

/// Replaces `{{ name }}` by its part. Parts are not searched.
fn fill(template: &str, parts: &[(&str, String)]) -> Result<String> {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{ ") {
        let (name, behind) = after.split_once(" }}").context("a place has no end")?;
        let part = parts.iter().find(|(known, _)| *known == name);
        let (_, part) = part.with_context(|| format!("no part is called {name}"))?;
        page.push_str(before);
        page.push_str(part);
        rest = behind;
    }
    Ok(page + rest)
}

/// The table of texts as JSON that cannot end its element.
fn texts(table: &str) -> Result<String> {
    let table: toml::Table = toml::from_str(table)?;
    let texts = table["text"].as_table().context("texts.toml has no texts")?;
    let mut json = Map::new();
    for (key, text) in texts {
        for lang in ["en", "zh"] {
            ensure!(text.get(lang).is_some_and(toml::Value::is_str), "{key} has no {lang}");
        }
        json.insert(key.clone(), serde_json::to_value(text)?);
    }
    Ok(Value::Object(json).to_string().replace("</", "<\\/"))
}

fn compress(module: &[u8]) -> Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(module)?;
    Ok(packed.finish()?)
}

/// The source expression for an inline script or style sheet.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text)))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let part = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let number = part(0) << 16 | part(1) << 8 | part(2);
        for place in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * place)) as usize & 63];
            text.push(if place > group.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn parts_are_inserted_once_and_not_searched() {
        let parts = [("a", "{{ b }}".to_owned())];
        assert_eq!(fill("<{{ a }}>", &parts).unwrap(), "<{{ b }}>");
        assert!(fill("{{ b }}", &parts).is_err());
        assert!(fill("{{ a", &parts).is_err());
    }

    #[test]
    fn every_text_is_used_and_in_both_languages() {
        let root = workspace::root().join("crates/web/page");
        let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
        let table: Map<String, Value> =
            serde_json::from_str(&texts(&read("texts.toml")).unwrap()).unwrap();
        let used = read("page.html") + &read("page.js");
        for key in table.keys() {
            // Keys of kinds, lists and outcomes are put together.
            let built = ["kind_", "list_"].iter().any(|start| key.starts_with(start))
                || ["address", "needs_file", "mixed", "failed"].contains(&key.as_str());
            assert!(built || used.contains(&format!("\"{key}\"")), "{key} is not used");
        }
        let attribute = regex::Regex::new(r#"data-(?:text|label)="(\w+)""#).unwrap();
        for key in attribute.captures_iter(&used) {
            assert!(table.contains_key(&key[1]), "texts.toml has no {}", &key[1]);
        }
    }
}
