//! Undoes a run: the last one on request, an interrupted one before anything else.
use data::{Fault, faults};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::journal::{Entry, Journal, JournalError, Journals, State};
use super::replace::{self, StagedFile};
use base::hash::Sha256;
use guard::tree::Tree;

/// The maximum size of a converted file; a larger one was changed.
const MAX_SIZE: u64 = 1 << 30;

/// The result of undoing a run. Paths are below the root.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UndoReport {
    /// The files with restored original bytes.
    pub restored: Vec<PathBuf>,
    /// The files that were changed by others since the run. If there are any, an undo has restored
    /// nothing; a recovery has skipped these.
    pub changed: Vec<PathBuf>,
    /// The files that were removed since the run, with the same effect.
    pub gone: Vec<PathBuf>,
    /// Those of the restored files that had other names before the run: they are not linked again.
    pub unlinked: Vec<PathBuf>,
}

impl UndoReport {
    /// Records a file that cannot simply be restored.
    fn add_skipped(&mut self, entry: &Entry, now: EntryState) {
        let left = if now == EntryState::Gone { &mut self.gone } else { &mut self.changed };
        left.push(entry.path.path().to_owned());
    }

    /// Records restored files.
    fn add_restored(&mut self, journal: &Journal, restored: Vec<usize>) {
        let entries = restored.into_iter().map(|position| &journal.entries[position]);
        for entry in entries {
            let path = entry.path.path().to_owned();
            if entry.names > 1 {
                self.unlinked.push(path.clone());
            }
            self.restored.push(path);
        }
    }
}

/// The reason why a run could not be undone.
#[derive(Debug)]
pub enum UndoError {
    /// The journal cannot be used.
    Journal(JournalError),
    /// A file could not be restored; its journal is kept for another try.
    Failed(PathBuf, io::Error),
}

impl UndoError {
    /// The error message for users.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Journal(error) => error.fault(),
            Self::Failed(path, why) => faults::CannotRestore { path, why }.fault(),
        }
    }
}

data::impl_fault!(UndoError);

impl From<JournalError> for UndoError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

/// The current state of a file of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryState {
    Old,
    New,
    Other,
    Gone,
}

/// Undoes the last run; `None` if there is none. A file that has neither the content from the run
/// nor the one before it makes the undo fail, unless `force` is set: then its content is lost.
pub fn undo(journals: &Journals, force: bool) -> Result<Option<UndoReport>, UndoError> {
    let Some((journal, state)) = journals.latest()? else { return Ok(None) };
    let positions = match state {
        State::Done(replaced) => replaced,
        State::Interrupted => return recover(journals),
    };
    let mut wanted = Vec::new();
    let mut undone = UndoReport::default();
    for position in positions {
        let Some(entry) = journal.entries.get(position) else { continue };
        match entry_state(journals, entry)? {
            EntryState::Old => {}
            EntryState::New => wanted.push(position),
            EntryState::Other | EntryState::Gone if force => wanted.push(position),
            other => undone.add_skipped(entry, other),
        }
    }
    if !(undone.changed.is_empty() && undone.gone.is_empty()) {
        return Ok(Some(undone));
    }
    undone.add_restored(&journal, restore(journals, &journal, &wanted)?);
    journal.remove()?;
    Ok(Some(undone))
}

/// Restores the files that an interrupted run replaced; `None` if no run was interrupted. Files
/// changed since then are kept, with their journal, so that `undo` with `force` can still restore
/// them.
pub fn recover(journals: &Journals) -> Result<Option<UndoReport>, UndoError> {
    let Some((journal, State::Interrupted)) = journals.latest()? else { return Ok(None) };
    let mut wanted = Vec::new();
    let mut undone = UndoReport::default();
    let mut left = Vec::new();
    journal.remove_temporaries(journals.tree());
    for (position, entry) in journal.entries.iter().enumerate() {
        match entry_state(journals, entry)? {
            EntryState::Old => {}
            EntryState::New => wanted.push(position),
            other => {
                left.push(position);
                undone.add_skipped(entry, other);
            }
        }
    }
    undone.add_restored(&journal, restore(journals, &journal, &wanted)?);
    if left.is_empty() {
        journal.remove()?;
    } else {
        journal.finish(left, journals.tree(), &[])?;
    }
    Ok(Some(undone))
}

