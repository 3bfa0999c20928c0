//! The data for undoing a run: the original bytes, kept next to the tree.
//!
//! `<root>/.ascend-doctor/convert-000001/` contains `journal.json` (the files, their modes, and
//! SHA-256 before and after), `originals.zip` (the bytes before; entry `0` is the first file) and,
//! as soon as the run is complete, `done.json`. A journal without `done.json` belongs to an
//! interrupted run. No file is replaced before the journal is on disk under its name. Until then
//! the record is called `journal.json.new`, and an interrupted run leaves only new contents next to
//! the files, which the next run removes.
#![expect(
    clippy::disallowed_methods,
    reason = "writes beside the tree that is converted; no machine is examined"
)]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Cursor, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use guard::dir::Dir;
use guard::file::read_bounded;
use guard::tree::Tree;
use rayon::prelude::*;
use rustix::fs::{FileType, FlockOperation};
use serde::{Deserialize, Serialize};

use super::paths::parent_directory;
use base::hash::Sha256;
use base::text::Text;
use data::fault::{Value as _, quote};
use data::{Fault, faults};

/// The directory below a root that contains the journals.
pub const DIRECTORY: &str = ".ascend-doctor";

const SCHEMA: u32 = 1;
/// The files that a run replaces.
const RECORD: &str = "journal.json";
/// The same, before all data of the run is on disk.
const UNNAMED: &str = "journal.json.new";
/// The files that the run replaced; written at its end.
const DONE: &str = "done.json";
/// The original bytes.
const ORIGINALS: &str = "originals.zip";
/// Locked while a run writes.
const LOCK: &str = "lock";
const IGNORE: &str = ".gitignore";
/// The maximum size of a valid journal.
const MAX_RECORD: u64 = 256 << 20;
/// The maximum size of a source.
const MAX_ORIGINAL: u64 = 1 << 30;

/// The journals of a root, locked so that no other run of this tool writes to it during this time.
#[derive(Debug)]
pub struct Journals {
    /// The root as displayed.
    base: PathBuf,
    tree: Arc<Tree>,
    dir: Arc<Dir>,
    _lock: File,
}

/// One run.
#[derive(Debug)]
pub struct Journal {
    /// Its number; runs stack.
    pub number: u32,
    /// The root as displayed.
    pub(crate) base: PathBuf,
    /// The directory of all journals.
    all: Arc<Dir>,
    /// The directory of this one.
    dir: Dir,
    /// The files, as recorded before the first was replaced.
    pub entries: Vec<Entry>,
}

/// One file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Below the root.
    pub path: Name,
    /// Permission bits before.
    pub mode: u32,
    /// SHA-256 before, hexadecimal.
    pub before: String,
    /// SHA-256 after, hexadecimal.
    pub after: String,
    /// Length before, in bytes.
    pub length: u64,
    /// The number of names of the file before: an undo restores the content under one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub names: u64,
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_one(names: &u64) -> bool {
    *names == 1
}

/// A path in JSON: text, or bytes if it is not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Name {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl Name {
    fn of(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_owned()),
        }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        match self {
            Self::Text(text) => Path::new(text),
            Self::Bytes(bytes) => Path::new(OsStr::from_bytes(bytes)),
        }
    }
}

/// The reason why journals cannot be used.
#[derive(Debug)]
pub enum JournalError {
    /// Another run writes to the tree.
    Busy(PathBuf),
    /// Reading or writing failed.
    Io(PathBuf, io::Error),
    /// Not a journal that this tool wrote.
    Malformed(PathBuf, Text),
}

impl JournalError {
    /// The error message for users.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Busy(path) => faults::JournalBusy { path }.fault(),
            Self::Io(path, why) => faults::PathBecause { path, why }.fault(),
            Self::Malformed(path, why) => faults::JournalMalformed { path, why }.fault(),
        }
    }
}

data::impl_fault!(JournalError);

