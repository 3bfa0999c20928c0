//! Replaces the planned files in place: those of all roots, or none.

use data::{Fault, OrFault as _, faults};
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::links::HardLinks;
use super::options::Options;
use super::plan::{FileProblem, Plan, PlannedFile, prove};
use super::python::Project;
use super::report::{Done, shown};
use treeedit::commit::{Change, CommitReport, JournalCompletion, commit};
use treeedit::git;
use treeedit::journal::Journals;
use treeedit::undo::undo;
use treeedit::walk::WalkResult;

/// How files are replaced.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Files with changes that git does not have. If there are any, nothing is written.
    pub uncommitted: Vec<PathBuf>,
    /// Whether a copy of each original is kept next to it.
    pub backup: bool,
}

/// The result of replacing files.
#[derive(Debug)]
pub struct WriteResult {
    /// The outcome.
    pub done: Done,
    /// The journals of the roots, whose last writes have not reached the disk yet.
    pub pending: Vec<(Journals, JournalCompletion)>,
    /// The files that had several names, by their position in the plan.
    pub linked: Vec<(usize, HardLinks)>,
}

/// Returns the files to be replaced that have uncommitted changes, with the paths that the user
/// named.
///
/// # Errors
///
/// The state of a work tree is unknown. Its files are overwritten only with `force`.
pub fn find_uncommitted(planned: &Plan, question: git::Question) -> anyhow::Result<Vec<PathBuf>> {
    let files = planned.files.iter().filter(|file| file.after.is_some()).map(|file| &file.file);
    let named: BTreeMap<PathBuf, &PathBuf> =
        files.map(|file| (file.root.real.join(&file.relative), &file.path)).collect();
    let answer = question.uncommitted(&named.keys().cloned().collect::<Vec<_>>());
    if let Some((top, why)) = answer.trouble {
        return Err(faults::GitUnknown { path: top, why }.fault().into());
    }
    let uncommitted = answer.uncommitted.iter().filter_map(|real| named.get(real));
    Ok(uncommitted.map(|path| (*path).clone()).collect())
}

/// Replaces the files, root by root. If a root fails, the roots before it are restored.
///
/// A file is renamed into place only if [`prove`] accepts it.
///
/// # Errors
///
/// A journal cannot be used, or replacing or restoring a file failed.
pub fn write(
    found: &WalkResult,
    planned: &mut Plan,
    project: &Project,
    options: &Options,
    how: WriteOptions,
) -> anyhow::Result<WriteResult> {
    let mut linked = Vec::new();
    if !how.uncommitted.is_empty() {
        planned.prove(options, project);
        let done = Done::Refused(how.uncommitted);
        return Ok(WriteResult { done, pending: Vec::new(), linked });
    }
    let mut pending: Vec<(Journals, JournalCompletion)> = Vec::new();
    let mut problems: BTreeMap<usize, FileProblem> = BTreeMap::new();
    let mut replaced = 0;
    for (at, root) in found.roots.iter().enumerate() {
        // A file and its directory may both be arguments: they share one journal.
        if found.roots[..at].iter().any(|before| before.real == root.real) {
            continue;
        }
        let is_in_root = |file: &PlannedFile| file.file.root.real == root.real;
        let selected: Vec<usize> = (0..planned.files.len())
            .filter(|&at| is_in_root(&planned.files[at]) && planned.files[at].after.is_some())
            .collect();
        if selected.is_empty() {
            continue;
        }
        let changes: Vec<Change<'_>> = selected
            .iter()
            .map(|&at| {
                let file = &planned.files[at];
                let after = file.after.as_deref().unwrap_or_default();
                Change { relative: &file.file.relative, before: &file.before, after }
            })
            .collect();
        let outcome = Journals::open(&root.dir)
            .or_fault(|| faults::NoJournal.fault())
            .map_err(anyhow::Error::from)
            .and_then(|journals| {
                let proof = |at: usize| prove(&planned.files[selected[at]], options, project);
                let mut committed = commit(&journals, &changes, how.backup, &proof);
                match committed.as_mut().map(|committed| committed.finishing.take()) {
                    Ok(Some(finishing)) => pending.push((journals, finishing)),
                    _ => journals.tidy(),
                }
                committed.map_err(|error| error.fault().into())
            });
        match outcome {
            Ok(CommitReport { left, replaced: count, linked: several, .. }) => {
                replaced += count;
                linked.extend(several.into_iter().map(|(at, names)| (selected[at], names)));
                problems.extend(left.into_iter().map(|(at, problem)| (selected[at], problem)));
            }
            Err(error) => {
                let changed = restore_roots(pending)?;
                let Some(first) = changed.first() else { return Err(error) };
                // A plain conversion would hide the type of the error and with it its Chinese text.
                let cause: Box<dyn std::error::Error + Send + Sync> =
                    error.downcast::<Fault>().map_or_else(Into::into, Into::into);
                let path = shown(first);
                return Err(faults::ChangedSinceWritten { path }.fault().because(cause).into());
            }
        }
    }
    for (at, problem) in problems {
        planned.files[at].leave(problem);
    }
    Ok(WriteResult { done: Done::Written(replaced), pending, linked })
}

/// Restores the files of roots that were written before another root failed. Returns the files that
/// were changed or removed since then.
fn restore_roots(written: Vec<(Journals, JournalCompletion)>) -> anyhow::Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    for (journals, completion) in written {
        completion.wait().map_err(Fault::from)?;
        let undone = undo(&journals, false).or_fault(|| faults::RollbackFailed.fault())?;
        changed.extend(undone.into_iter().flat_map(|one| [one.changed, one.gone].concat()));
        journals.tidy();
    }
    Ok(changed)
}
