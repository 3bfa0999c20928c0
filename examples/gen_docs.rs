//! Writes the generated pages below `docs/reference/`: `cargo run --example gen_docs`.
#![expect(clippy::disallowed_methods, reason = "writes the documents of this project")]

use std::path::Path;

fn main() -> std::io::Result<()> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    for (name, text) in ascend_doctor::explain::reference_pages() {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&dir))?;
        std::fs::write(path, text)?;
    }
    Ok(())
}