#[derive(Serialize, Deserialize)]
struct Record {
    schema: u32,
    tool: String,
    entries: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Done {
    /// The positions of the entries that were replaced.
    replaced: Vec<usize>,
}

/// A file that is about to be replaced.
#[derive(Debug)]
pub(crate) struct Original<'a> {
    pub(crate) relative: &'a Path,
    pub(crate) mode: u32,
    pub(crate) names: u64,
    pub(crate) before: &'a [u8],
    pub(crate) after: &'a [u8],
}

impl Journals {
    /// The journals of `base`; creates their directory.
    pub fn open(base: &Path) -> Result<Self, JournalError> {
        let failed = |error| JournalError::Io(base.join(DIRECTORY), error);
        let root = guard::named::open_dir(base).map_err(failed)?;
        let made = match root.create_dir(OsStr::new(DIRECTORY), 0o700) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(failed(error)),
        };
        let tree = Arc::new(Tree::new(root));
        let journals = Self::lock(base, &tree);
        if made && matches!(journals, Err(JournalError::Io(..))) {
            // On a full disk, nothing remains.
            clear(tree.root());
        }
        journals
    }

    fn lock(base: &Path, tree: &Arc<Tree>) -> Result<Self, JournalError> {
        let path = base.join(DIRECTORY);
        let failed = |error| JournalError::Io(path.clone(), error);
        if tree.root().kind(OsStr::new(DIRECTORY)) != Some(FileType::Directory) {
            return Err(JournalError::Malformed(path, faults::NotADirectory.value()));
        }
        let dir = tree.root().enter(OsStr::new(DIRECTORY)).map_err(failed)?;
        if dir.kind(OsStr::new(IGNORE)).is_none() {
            own_file(&dir, IGNORE).and_then(|mut file| file.write_all(b"*\n")).map_err(failed)?;
        }
        // In an untrusted tree, it may be a link out of the tree, or a pipe.
        let lock = dir
            .open_for_writing(OsStr::new(LOCK), Some(0o600))
            .map_err(|error| JournalError::Io(path.join(LOCK), error))?;
        // A file system without locks does not prevent the run.
        let locked = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive);
        if locked == Err(rustix::io::Errno::WOULDBLOCK) {
            return Err(JournalError::Busy(base.to_owned()));
        }
        let (base, tree) = (base.to_owned(), Arc::clone(tree));
        Ok(Self { base, tree, dir: Arc::new(dir), _lock: lock })
    }

    /// The journals of `base`, if there ever was a run.
    pub fn existing(base: &Path) -> Result<Option<Self>, JournalError> {
        let there = guard::named::open_dir(base)
            .is_ok_and(|root| root.kind(OsStr::new(DIRECTORY)).is_some());
        if there { Self::open(base).map(Some) } else { Ok(None) }
    }

    /// Returns whether a run in `base` was interrupted. Writes nothing.
    pub fn has_interrupted_run(base: &Path) -> bool {
        runs_in(base).is_ok_and(|runs| {
            let exists = |run: &Dir, name| run.kind(OsStr::new(name)).is_some();
            runs.iter().any(|run| exists(run, RECORD) && !exists(run, DONE))
        })
    }

    /// The nearest directory above `dir` with a run that can be undone.
    pub fn above(dir: &Path) -> Option<PathBuf> {
        let real = dir.canonicalize().ok()?;
        let there = |dir: &Path| {
            let has_record = |run: &Dir| run.kind(OsStr::new(RECORD)).is_some();
            runs_in(dir).is_ok_and(|runs| runs.iter().any(has_record))
        };
        let (up, found) = real.ancestors().enumerate().skip(1).find(|(_, dir)| there(dir))?;
        // In the user's spelling, if that leads to the same directory.
        let said = dir.ancestors().nth(up).filter(|said| {
            parent_directory(&said.join("x")).canonicalize().is_ok_and(|real| real == found)
        });
        Some(said.unwrap_or(found).to_owned())
    }

    /// The root.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The root with its open directories.
    pub(crate) fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// The directory of the journals as displayed.
    fn path(&self) -> PathBuf {
        self.base.join(DIRECTORY)
    }

    /// The numbers of all runs, the latest first.
    fn numbers(&self) -> Result<Vec<u32>, JournalError> {
        let mut numbers = Vec::new();
        let entries = self.dir.entries().map_err(|error| JournalError::Io(self.path(), error))?;
        for (name, _) in entries {
            let number: Option<u32> = name.to_str().and_then(|name| {
                name.strip_prefix("convert-").filter(|digits| digits.len() == 6)?.parse().ok()
            });
            numbers.extend(number);
        }
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        Ok(numbers)
    }

    /// The latest run, whether it was finished, and the files that it replaced. Removes the remains
    /// of a run that was interrupted before its journal was complete.
    pub fn latest(&self) -> Result<Option<(Journal, State)>, JournalError> {
        for number in self.numbers()? {
            let name = run_name(number);
            let path = self.path().join(&name);
            if self.dir.kind(OsStr::new(&name)) != Some(FileType::Directory) {
                return Err(JournalError::Malformed(path, faults::NotADirectory.value()));
            }
            let dir = self
                .dir
                .enter(OsStr::new(&name))
                .map_err(|error| JournalError::Io(path.clone(), error))?;
            if dir.kind(OsStr::new(RECORD)).is_none() {
                self.sweep(number, dir)?;
                continue;
            }
            let record = Record::read(&dir, RECORD, &path)?;
            let state = if dir.kind(OsStr::new(DONE)).is_some() {
                let done: Done = load(&dir, DONE, &path)?;
                State::Done(done.replaced)
            } else {
                State::Interrupted
            };
            return Ok(Some((self.journal(number, dir, record.entries), state)));
        }
        Ok(None)
    }

    fn journal(&self, number: u32, dir: Dir, entries: Vec<Entry>) -> Journal {
        Journal { number, base: self.base.clone(), all: Arc::clone(&self.dir), dir, entries }
    }

    /// Removes the remains of a run that was interrupted before it could replace a file.
    fn sweep(&self, number: u32, dir: Dir) -> Result<(), JournalError> {
        // An unreadable record was written before any new content.
        let entries = Record::read(&dir, UNNAMED, &self.path())
            .map_or_else(|_| Vec::new(), |one| one.entries);
        let journal = self.journal(number, dir, entries);
        journal.remove_temporaries(&self.tree);
        self.dir
            .remove_all(OsStr::new(&run_name(number)))
            .map_err(|error| JournalError::Io(journal.path(), error))
    }

    /// Records a run before it begins. Nothing may be replaced before [`Journal::settle`].
    pub(crate) fn begin(&self, originals: &[Original<'_>]) -> Result<Journal, JournalError> {
        let number = self.numbers()?.first().map_or(1, |latest| latest + 1);
        let name = run_name(number);
        let failed = |error| JournalError::Io(self.path().join(&name), error);
        let entries: Vec<Entry> = originals
            .par_iter()
            .map(|original| Entry {
                path: Name::of(original.relative),
                mode: original.mode,
                before: Sha256::of(original.before).hex(),
                after: Sha256::of(original.after).hex(),
                length: original.before.len() as u64,
                names: original.names,
            })
            .collect();
        let write = || -> io::Result<Dir> {
            self.dir.create_dir(OsStr::new(&name), 0o700)?;
            let dir = self.dir.enter(OsStr::new(&name))?;
            let record = Record {
                schema: SCHEMA,
                tool: env!("CARGO_PKG_VERSION").to_owned(),
                entries: entries.clone(),
            };
            pack(&own_file(&dir, ORIGINALS)?, originals)?;
            own_file(&dir, UNNAMED)?.write_all(&serde_json::to_vec(&record)?)?;
            Ok(dir)
        };
        match write() {
            Ok(dir) => Ok(self.journal(number, dir, entries)),
            Err(error) => {
                let _ = self.dir.remove_all(OsStr::new(&name));
                Err(failed(error))
            }
        }
    }

    /// Removes the directory of the journals if it is empty: the tree is unchanged.
    pub fn tidy(self) {
        if self.numbers().is_ok_and(|numbers| numbers.is_empty()) {
            clear(self.tree.root());
        }
    }
}

