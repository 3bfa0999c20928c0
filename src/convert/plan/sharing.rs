//! Rounds over the Python files of a tree, until no file adds a fact about the names of another
//! one.
//!
//! ```text
//! plans -> open names? -> roles that all files show -> plans again of files that mention them
//! ```
//!
//! Most trees need no round: the use of a device is recognized in its own file.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;
use rayon::prelude::*;
use treeedit::kind::FileKind;
use treeedit::walk::SourceFile;

use super::{Drafted, draft_bytes, read};
use crate::options::Options;
use crate::python::Project;
use crate::python::shared_roles::ShownRoles;
use crate::site::FilePlan;

/// Maximum number of files through which a role is carried.
const MAX_ROUNDS: usize = 4;
/// Maximum number of names to search in other files.
const MAX_NAMES: usize = 5_000;

/// The files of a tree by the number of their place in the walk.
type Numbered = (usize, Drafted);

/// Carries roles between files: plans the files again that benefit from roles in others.
pub(super) fn share_roles(
    mut planned: Vec<Numbered>,
    files: &[SourceFile],
    options: &Options,
    project: &mut Project,
) -> Vec<Numbered> {
    let open: BTreeSet<String> = planned
        .iter()
        .filter_map(|(_, one)| shown(one))
        .flat_map(|shown| shown.open.iter().cloned())
        .take(MAX_NAMES)
        .collect();
    if open.is_empty() {
        return planned;
    }
    let mut others = others(&planned, files, &open, options, project);
    project.set_open(open);
    for _ in 0..MAX_ROUNDS {
        let all = planned.iter().map(|(_, one)| one).chain(&others).filter_map(shown);
        let new: BTreeSet<String> =
            all.flat_map(|shown| project.share(&shown.roles)).take(MAX_NAMES).collect();
        let Some(search) = search(&new) else { break };
        let project = &*project;
        let again = |one: Drafted| {
            let (file, bytes) = match &one {
                Ok(planned) => (&planned.file, &planned.before),
                Err(silent) => (&silent.file, &silent.bytes),
            };
            let gains =
                matches!(file.kind, FileKind::Python | FileKind::Config) && search.is_match(bytes);
            if gains { draft_bytes(&file.clone(), bytes.clone(), options, project) } else { one }
        };
        planned = planned.into_par_iter().map(|(at, one)| (at, again(one))).collect();
        others = others.into_par_iter().map(again).collect();
    }
    planned
}

/// Python files without a CUDA word that mention an open name: they may show its role.
fn others(
    planned: &[Numbered],
    files: &[SourceFile],
    open: &BTreeSet<String>,
    options: &Options,
    project: &Project,
) -> Vec<Drafted> {
    let Some(search) = search(open) else { return Vec::new() };
    let known: BTreeSet<_> = planned
        .iter()
        .map(|(_, one)| match one {
            Ok(planned) => planned.file.path.as_path(),
            Err(silent) => silent.file.path.as_path(),
        })
        .collect();
    let others = files
        .par_iter()
        .filter(|file| file.kind == FileKind::Python && !known.contains(file.path.as_path()));
    others
        .filter_map(|file| {
            let bytes = read(file).ok().filter(|bytes| search.is_match(bytes))?;
            Some(draft_bytes(file, bytes, options, project))
        })
        .collect()
}

fn search(names: &BTreeSet<String>) -> Option<AhoCorasick> {
    let names: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
    (!names.is_empty()).then(|| AhoCorasick::new(names).ok())?
}

fn shown(one: &Drafted) -> Option<&ShownRoles> {
    let plan: &FilePlan = match one {
        Ok(planned) => &planned.plan,
        Err(silent) => &silent.plan,
    };
    plan.shown.as_deref()
}