fn entry_state(journals: &Journals, entry: &Entry) -> Result<EntryState, UndoError> {
    let relative = entry.path.path();
    let failed = |error| UndoError::Failed(journals.base().join(relative), error);
    let place = match journals.tree().place(relative) {
        Ok(place) => place,
        Err(error) if replace::is_gone(&error) => return Ok(EntryState::Gone),
        Err(error) => return Err(failed(error)),
    };
    let content = match replace::content(&place, MAX_SIZE) {
        Ok(Some(content)) => content,
        Ok(None) if place.dir.kind(&place.name).is_none() => return Ok(EntryState::Gone),
        Ok(None) => return Ok(EntryState::Other),
        Err(error) => return Err(failed(error)),
    };
    let hash = Sha256::of(&content).hex();
    Ok(if hash == entry.before {
        EntryState::Old
    } else if hash == entry.after {
        EntryState::New
    } else {
        EntryState::Other
    })
}

/// Restores the originals; returns the positions of the restored ones.
fn restore(
    journals: &Journals,
    journal: &Journal,
    wanted: &[usize],
) -> Result<Vec<usize>, UndoError> {
    let tree = journals.tree();
    // A directory that was removed since it was opened would otherwise stay cached.
    tree.forget();
    let mut restored = Vec::new();
    let mut dirs = BTreeSet::new();
    // In batches, so that a large tree does not have to fit into memory at once. A batch is
    // completely written before the first wait.
    for portion in wanted.chunks(64) {
        let originals = journal.originals(portion)?;
        let laid: Vec<_> = portion
            .iter()
            .zip(originals)
            .map(|(&position, bytes)| {
                let entry = &journal.entries[position];
                let path = entry.path.path();
                let temporary = journal.temporary(position);
                let laid = lay_back(tree, path, &temporary, entry.mode, &bytes);
                (position, path, laid)
            })
            .collect();
        let mut failed = None;
        for (position, path, laid) in laid {
            // After a failure nothing is replaced, and no temporary file remains.
            let placed = laid.and_then(StagedFile::settle).and_then(|staged| {
                if failed.is_some() {
                    staged.discard();
                    return Ok(false);
                }
                staged.force().map(|()| true)
            });
            match placed {
                Ok(true) => {
                    dirs.insert(path.parent().unwrap_or(Path::new("")));
                    restored.push(position);
                }
                Ok(false) => {}
                Err(error) => {
                    let path = journals.base().join(path);
                    failed = failed.or(Some(UndoError::Failed(path, error)));
                }
            }
        }
        if let Some(failed) = failed {
            return Err(failed);
        }
    }
    for dir in dirs {
        let _ = tree.dir(dir).and_then(|dir| dir.sync());
    }
    Ok(restored)
}

