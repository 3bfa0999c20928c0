//! Writes the planned changes: all of them, or none on failure.
//!
//! The order makes a killed run harmless: first the journal is written, then all new contents next
//! to their files; when the disk has both, the contents are renamed into place one after the other.
//! At any moment each file is the old one or the new one; see [`super::undo`]. While the disk
//! works, the new contents are verified: unsound contents are not renamed.

use base::text::Text;
use data::fault::Value as _;
use data::{Fault, faults};
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use rayon::prelude::*;

use super::backup;
use super::denial::Denial;
use super::io_overlap::overlap_io;
use super::journal::{Journal, JournalError, Journals, Original, State};
use super::replace::{self, ContentMatch, FileState, HardLinks, Replacement};
use guard::tree::Tree;

/// Verifies a change, given by its position; called from several threads while the disk is written.
pub type Proof<'a, P> = dyn Fn(usize) -> Result<(), P> + Sync + 'a;

/// The reason why a change was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The content of the file differs from the content that was read.
    Changed,
    /// This user may not replace the file.
    Denied(Denial),
    /// Reading or writing the file failed.
    Io(Text),
}

/// A file to replace.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// Below the root.
    pub relative: &'a Path,
    /// Its expected content; if the content differs, the file is left unchanged.
    pub before: &'a [u8],
    /// Its new content.
    pub after: &'a [u8],
}

/// The result of a commit.
#[derive(Debug)]
pub struct CommitReport<P> {
    /// The number of replaced files.
    pub replaced: usize,
    /// The positions of the changes that were not made, with the reasons.
    pub left: Vec<(usize, P)>,
    /// The positions of the changes to files with several names: the other names keep the old
    /// content.
    pub linked: Vec<(usize, HardLinks)>,
    /// Copies of the originals, if requested.
    pub backups: Vec<PathBuf>,
    /// The end of the run, which can proceed in the background.
    pub finishing: Option<JournalCompletion>,
}

impl<P> Default for CommitReport<P> {
    fn default() -> Self {
        Self {
            replaced: 0,
            left: Vec::new(),
            linked: Vec::new(),
            backups: Vec::new(),
            finishing: None,
        }
    }
}

/// Waits for the disk after the files were replaced, and then marks the run as complete in the
/// journal. Until then its [`Journals`] must stay open, or another run would consider it
/// interrupted.
#[derive(Debug)]
pub struct JournalCompletion {
    rest: Arc<CompletionTask>,
    /// `None` if no thread could be started: then the waiting caller does the work.
    thread: Option<JoinHandle<Result<(), JournalError>>>,
}

/// The remaining work.
#[derive(Debug)]
struct CompletionTask {
    journal: Journal,
    replaced: Vec<usize>,
    /// The directories in which files were replaced, below the root.
    dirs: Vec<PathBuf>,
    tree: Arc<Tree>,
}

impl CompletionTask {
    fn work(&self) -> Result<(), JournalError> {
        self.journal.finish(self.replaced.clone(), &self.tree, &self.dirs)
    }
}

impl JournalCompletion {
    fn begin(rest: CompletionTask) -> Self {
        let rest = Arc::new(rest);
        let theirs = Arc::clone(&rest);
        let thread = std::thread::Builder::new().spawn(move || theirs.work()).ok();
        Self { rest, thread }
    }

    /// Waits for the end.
    ///
    /// # Errors
    ///
    /// If the end of the run cannot be recorded.
    pub fn wait(mut self) -> Result<(), JournalError> {
        match self.thread.take() {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => self.rest.work(),
        }
    }
}

impl Drop for JournalCompletion {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The reason why nothing was written.
#[derive(Debug)]
pub enum CommitError {
    /// The journal cannot be used.
    Journal(JournalError),
    /// An earlier run was interrupted, and its remains still exist.
    Unfinished(PathBuf),
    /// Writing failed, and all files were restored.
    RolledBack(PathBuf, io::Error),
    /// Writing failed, and so did restoring the files.
    HalfWay(PathBuf, io::Error),
}

impl CommitError {
    /// The error message for users.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Journal(why) => faults::JournalUnwritable { why }.fault(),
            Self::Unfinished(path) => faults::UnfinishedRun { path }.fault(),
            Self::RolledBack(path, why) => faults::WriteRolledBack { path, why }.fault(),
            Self::HalfWay(path, why) => faults::WriteHalfWay { path, why }.fault(),
        }
    }
}

