//! Writes the reference pages: `cargo run --example gen_docs [DIR]`, by default into
//! `docs/reference/`, which git ignores.
#![expect(clippy::disallowed_methods, reason = "writes the documents of this project")]

use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    let dir = std::env::args_os().nth(1).map_or_else(default, PathBuf::from);
    // Pages of removed families must not remain.
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    for (name, text) in explain::reference_pages() {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&dir))?;
        std::fs::write(path, text)?;
    }
    Ok(())
}