/// The open directories of the runs in `base`.
fn runs_in(base: &Path) -> io::Result<Vec<Dir>> {
    let dir = guard::named::open_dir(base)?.enter(OsStr::new(DIRECTORY))?;
    let entries = dir.entries()?.into_iter();
    Ok(entries.filter_map(|(name, _)| dir.enter(&name).ok()).collect())
}

/// The directory of a run.
fn run_name(number: u32) -> String {
    format!("convert-{number:06}")
}

/// Creates a file for its owner only, replacing any previous one: a link is not followed.
fn own_file(dir: &Dir, name: &str) -> io::Result<File> {
    dir.remove_if_present(OsStr::new(name))?;
    dir.create_new(OsStr::new(name), 0o600)
}

/// Removes the directory of the journals, unless it contains one.
fn clear(root: &Dir) {
    let Ok(dir) = root.enter(OsStr::new(DIRECTORY)) else { return };
    for name in [LOCK, IGNORE] {
        let _ = dir.remove_file(OsStr::new(name));
    }
    let _ = root.remove_dir(OsStr::new(DIRECTORY));
}

/// The state of a run.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// Completed; the positions of the replaced entries.
    Done(Vec<usize>),
    /// The run was killed.
    Interrupted,
}

impl Journal {
    /// The name of the new content next to a file before it is renamed into place.
    pub(crate) fn temporary(&self, position: usize) -> String {
        format!(".ascend-doctor-{:06}-{position}.tmp", self.number)
    }

