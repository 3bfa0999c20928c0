//! Files with further names (hard links): a conversion replaces the file behind one name, and the
//! other names keep the old content. A package cache needs this; the report informs users who meant
//! one file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::report::shown;
use base::report::{Evidence, Finding};
use data::{Catalog, RawFinding, findings::convert_links};
pub use treeedit::replace::HardLinks;

/// The findings about replaced files: one for those with names that keep the old content, one for
/// those of which every name was converted.
pub fn replaced(files: &[(&Path, HardLinks)]) -> Vec<Finding> {
    let mut by_file: BTreeMap<(u64, u64), (u64, Vec<&Path>)> = BTreeMap::new();
    for (path, linked) in files {
        let known = by_file.entry(linked.file).or_default();
        // If an earlier root already replaced one name, fewer names are left now.
        known.0 = known.0.max(linked.names);
        known.1.push(path);
    }
    let (mut elsewhere, mut apart) = (Vec::new(), Vec::new());
    for (names, paths) in by_file.into_values() {
        let all = names <= paths.len() as u64;
        if all { &mut apart } else { &mut elsewhere }.extend(paths);
    }
    let elsewhere = said(|n| convert_links::Elsewhere { n }.info(), elsewhere);
    let apart = said(|n| convert_links::Apart { n }.info(), apart);
    elsewhere.into_iter().chain(apart).collect()
}

/// The finding about files that hold their original content again.
pub fn restored(files: &[PathBuf]) -> Option<Finding> {
    said(|n| convert_links::Undone { n }.info(), files.iter().map(PathBuf::as_path).collect())
}

fn said(message: fn(usize) -> RawFinding, mut paths: Vec<&Path>) -> Option<Finding> {
    if paths.is_empty() {
        return None;
    }
    paths.sort_unstable();
    let mut statement = message(paths.len());
    for path in paths {
        statement = statement.evidence(Evidence::file(shown(path)));
    }
    Some(Catalog::builtin().resolve(statement))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converted_and_other_hard_links_are_distinguished() {
        let file = |number, names| HardLinks { file: (1, number), names };
        let path = Path::new;
        let told = replaced(&[
            (path("a.py"), file(1, 2)),
            (path("b.py"), file(2, 2)),
            // The second root finds the last of two names.
            (path("c.py"), file(2, 1)),
        ]);
        let told: Vec<_> = told.iter().map(|one| (&*one.message, one.evidence.len())).collect();
        assert_eq!(told, [("elsewhere", 1), ("apart", 2)]);
        assert!(replaced(&[]).is_empty() && restored(&[]).is_none());
    }
}
