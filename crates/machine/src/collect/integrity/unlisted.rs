//! Finds unlisted files in the package's directories, and unlisted `.pth` files that run at
//! interpreter startup.

use std::collections::BTreeSet;

use super::compare::Comparison;
use crate::sysroot::Sysroot;
use facts::FileKind;
use facts::{PthCode, Python};

/// The directories that belong only to `torch_npu`.
const OWN_DIRECTORIES: &[&str] = &["torch_npu", "torch_npu.libs"];
/// Files that the interpreter or the dynamic linker would load.
const LOADED: &[&str] = &[".so", ".py", ".pth"];
/// Maximum depth and number of entries of the walk. The published wheels have 12 levels and fewer
/// than 3000 files.
const MAX_DEPTH: usize = 32;
const MAX_ENTRIES: usize = 100_000;
/// Maximum number of bytes of a RECORD that are searched for the owner of a `.pth` file.
const RECORD_LIMIT: u64 = 16 << 20;
/// `.pth` files that well-known tools write without a RECORD: virtualenv; setuptools of a
/// bootstrapped environment; editable installs of setuptools.
const KNOWN_PTH: &[&str] = &["_virtualenv.pth", "distutils-precedence.pth", "__editable__"];

/// Loadable files in the package's directories that no row lists.
pub(super) fn unlisted(sysroot: &Sysroot, site_dir: &str, compared: &Comparison) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = MAX_ENTRIES;
    for name in OWN_DIRECTORIES {
        let dir = format!("{}/{name}", site_dir.trim_end_matches('/'));
        walk(sysroot, &dir, MAX_DEPTH, &mut left, &mut |path| {
            if is_loaded(path) && compared.get(path).is_none() {
                found.push(path.to_owned());
            }
        });
    }
    found
}

fn is_loaded(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    LOADED.iter().any(|end| name.ends_with(end)) || name.contains(".so.")
}

/// Calls `file` for every file below `dir`. Links to directories are not followed, which prevents
/// loops.
fn walk(sysroot: &Sysroot, dir: &str, depth: usize, left: &mut usize, file: &mut dyn FnMut(&str)) {
    if depth == 0 {
        return;
    }
    for (name, kind) in sysroot.entries(dir).unwrap_or_default() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path = format!("{dir}/{name}");
        match kind {
            FileKind::Directory if name != "__pycache__" => {
                walk(sysroot, &path, depth - 1, left, file);
            }
            FileKind::File | FileKind::Link => file(&path),
            _ => {}
        }
    }
}

/// The `.pth` files that run code at every interpreter startup and that no installed distribution
/// lists.
pub(super) fn stray_pth(sysroot: &Sysroot, python: &Python) -> Vec<PthCode> {
    let mut suspects: Vec<&PthCode> = python
        .pth_imports
        .iter()
        .filter(|PthCode { path, .. }| {
            let name = path.rsplit('/').next().unwrap_or(path);
            !KNOWN_PTH.iter().any(|known| name.starts_with(known))
        })
        .collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let mut read = BTreeSet::new();
    for dist in &python.dists {
        if suspects.is_empty() {
            break;
        }
        for list in ["RECORD", "installed-files.txt"] {
            let path = format!("{}/{list}", dist.path);
            if !read.insert(path.clone()) {
                continue;
            }
            let Ok(bytes) = sysroot.read(&path, RECORD_LIMIT) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            suspects.retain(|PthCode { path: pth, .. }| {
                let (dir, name) = pth.rsplit_once('/').unwrap_or(("", pth));
                dir != dist.site_dir || !text.lines().any(|line| names(line, name))
            });
        }
    }
    suspects.into_iter().cloned().collect()
}

/// Returns whether a line of RECORD (path first) or of installed-files.txt is about this file.
fn names(line: &str, name: &str) -> bool {
    let path = line.split(',').next().unwrap_or(line).trim_matches('"');
    path.strip_prefix("../").unwrap_or(path) == name
}
