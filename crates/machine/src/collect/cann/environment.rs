//! Directories of the Ascend stack named by environment variables.

use std::collections::BTreeSet;

use super::discover::{Discovery, parent};
use crate::sysroot::{ReadError, Sysroot};
use facts::{Env, EnvPath, NodeOwner, SearchEntry};

/// Variables that contain one directory of CANN or NNAL.
const SINGLE: &[&str] = &[
    "ASCEND_HOME_PATH",
    "ASCEND_TOOLKIT_HOME",
    "ASCEND_TOOLKIT_LATEST_HOME",
    "ASCEND_OPP_PATH",
    "ASCEND_AICPU_PATH",
    "TOOLCHAIN_HOME",
    "ATB_HOME_PATH",
    "ASDOPS_HOME_PATH",
];

/// Variables with a list of directories that all belong to the stack.
const OWN_LISTS: &[&str] = &["ASCEND_CUSTOM_OPP_PATH"];

/// Search paths whose write permissions matter.
const SEARCH: &[&str] = &["LD_LIBRARY_PATH", "PYTHONPATH", "LD_PRELOAD"];

/// Variables that contain a list of directories.
const LISTS: &[&str] = &["LD_LIBRARY_PATH", "PYTHONPATH", "PATH", "CMAKE_PREFIX_PATH"];

/// Maximum number of entries read from one variable.
const MAX_ENTRIES: usize = 512;

/// Directories from which to search for installations outside of the default locations.
pub(super) fn places(env: &Env) -> Vec<String> {
    let single = SINGLE
        .iter()
        .filter(|name| !name.starts_with("ATB") && !name.starts_with("ASDOPS"))
        .filter_map(|name| env.non_empty(name).map(str::to_owned));
    let listed = LISTS
        .iter()
        .flat_map(|name| env.list(name).into_iter().take(MAX_ENTRIES))
        .filter(|entry| is_ascend_like(entry) && !entry.contains("/driver"))
        .map(str::to_owned);
    let mut seen = BTreeSet::new();
    single
        .chain(listed)
        .filter(|place| place.starts_with('/') && seen.insert(place.clone()))
        .collect()
}

/// Every entry of those variables that is in an installation, or whose name suggests one.
pub(super) fn paths(sysroot: &Sysroot, found: &Discovery<'_>) -> Vec<EnvPath> {
    let env = sysroot.env();
    let resolve = |variable: &str, entry: &str| {
        let real =
            if entry.starts_with('/') { sysroot.real(entry) } else { Err(ReadError::NotFound) };
        let denied = real == Err(ReadError::Denied);
        let real = real.ok();
        let root = real.as_deref().and_then(|real| found.root_of(real)).map(str::to_owned);
        let nearest = if real.is_none() { nearest(sysroot, entry) } else { None };
        let (variable, entry) = (variable.to_owned(), entry.to_owned());
        EnvPath { variable, entry, real, root, nearest, denied }
    };
    let mut paths = Vec::new();
    for name in SINGLE {
        paths.extend(env.non_empty(name).map(|value| resolve(name, value)));
    }
    for name in OWN_LISTS {
        paths
            .extend(env.list(name).into_iter().filter(|e| !e.is_empty()).map(|e| resolve(name, e)));
    }
    for name in LISTS {
        let entries = env.list(name).into_iter().take(MAX_ENTRIES).filter(|e| !e.is_empty());
        let entries = entries.map(|entry| resolve(name, entry));
        paths.extend(entries.filter(|path| path.root.is_some() || is_ascend_like(&path.entry)));
    }
    paths
}

/// The longest existing part of a path.
fn nearest(sysroot: &Sysroot, path: &str) -> Option<String> {
    let mut at = parent(path);
    while let Some(dir) = at {
        if sysroot.exists(dir) {
            return Some(dir.to_owned());
        }
        at = parent(dir);
    }
    None
}

/// The state of the entries of the search paths.
pub(super) fn entries(sysroot: &Sysroot) -> Vec<SearchEntry> {
    let env = sysroot.env();
    let mut entries = Vec::new();
    for variable in SEARCH {
        // ld.so also accepts blanks as separators in LD_PRELOAD.
        let split = |c: char| c == ':' || (*variable == "LD_PRELOAD" && c == ' ');
        let value = env.non_empty(variable).unwrap_or_default();
        for entry in value.split(split).take(MAX_ENTRIES).filter(|_| !value.is_empty()) {
            let stat = entry.starts_with('/').then(|| sysroot.stat(entry).ok()).flatten();
            let owner = stat.as_ref().filter(|stat| stat.owner_known).map(|stat| NodeOwner {
                mode: stat.mode,
                uid: stat.uid,
                gid: stat.gid,
            });
            let (variable, entry) = ((*variable).to_owned(), entry.to_owned());
            entries.push(SearchEntry { variable, entry, exists: stat.is_some(), owner });
        }
    }
    entries
}

/// Returns whether a path has a part that only the Ascend stack uses.
fn is_ascend_like(path: &str) -> bool {
    path.split('/').any(|part| {
        part.eq_ignore_ascii_case("ascend")
            || matches!(part, "ascend-toolkit" | "nnae" | "nnrt" | "nnal" | "cann")
            || part.starts_with("cann-")
    })
}