    /// Waits until the disk has the data for undoing the run, and gives the record its name: from
    /// then on, files may be replaced.
    pub(crate) fn settle(&self) -> Result<(), JournalError> {
        let there = |name: &str| self.dir.open(OsStr::new(name))?.sync_all();
        there(ORIGINALS)
            .and_then(|()| there(UNNAMED))
            .and_then(|()| self.all.sync())
            .and_then(|()| self.dir.rename(OsStr::new(UNNAMED), OsStr::new(RECORD)))
            .and_then(|()| self.dir.sync())
            .map_err(|error| JournalError::Io(self.path(), error))
    }

    /// The directory of the run as displayed.
    fn path(&self) -> PathBuf {
        self.base.join(DIRECTORY).join(run_name(self.number))
    }

    /// Marks the run as complete, as soon as the disk has the names in `dirs` below `tree`.
    pub(crate) fn finish(
        &self,
        replaced: Vec<usize>,
        tree: &Tree,
        dirs: &[PathBuf],
    ) -> Result<(), JournalError> {
        // After a power cut, a name that is not yet on disk means an old file, not a broken one.
        for dir in dirs {
            let _ = tree.dir(dir).and_then(|dir| dir.sync());
        }
        let new = format!("{DONE}.new");
        let write = || -> io::Result<()> {
            let mut file = own_file(&self.dir, &new)?;
            file.write_all(&serde_json::to_vec(&Done { replaced })?)?;
            file.sync_all()?;
            // The rename makes it appear completely or not at all.
            self.dir.rename(OsStr::new(&new), OsStr::new(DONE))?;
            self.dir.sync()
        };
        write().map_err(|error| JournalError::Io(self.path(), error))
    }

