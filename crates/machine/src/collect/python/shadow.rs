//! Directories that `import` would find before the installed package: the working directory, if it
//! is a clone or contains one, or an entry of `PYTHONPATH` that does.

use super::site;
use crate::sysroot::Sysroot;
use facts::Python;

/// Packages that need compiled parts (`_C*.so`), so they cannot work from their bare sources.
const PACKAGES: &[&str] = &["torch", "torch_npu", "vllm", "vllm_ascend"];

/// Package and directory of each source tree in the working directory or on `PYTHONPATH`.
pub(super) fn read(sysroot: &Sysroot, python: &Python) -> Vec<(String, String)> {
    let mut places: Vec<String> = sysroot.process().cwd.iter().cloned().collect();
    places.extend(site::python_path(sysroot));
    let mut found = Vec::new();
    for place in &places {
        let place = place.trim_end_matches('/');
        for &package in PACKAGES {
            let dir = format!("{place}/{package}");
            let entry = (package.to_owned(), dir.clone());
            if found.contains(&entry) || is_installed_there(sysroot, python, package, &dir) {
                continue;
            }
            let Ok(names) = sysroot.list(&dir) else { continue };
            let compiled = names.iter().any(|name| {
                (name.starts_with("_C") || name.starts_with(&format!("{package}_C")))
                    && site::has_extension(name, "so")
            });
            let is_package = names.iter().any(|name| name == "__init__.py");
            // Python prefers a package on the path to a directory without it. But the directory
            // precedes a package that only the hook of an editable install finds, because that hook
            // runs last.
            let hides_editable = !is_package
                && python.editable_packages.contains_key(package)
                && !is_on_path(sysroot, python, package);
            if is_package && !compiled || hides_editable {
                found.push(entry);
            }
        }
    }
    found
}

/// Returns whether a site directory contains the package itself.
fn is_on_path(sysroot: &Sysroot, python: &Python, package: &str) -> bool {
    let init = |dir: &String| sysroot.is_file(&format!("{dir}/{package}/__init__.py"));
    python.site_dirs.iter().any(init)
}

/// Returns whether the package is meant to be in this directory: an editable install of it (which
/// for vllm has no `_C*.so` on an NPU), or a site directory that has its metadata, too.
fn is_installed_there(sysroot: &Sysroot, python: &Python, package: &str, dir: &str) -> bool {
    let real = |path: &str| sysroot.real(path).unwrap_or_else(|_| path.to_owned());
    let here = real(dir);
    let holder = super::parent(&here);
    let name = facts::normalize_name(package);
    let mapped = python.editable_packages.get(package);
    mapped.is_some_and(|mapped| real(mapped) == here)
        || python.all_dists(&name).any(|dist| {
            let editable = dist.editable.as_deref().map(real);
            real(&dist.site_dir) == holder
                || editable.is_some_and(|root| root == holder || format!("{root}/src") == holder)
        })
}