data::impl_fault!(CommitError);

impl From<JournalError> for CommitError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

/// A change that passed the checks.
struct PreparedChange<'a> {
    position: usize,
    change: Change<'a>,
    path: PathBuf,
    seen: FileState,
}

/// Replaces the files of `changes` below the root of `journals`, except those that `proof` rejects.
pub fn commit<P: From<Refusal> + Send>(
    journals: &Journals,
    changes: &[Change<'_>],
    with_backup: bool,
    proof: &Proof<'_, P>,
) -> Result<CommitReport<P>, CommitError> {
    if let Some((_, State::Interrupted)) = journals.latest()? {
        return Err(CommitError::Unfinished(journals.base().to_owned()));
    }
    let mut committed = CommitReport::default();
    let mut ready = Vec::with_capacity(changes.len());
    let prepared: Vec<_> = changes.par_iter().map(|change| prepare(journals, *change)).collect();
    for (position, (change, prepared)) in changes.iter().zip(prepared).enumerate() {
        match prepared {
            Ok((path, seen)) => {
                ready.push(PreparedChange { position, change: *change, path, seen });
            }
            Err(problem) => committed.left.push((position, problem.into())),
        }
    }
    if ready.is_empty() {
        return Ok(committed);
    }
    let originals: Vec<Original<'_>> = ready
        .iter()
        .map(|ready| Original {
            relative: ready.change.relative,
            mode: replace::mode_of(&ready.seen),
            names: ready.seen.linked().names,
            before: ready.change.before,
            after: ready.change.after,
        })
        .collect();
    let journal = journals.begin(&originals)?;
    let tree = journals.tree();
    let mut run = Run { tree, journal: &journal, ready: &ready, renamed: Vec::new() };
    let prove = || ready.par_iter().with_max_len(1).map(|ready| proof(ready.position)).collect();
    let settled = OnceLock::new();
    let (staged, proofs) =
        overlap_io(ready.len(), |positions| run.stage(positions, &settled), prove);
    let settled = settled.into_inner().unwrap_or_else(|| journal.settle());
    if let Err(error) = settled {
        staged.into_iter().flatten().for_each(|staged| staged.discard());
        let _ = journal.remove();
        return Err(error.into());
    }
    match run.write(staged, proofs, with_backup, &mut committed) {
        Ok(()) => {
            committed.replaced = run.renamed.len();
            if run.renamed.is_empty() {
                journal.remove()?;
            } else {
                let dirs = run.directories().into_iter().map(Path::to_owned).collect();
                let tree = Arc::clone(tree);
                let replaced = std::mem::take(&mut run.renamed);
                let linked =
                    replaced.iter().map(|&at| (ready[at].position, ready[at].seen.linked()));
                committed.linked = linked.filter(|(_, linked)| linked.names > 1).collect();
                let rest = CompletionTask { journal, replaced, dirs, tree };
                committed.finishing = Some(JournalCompletion::begin(rest));
            }
            Ok(committed)
        }
        Err((path, error)) => {
            for backup in &committed.backups {
                backup::remove(tree, backup.strip_prefix(journals.base()).unwrap_or(backup));
            }
            if run.roll_back() && journal.remove().is_ok() {
                Err(CommitError::RolledBack(path, error))
            } else {
                Err(CommitError::HalfWay(path, error))
            }
        }
    }
}

/// Checks that a change may be made: the file has the content that was read, and is writable.
fn prepare(journals: &Journals, change: Change<'_>) -> Result<(PathBuf, FileState), Refusal> {
    let path = journals.base().join(change.relative);
    let place = match journals.tree().place(change.relative) {
        Ok(place) => place,
        Err(error) if replace::is_gone(&error) => return Err(Refusal::Changed),
        Err(error) => return Err(Refusal::Io(error.value())),
    };
    match replace::match_content(&place, change.before) {
        Ok(ContentMatch::Yes(seen)) => match seen.denied(&place, &path) {
            None => Ok((path, seen)),
            Some(denied) => Err(Refusal::Denied(denied)),
        },
        Ok(ContentMatch::No) => Err(Refusal::Changed),
        Err(error) => Err(Refusal::Io(error.value())),
    }
}

/// Distinguishes errors of a single file from errors that end the run.
fn judge(error: io::Error, path: &Path) -> Result<Refusal, (PathBuf, io::Error)> {
    match Denial::of(&error) {
        Some(denied) => Ok(Refusal::Denied(denied)),
        // Its directory was removed, or replaced by a link.
        None if replace::is_gone(&error) => Ok(Refusal::Changed),
        None => Err((path.to_owned(), error)),
    }
}

struct Run<'a> {
    tree: &'a Tree,
    journal: &'a Journal,
    ready: &'a [PreparedChange<'a>],
    /// Positions in `ready`, which are those in the journal.
    renamed: Vec<usize>,
}

