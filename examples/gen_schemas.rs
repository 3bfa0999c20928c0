//! Writes the JSON Schemas: `cargo run --example gen_schemas` into `docs/schema/`, and with
//! `--freeze` into `tests/fixtures/schemas/`, which contains those of the last release.
#![expect(clippy::disallowed_methods, reason = "writes the documents of this project")]

use std::path::Path;

use ascend_doctor::schema::{Document, documents};

fn main() -> std::io::Result<()> {
    let freeze = std::env::args().any(|argument| argument == "--freeze");
    let (dir, text): (_, fn(&Document) -> String) = if freeze {
        ("tests/fixtures/schemas", Document::frozen)
    } else {
        ("docs/schema", Document::text)
    };
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
    // Schemas of removed shapes must not remain.
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    std::fs::create_dir_all(&dir)?;
    for document in documents() {
        std::fs::write(dir.join(format!("{}.schema.json", document.name)), text(&document))?;
    }
    Ok(())
}