    /// Removes the prepared contents next to the files below `tree`.
    pub(crate) fn remove_temporaries(&self, tree: &Tree) {
        for (position, entry) in self.entries.iter().enumerate() {
            if let Ok(place) = tree.place(entry.path.path()) {
                let _ = place.dir.remove_file(OsStr::new(&self.temporary(position)));
            }
        }
    }

    /// Removes the run.
    pub(crate) fn remove(self) -> Result<(), JournalError> {
        // Without its record, a journal is ignored, even if this is interrupted.
        self.dir
            .remove_if_present(OsStr::new(RECORD))
            .and_then(|()| self.all.remove_all(OsStr::new(&run_name(self.number))))
            .map_err(|error| JournalError::Io(self.path(), error))
    }

    /// The original bytes of files, verified by their hashes.
    pub(crate) fn originals(&self, wanted: &[usize]) -> Result<Vec<Vec<u8>>, JournalError> {
        let path = self.path().join(ORIGINALS);
        let malformed = |why: Text| JournalError::Malformed(path.clone(), why);
        let file = self
            .dir
            .open(OsStr::new(ORIGINALS))
            .map_err(|error| JournalError::Io(path.clone(), error))?;
        let mut archive =
            zip::ZipArchive::new(file).map_err(|error| malformed(quote(&error.to_string())))?;
        let mut all = Vec::with_capacity(wanted.len());
        for &position in wanted {
            let entry = self
                .entries
                .get(position)
                .filter(|entry| entry.length <= MAX_ORIGINAL)
                .ok_or_else(|| {
                    malformed(faults::JournalEntryMissing { number: position }.value())
                })?;
            let packed = archive
                .by_name(&position.to_string())
                .map_err(|error| malformed(quote(&error.to_string())))?;
            let mut bytes = Vec::new();
            packed
                .take(entry.length + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| malformed(quote(&error.to_string())))?;
            if Sha256::of(&bytes).hex() != entry.before {
                return Err(malformed(faults::JournalEntryDamaged { number: position }.value()));
            }
            all.push(bytes);
        }
        Ok(all)
    }
}

impl Record {
    /// `path` is the directory as displayed.
    fn read(dir: &Dir, name: &str, path: &Path) -> Result<Self, JournalError> {
        let record: Self = load(dir, name, path)?;
        let malformed = |why: Text| Err(JournalError::Malformed(path.join(name), why));
        if record.schema != SCHEMA {
            return malformed(faults::JournalOtherVersion.value());
        }
        if !record.entries.iter().all(|entry| is_inside(entry.path.path())) {
            return malformed(faults::JournalOutside.value());
        }
        Ok(record)
    }
}

/// Whether a recorded path stays below its root.
fn is_inside(path: &Path) -> bool {
    path.components().next().is_some()
        && path.components().all(|part| matches!(part, Component::Normal(_)))
}

fn pack(file: &File, originals: &[Original<'_>]) -> io::Result<()> {
    // Uncompressed: compression would take longer than all other writes.
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut bytes = Cursor::new(Vec::new());
    let mut archive = zip::ZipWriter::new(&mut bytes);
    for (position, original) in originals.iter().enumerate() {
        archive.start_file(position.to_string(), options)?;
        archive.write_all(original.before)?;
    }
    archive.finish()?;
    let mut file = file;
    file.write_all(bytes.get_ref())
}

fn load<T: for<'a> Deserialize<'a>>(dir: &Dir, name: &str, path: &Path) -> Result<T, JournalError> {
    let path = path.join(name);
    let bytes = match dir.open(OsStr::new(name)) {
        Ok(file) => read_bounded(&file, MAX_RECORD),
        Err(error) if super::replace::is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    };
    let bytes = bytes
        .map_err(|error| JournalError::Io(path.clone(), error))?
        .ok_or_else(|| JournalError::Malformed(path.clone(), faults::JournalNotRegular.value()))?;
    serde_json::from_slice(&bytes).map_err(|error| JournalError::Malformed(path, error.value()))
}

#[cfg(test)]
mod tests;
