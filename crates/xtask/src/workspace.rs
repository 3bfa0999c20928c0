//! Location of the work tree, of its data files and of the built program.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use walkdir::WalkDir;

/// Returns the root of the workspace that xtask was built in.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_owned()
}

/// Builds the product and returns the program. The profile is `debug` or `release`.
pub(crate) fn build(profile: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    command.args(["build", "--quiet", "--package", "ascend-doctor", "--bin", "ascend-doctor"]);
    if profile == "release" {
        command.arg("--release");
    }
    let status = command.current_dir(root()).status().context("cannot start cargo")?;
    ensure!(status.success(), "the {profile} build fails");
    let metadata = Command::new(&cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .context("cannot start cargo")?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let target =
        metadata["target_directory"].as_str().context("no target directory in metadata")?;
    Ok(Path::new(target).join(profile).join("ascend-doctor"))
}

/// Returns the files of the work tree whose path ends with `suffix`, sorted.
///
/// Searching by suffix keeps xtask independent of the crate that holds the data.
pub(crate) fn find_files(root: &Path, suffix: &str) -> Vec<PathBuf> {
    list_files(root, |path| path.ends_with(suffix))
}

/// Returns the files below a directory `dir` of the work tree, independent of its location.
pub(crate) fn find_files_in(root: &Path, dir: &str, extension: &str) -> Vec<PathBuf> {
    list_files(root, |path| {
        path.extension().is_some_and(|found| found == extension)
            && path.parent().is_some_and(|parent| parent.ends_with(dir))
    })
}

fn list_files(root: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    WalkDir::new(root)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0 || !(name.starts_with('.') || name == "target")
        })
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && wanted(entry.path()))
        .map(walkdir::DirEntry::into_path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_holds_the_workspace_manifest() {
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[workspace]"));
    }

    #[test]
    fn build_results_are_not_searched() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["a/data/ops/aten.tsv", "target/data/ops/aten.tsv", ".git/data/ops/aten.tsv"] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = find_files(dir.path(), "data/ops/aten.tsv");
        assert_eq!(found, [dir.path().join("a/data/ops/aten.tsv")]);
        assert_eq!(find_files_in(dir.path(), "data/ops", "tsv"), found);
    }
}
