//! The shims of pyenv: `python3` on `PATH` is a script that starts the interpreter of the selected
//! version. Files show which one that is, without running the script. Order and formats are those
//! of `pyenv version-name` and `pyenv-version-file-read`.

use crate::sysroot::Sysroot;

/// Returns whether a directory of `PATH` contains the shims of pyenv.
pub(super) fn is_shims(sysroot: &Sysroot, dir: &str) -> bool {
    super::base_name(dir) == "shims" && sysroot.is_dir(&versions(dir))
}

/// The interpreter that a shim would start. `None` if the system's Python is selected, or a version
/// that is not installed; then the rest of `PATH` decides.
pub(super) fn behind(sysroot: &Sysroot, shims: &str) -> Option<String> {
    let versions = versions(shims);
    selected(sysroot, super::parent(shims))
        .iter()
        .take_while(|name| *name != "system")
        .filter_map(|name| installed(sysroot, &versions, name))
        .flat_map(|version| [format!("{version}/bin/python3"), format!("{version}/bin/python")])
        .find(|path| sysroot.is_file(path))
}

fn versions(shims: &str) -> String {
    format!("{}/versions", super::parent(shims))
}

/// The names of the selected versions: `PYENV_VERSION`, else the nearest `.python-version` at or
/// above the current directory, else the global `version`.
fn selected(sysroot: &Sysroot, root: &str) -> Vec<String> {
    if let Some(names) = sysroot.env().non_empty("PYENV_VERSION") {
        return names.split(':').map(str::to_owned).collect();
    }
    let cwd = sysroot.process().cwd.as_deref().filter(|cwd| cwd.starts_with('/'));
    let above = std::iter::successors(cwd, |dir| (*dir != "/").then(|| super::parent(dir)));
    above
        .map(|dir| format!("{}/.python-version", dir.trim_end_matches('/')))
        .chain([format!("{root}/version")])
        .map(|file| names(&sysroot.read_text_if_exists(&file).unwrap_or_default()))
        .find(|names| !names.is_empty())
        .unwrap_or_default()
}

/// One or more names, separated by blanks; `#` starts a comment.
fn names(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.split('#').next())
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

/// The directory of a version: the one with its name, or for `3.11` that of the newest `3.11.x`.
fn installed(sysroot: &Sysroot, versions: &str, name: &str) -> Option<String> {
    let name = name.strip_prefix("python-").unwrap_or(name);
    // `3.11.7/envs/name` is a virtual environment of pyenv; a path that leaves the directory is not
    // a version.
    if name.is_empty() || name.split('/').any(|part| part == "..") {
        return None;
    }
    let exact = format!("{versions}/{name}");
    if sysroot.is_dir(&exact) {
        return Some(exact);
    }
    let patch =
        |other: &str| -> Option<u64> { other.strip_prefix(name)?.strip_prefix('.')?.parse().ok() };
    let others = sysroot.list(versions).unwrap_or_default();
    let newest = others.into_iter().filter(|n| patch(n).is_some()).max_by_key(|n| patch(n))?;
    Some(format!("{versions}/{newest}"))
}