impl<'a> Run<'a> {
    /// Writes new contents next to their files, and waits until the disk has them; with the first
    /// batch, also the journal. Everything is written before any wait, because most disks then
    /// complete all of it at once.
    fn stage(
        &self,
        positions: Range<usize>,
        settled: &OnceLock<Result<(), JournalError>>,
    ) -> Vec<io::Result<Replacement<'a>>> {
        let first = positions.start == 0;
        let laid: Vec<_> = positions
            .map(|position| {
                let ready = &self.ready[position];
                replace::stage_unsynced(
                    self.tree,
                    ready.change.relative,
                    &self.journal.temporary(position),
                    ready.change.after,
                )
            })
            .collect();
        if first {
            settled.get_or_init(|| self.journal.settle());
        }
        laid.into_iter().map(|laid| laid?.settle()).collect()
    }

    /// Renames the `staged` contents that are sound.
    fn write<P: From<Refusal>>(
        &mut self,
        staged: Vec<io::Result<Replacement<'_>>>,
        proofs: Vec<Result<(), P>>,
        with_backup: bool,
        committed: &mut CommitReport<P>,
    ) -> Result<(), (PathBuf, io::Error)> {
        let mut waiting = Vec::with_capacity(staged.len());
        let mut failed = None;
        for ((ready, staged), proof) in self.ready.iter().zip(staged).zip(proofs) {
            match staged.map_err(|error| judge(error, &ready.path)) {
                Ok(staged) => {
                    if let Err(problem) = proof {
                        staged.discard();
                        committed.left.push((ready.position, problem));
                        waiting.push(None);
                    } else {
                        waiting.push(Some(staged));
                    }
                }
                Err(Ok(problem)) => {
                    committed.left.push((ready.position, problem.into()));
                    waiting.push(None);
                }
                Err(Err(fatal)) => {
                    failed = failed.or(Some(fatal));
                    waiting.push(None);
                }
            }
        }
        if failed.is_none() && with_backup {
            failed = self.back_up(&waiting, committed).err();
        }
        let mut waiting = waiting.into_iter().enumerate();
        for (position, staged) in waiting.by_ref() {
            let Some(staged) = staged else { continue };
            if failed.is_some() {
                staged.discard();
                continue;
            }
            let ready = &self.ready[position];
            match staged.commit(&ready.seen).map_err(|error| judge(error, &ready.path)) {
                Ok(true) => self.renamed.push(position),
                Ok(false) => committed.left.push((ready.position, Refusal::Changed.into())),
                Err(Ok(problem)) => committed.left.push((ready.position, problem.into())),
                Err(Err(fatal)) => failed = Some(fatal),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn back_up<P>(
        &self,
        waiting: &[Option<Replacement<'_>>],
        committed: &mut CommitReport<P>,
    ) -> Result<(), (PathBuf, io::Error)> {
        for (ready, _) in self.ready.iter().zip(waiting).filter(|(_, staged)| staged.is_some()) {
            let backup = backup::write(self.tree, ready.change.relative, ready.change.before)
                .map_err(|error| (ready.path.clone(), error))?;
            committed.backups.push(self.journal.base.join(backup));
        }
        Ok(())
    }

    /// The directories in which files were replaced, below the root.
    fn directories(&self) -> BTreeSet<&Path> {
        let replaced = self.renamed.iter().map(|&position| self.ready[position].change.relative);
        replaced.map(|path| path.parent().unwrap_or(Path::new(""))).collect()
    }

    /// Restores the old contents; returns whether that worked for all.
    fn roll_back(&self) -> bool {
        self.renamed.iter().all(|&position| {
            let ready = &self.ready[position];
            let temporary = self.journal.temporary(position);
            replace::stage(self.tree, ready.change.relative, &temporary, ready.change.before)
                .and_then(Replacement::force)
                .is_ok()
        })
    }
}
