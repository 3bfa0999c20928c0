//! Edits in the clone after which the program still works.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::workspace;

/// The last word of the edited sentence. It is one word, because `explain` breaks lines.
const WORD: &str = "xtask-edit";

/// Returns the root module of convert, relative to the workspace.
pub(super) fn find_convert(root: &Path) -> Result<PathBuf> {
    let found = ["convert/src/lib.rs", "src/convert/lib.rs", "src/convert/mod.rs"]
        .into_iter()
        .find_map(|suffix| workspace::find_files(root, suffix).into_iter().next());
    let found = found.context("no root module of convert; name a source file by --edit")?;
    Ok(found.strip_prefix(root)?.to_owned())
}

/// Returns the name of the package that a source file belongs to.
pub(super) fn find_package(root: &Path, source: &Path) -> Result<String> {
    let path = root.join(source);
    let manifest =
        path.ancestors().skip(1).map(|dir| dir.join("Cargo.toml")).find(|at| at.is_file());
    let manifest = manifest.with_context(|| format!("`{}` is in no package", source.display()))?;
    let table: toml::Table = toml::from_str(&std::fs::read_to_string(&manifest)?)?;
    let name = table.get("package").and_then(|package| package.get("name"));
    let name = name.and_then(toml::Value::as_str);
    name.map(str::to_owned).with_context(|| format!("`{}` names no package", manifest.display()))
}

/// Appends an unnamed item, which no lint reports.
pub(super) fn append_item(path: &Path) -> Result<()> {
    let cannot = || format!("cannot edit `{}`", path.display());
    let text = std::fs::read_to_string(path).with_context(cannot)?;
    std::fs::write(path, format!("{text}\nconst _: u32 = 1;\n")).with_context(cannot)
}

/// A changed sentence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edited {
    /// Id of the finding.
    pub(super) id: String,
    /// The last word of its new name.
    pub(super) word: String,
}

/// Changes the English name of a finding in the data files below `root`.
pub(super) fn change_sentence(root: &Path) -> Result<Edited> {
    for path in workspace::find_files_in(root, "data/findings", "toml") {
        let text = std::fs::read_to_string(&path)?;
        if let Some((edited, id)) = change_first_name(&text)? {
            std::fs::write(&path, edited)?;
            return Ok(Edited { id, word: WORD.to_owned() });
        }
    }
    anyhow::bail!("no finding with a name in `data/findings`")
}

/// Returns the text with another name of its first finding, and the id of the finding.
fn change_first_name(text: &str) -> Result<Option<(String, String)>> {
    let table: toml::Table = toml::from_str(text)?;
    let findings = table.get("finding").and_then(toml::Value::as_array);
    let parts = findings.into_iter().flatten().find_map(|finding| {
        let id = finding.get("id")?.as_str()?;
        let name = finding.get("name")?.get("en")?.as_str()?;
        Some((id, name))
    });
    let Some((id, name)) = parts else { return Ok(None) };
    let quoted = format!("\"{name}\"");
    let edited = text.replacen(&quoted, &format!("\"{name} {WORD}\""), 1);
    Ok((edited != text).then(|| (edited, id.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_is_changed() {
        let text =
            "schema = 1\n[[finding]]\nid = \"A-B\"\nname = { en = \"All is well\", zh = \"好\" }\n";
        let (edited, id) = change_first_name(text).unwrap().unwrap();
        assert_eq!(id, "A-B");
        assert_eq!(edited, text.replace("is well", "is well xtask-edit"));
        assert_eq!(change_first_name("schema = 1\n").unwrap(), None);
    }

    #[test]
    fn the_data_of_this_workspace_can_be_edited() {
        let dir = tempfile::tempdir().unwrap();
        let files = workspace::find_files_in(&workspace::root(), "data/findings", "toml");
        let data = dir.path().join("data/findings");
        std::fs::create_dir_all(&data).unwrap();
        std::fs::copy(&files[0], data.join("a.toml")).unwrap();
        let edited = change_sentence(dir.path()).unwrap();
        let text = std::fs::read_to_string(data.join("a.toml")).unwrap();
        assert!(text.contains(&edited.word) && text.contains(&edited.id));
    }

    #[test]
    fn the_edited_source_has_a_package() {
        let root = workspace::root();
        let source = find_convert(&root).unwrap();
        assert!(!find_package(&root, &source).unwrap().is_empty());
    }

    #[test]
    fn an_item_is_appended() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "fn f() {}\n").unwrap();
        append_item(file.path()).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(text, "fn f() {}\n\nconst _: u32 = 1;\n");
    }
}
