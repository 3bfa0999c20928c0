//! `cargo xtask messages`: writes the code that names the messages of `data/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use walkdir::WalkDir;

use crate::workspace;

// Shared with the build script and the tests of the data crate, which does not compile while a
// message that it uses is missing.
#[path = "../../../data/messages.rs"]
mod code;

/// Writes the files below `data/src/messages/` that differ, and removes others.
pub(crate) fn run() -> Result<bool> {
    let data = workspace::root().join("data");
    let target = data.join("src/messages");
    let mut tables = BTreeMap::new();
    for path in files(&data)?.into_iter().filter(|path| code::has_messages(path)) {
        let text = fs::read_to_string(data.join(&path)).with_context(|| path.clone())?;
        tables.insert(path, text);
    }
    let new = code::generate(&tables).map_err(anyhow::Error::msg)?;
    for old in files(&target)?.iter().filter(|old| *old != "mod.rs" && !new.contains_key(*old)) {
        fs::remove_file(target.join(old))?;
        println!("removed data/src/messages/{old}");
    }
    for (name, content) in new {
        let path = target.join(&name);
        if fs::read_to_string(&path).is_ok_and(|old| old == content) {
            continue;
        }
        fs::create_dir_all(path.parent().context("a file has a directory")?)?;
        fs::write(&path, content).with_context(|| name.clone())?;
        println!("wrote data/src/messages/{name}");
    }
    Ok(true)
}

/// Returns the files below a directory, by relative path.
fn files(dir: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in WalkDir::new(dir) {
        let entry = entry?;
        if entry.file_type().is_file() {
            found.insert(entry.path().strip_prefix(dir)?.to_string_lossy().into_owned());
        }
    }
    Ok(found)
}
