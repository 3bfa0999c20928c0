//! Directories of the Ascend stack that environment variables name.

use std::collections::BTreeSet;

use super::discover::Discovery;
use crate::facts::{Env, EnvPath};
use crate::sysroot::Sysroot;

/// Variables that hold one directory of CANN or NNAL.
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

/// Variables that hold a list of directories.
const LISTS: &[&str] = &["LD_LIBRARY_PATH", "PYTHONPATH", "PATH", "CMAKE_PREFIX_PATH"];

/// The most entries of one variable that are looked at.
const MAX_ENTRIES: usize = 512;

/// Directories from which to look for installations that lie elsewhere.
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

/// Every entry of those variables that leads to an installation, or looks as if it should.
pub(super) fn paths(sysroot: &Sysroot, found: &Discovery<'_>) -> Vec<EnvPath> {
    let env = sysroot.env();
    let resolve = |variable: &str, entry: &str| {
        let real = entry.starts_with('/').then(|| sysroot.real(entry).ok()).flatten();
        let root = real.as_deref().and_then(|real| found.root_of(real)).map(str::to_owned);
        EnvPath { variable: variable.to_owned(), entry: entry.to_owned(), real, root }
    };
    let mut paths = Vec::new();
    for name in SINGLE {
        paths.extend(env.non_empty(name).map(|value| resolve(name, value)));
    }
    for name in LISTS {
        let entries = env.list(name).into_iter().take(MAX_ENTRIES).filter(|e| !e.is_empty());
        let entries = entries.map(|entry| resolve(name, entry));
        paths.extend(entries.filter(|path| path.root.is_some() || is_ascend_like(&path.entry)));
    }
    paths
}

/// Whether a path has a part that only the Ascend stack uses.
fn is_ascend_like(path: &str) -> bool {
    path.split('/').any(|part| {
        part.eq_ignore_ascii_case("ascend")
            || matches!(part, "ascend-toolkit" | "nnae" | "nnrt" | "nnal" | "cann")
            || part.starts_with("cann-")
    })
}
