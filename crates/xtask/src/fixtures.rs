//! Directory trees of the test machines in `tests/fixtures/hosts`.
//!
//! The builder is that of the product's tests, compiled into this crate. The example `make_fixture`
//! would first build the product in debug mode, and writes one machine per run.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;

use self::support::recipe::Recipe;
use crate::workspace;

#[path = "../../../tests/support"]
#[allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::format_collect,
    clippy::missing_panics_doc,
    reason = "code of the product's tests, linted there"
)]
mod support {
    pub mod cann;
    pub mod elf;
    pub mod host;
    pub mod machine;
    pub mod python;
    pub mod recipe;
    pub mod torch;
    pub mod tree;
    pub mod versions;
}

/// A test machine as a directory tree.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    /// Arguments of `check` in the specification.
    pub(crate) args: Vec<String>,
    /// `site-packages` relative to the root, if torch_npu is installed there.
    pub(crate) site: Option<PathBuf>,
}

/// Writes all machines below `dir`, or reuses those with an unchanged specification.
pub(crate) fn materialize(dir: &Path) -> Result<Vec<Machine>> {
    let specs = workspace::find_files_in(&workspace::root(), "fixtures/hosts", "toml");
    ensure!(!specs.is_empty(), "no specification of a machine in `tests/fixtures/hosts`");
    std::fs::create_dir_all(dir)?;
    let dir = dir.canonicalize()?;
    specs.par_iter().map(|spec| write(spec, &dir)).collect()
}

fn write(spec: &Path, dir: &Path) -> Result<Machine> {
    let cannot = || format!("cannot build the machine of `{}`", spec.display());
    let name = spec.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(spec).with_context(cannot)?;
    let recipe: Recipe = toml::from_str(&text).with_context(cannot)?;
    let root = dir.join(&name);
    // The stamp is written last, so that an interrupted run leaves no incomplete tree with a stamp.
    let stamp = dir.join(format!("{name}.toml"));
    if std::fs::read_to_string(&stamp).ok().as_ref() != Some(&text) {
        if root.exists() {
            std::fs::remove_dir_all(&root).with_context(cannot)?;
        }
        std::fs::create_dir_all(&root).with_context(cannot)?;
        recipe.build().write(&root);
        std::fs::write(&stamp, &text).with_context(cannot)?;
    }
    let site = find_site(&root);
    Ok(Machine { name, root, args: recipe.expect.args, site })
}

/// Returns the directory with the metadata of torch_npu, relative to the root.
fn find_site(root: &Path) -> Option<PathBuf> {
    let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter();
    let metadata = entries.filter_map(Result::ok).find(|entry| {
        let name = entry.file_name().to_string_lossy();
        name.starts_with("torch_npu-") && name.ends_with(".dist-info")
    })?;
    let site = metadata.path().parent()?.strip_prefix(root).ok()?;
    Some(site.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_machines_are_reused() {
        let dir = tempfile::tempdir().unwrap();
        let spec = dir.path().join("m.toml");
        let text = "story = 'a host without NPUs'\nexpect = {}\n[machine]\nnpus = 0\n\
                    cann = ''\ndriver = ''\ntorch_npu = ''\n";
        std::fs::write(&spec, text).unwrap();
        let out = dir.path().join("out");
        std::fs::create_dir(&out).unwrap();
        let machine = write(&spec, &out).unwrap();
        assert_eq!((machine.name.as_str(), &machine.site), ("m", &None));
        assert!(machine.root.join("etc/os-release").is_file());
        let marker = machine.root.join("marker");
        std::fs::write(&marker, "").unwrap();
        write(&spec, &out).unwrap();
        assert!(marker.exists());
        std::fs::write(&spec, text.replace("without", "with no")).unwrap();
        write(&spec, &out).unwrap();
        assert!(!marker.exists());
    }
}