/// Writes the original content of a file next to it.
fn lay_back<'a>(
    tree: &'a Tree,
    path: &'a Path,
    temporary: &str,
    mode: u32,
    bytes: &[u8],
) -> io::Result<StagedFile<'a>> {
    let parent = path.parent().unwrap_or(Path::new(""));
    tree.root().descend_or_create(parent, 0o777).map_err(|error| match error.kind() {
        io::ErrorKind::NotADirectory => io::Error::other(faults::LinkOutOfTree.fault()),
        _ => error,
    })?;
    let laid = replace::stage_unsynced(tree, path, temporary, bytes)?;
    laid.set_permissions(mode)?;
    Ok(laid)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "builds trees on disk")]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::commit::Refusal;
    use crate::commit::{Change, commit};
    use crate::journal::Original;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn change<'a>(name: &'a str, before: &'a str, after: &'a str) -> Change<'a> {
        Change { relative: Path::new(name), before: before.as_bytes(), after: after.as_bytes() }
    }

    fn read(dir: &tempfile::TempDir, name: &str) -> String {
        std::fs::read_to_string(dir.path().join(name)).unwrap()
    }

    fn entries(dir: &tempfile::TempDir) -> usize {
        walkdir::WalkDir::new(dir.path()).into_iter().count()
    }

    #[test]
    fn undo_restores_the_tree() {
        let dir = tree(&[("a.py", "1"), ("d/b.py", "2"), ("c.py", "3")]);
        let mode = Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path().join("a.py"), mode).unwrap();
        let before = entries(&dir);
        let journals = Journals::open(dir.path()).unwrap();
        let changes = [change("a.py", "1", "one"), change("d/b.py", "2", "two")];
        assert_eq!(commit::<Refusal>(&journals, &changes, false, &|_| Ok(())).unwrap().replaced, 2);
        let more = [change("a.py", "one", "uno")];
        assert_eq!(commit::<Refusal>(&journals, &more, false, &|_| Ok(())).unwrap().replaced, 1);
        assert_eq!((read(&dir, "a.py"), read(&dir, "d/b.py")), ("uno".into(), "two".into()));
        // Runs are undone in reverse order.
        assert_eq!(undo(&journals, false).unwrap().unwrap().restored, [Path::new("a.py")]);
        assert_eq!(read(&dir, "a.py"), "one");
        assert_eq!(undo(&journals, false).unwrap().unwrap().restored.len(), 2);
        assert_eq!((read(&dir, "a.py"), read(&dir, "d/b.py")), ("1".into(), "2".into()));
        assert_eq!(undo(&journals, false).unwrap(), None);
        let mode = dir.path().join("a.py").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755);
        journals.tidy();
        assert_eq!(entries(&dir), before);
    }

    #[test]
    fn undo_keeps_later_changes_without_force() {
        let dir = tree(&[("a.py", "1"), ("b.py", "2")]);
        let journals = Journals::open(dir.path()).unwrap();
        let changes = [change("a.py", "1", "one"), change("b.py", "2", "two")];
        commit::<Refusal>(&journals, &changes, false, &|_| Ok(())).unwrap();
        std::fs::write(dir.path().join("a.py"), "mine").unwrap();
        std::fs::remove_file(dir.path().join("b.py")).unwrap();
        let refused = undo(&journals, false).unwrap().unwrap();
        assert_eq!((refused.changed, refused.gone), (vec!["a.py".into()], vec!["b.py".into()]));
        assert_eq!(read(&dir, "a.py"), "mine");
        undo(&journals, true).unwrap().unwrap();
        assert_eq!((read(&dir, "a.py"), read(&dir, "b.py")), ("1".into(), "2".into()));
    }

    #[test]
    fn rejected_content_is_not_written() {
        let dir = tree(&[("a.py", "1"), ("b.py", "2")]);
        let journals = Journals::open(dir.path()).unwrap();
        let changes = [change("a.py", "1", "one"), change("b.py", "2", "two")];
        let unsound = || Refusal::Io(base::text::Text::same("x"));
        let proof = |at| if at == 0 { Err(unsound()) } else { Ok(()) };
        let mut committed = commit(&journals, &changes, true, &proof).unwrap();
        drop(committed.finishing.take());
        assert_eq!(committed.left, [(0, unsound())]);
        assert_eq!(committed.backups, [dir.path().join("b.py.bak")]);
        assert_eq!((read(&dir, "a.py"), read(&dir, "b.py")), ("1".into(), "two".into()));
        assert_eq!(undo(&journals, false).unwrap().unwrap().restored, [Path::new("b.py")]);
        std::fs::remove_file(dir.path().join("b.py.bak")).unwrap();
        let none = commit(&journals, &changes, true, &|_| Err(unsound())).unwrap();
        assert_eq!((none.replaced, none.left.len()), (0, 2));
        journals.tidy();
        assert_eq!(entries(&dir), 3);
    }

    #[test]
    fn files_changed_during_the_run_are_kept() {
        let dir = tree(&[("a.py", "mine"), ("b.py", "2")]);
        let journals = Journals::open(dir.path()).unwrap();
        let changes = [change("a.py", "1", "one"), change("b.py", "2", "two")];
        let mut committed = commit(&journals, &changes, true, &|_| Ok(())).unwrap();
        drop(committed.finishing.take());
        assert_eq!(committed.left, [(0, Refusal::Changed)]);
        assert_eq!(committed.backups, [dir.path().join("b.py.bak")]);
        assert_eq!((read(&dir, "a.py"), read(&dir, "b.py")), ("mine".into(), "two".into()));
        assert_eq!(undo(&journals, false).unwrap().unwrap().restored, [Path::new("b.py")]);
    }

    /// A run that was killed after its first rename, with the next content prepared.
    #[test]
    fn recovery_reverts_an_interrupted_run() {
        let dir = tree(&[("a.py", "1"), ("b.py", "2"), ("c.py", "3")]);
        let journals = Journals::open(dir.path()).unwrap();
        let original = |name, before, after| Original {
            relative: Path::new(name),
            mode: 0o644,
            names: 1,
            before,
            after,
        };
        let journal = journals
            .begin(&[
                original("a.py", b"1", b"one"),
                original("b.py", b"2", b"two"),
                original("c.py", b"3", b"three"),
            ])
            .unwrap();
        journal.settle().unwrap();
        std::fs::write(dir.path().join("a.py"), "one").unwrap();
        std::fs::write(dir.path().join(journal.temporary(1)), "tw").unwrap();
        std::fs::write(dir.path().join("c.py"), "mine").unwrap();
        let changes = [change("b.py", "2", "two")];
        assert!(commit::<Refusal>(&journals, &changes, false, &|_| Ok(())).is_err());
        let undone = recover(&journals).unwrap().unwrap();
        assert_eq!(undone.restored, [Path::new("a.py")]);
        assert_eq!(undone.changed, [Path::new("c.py")]);
        assert_eq!((read(&dir, "a.py"), read(&dir, "c.py")), ("1".into(), "mine".into()));
        assert!(!dir.path().join(journal.temporary(1)).exists());
        assert_eq!(recover(&journals).unwrap(), None);
        undo(&journals, true).unwrap().unwrap();
        assert_eq!(read(&dir, "c.py"), "3");
    }

    /// A run that was killed before its journal was on disk: it cannot have replaced anything.
    #[test]
    fn recovery_removes_staged_files() {
        let dir = tree(&[("a.py", "mine")]);
        let before = entries(&dir);
        let journals = Journals::open(dir.path()).unwrap();
        let original = Original {
            relative: Path::new("a.py"),
            mode: 0o644,
            names: 1,
            before: b"1",
            after: b"one",
        };
        let journal = journals.begin(&[original]).unwrap();
        std::fs::write(dir.path().join(journal.temporary(0)), "on").unwrap();
        assert_eq!(undo(&journals, false).unwrap(), None);
        assert_eq!(read(&dir, "a.py"), "mine");
        journals.tidy();
        assert_eq!(entries(&dir), before);
    }

    #[test]
    fn undo_restores_nothing_through_a_link() {
        let outside = tree(&[("b.py", "two")]);
        let dir = tree(&[("d/b.py", "2")]);
        let journals = Journals::open(dir.path()).unwrap();
        commit::<Refusal>(&journals, &[change("d/b.py", "2", "two")], false, &|_| Ok(())).unwrap();
        std::fs::remove_dir_all(dir.path().join("d")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("d")).unwrap();
        assert!(undo(&journals, true).is_err());
        assert_eq!(read(&outside, "b.py"), "two");
    }
}
