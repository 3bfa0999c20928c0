//! What undoes a run: the original bytes, kept beside the tree.
//!
//! `<root>/.ascend-doctor/convert-000001/` holds `journal.json` (which files, their modes, and
//! SHA-256 before and after), `originals.zip` (the bytes before; entry `0` is the first file)
//! and, as soon as the run is through, `done.json`. A journal without `done.json` belongs to
//! a run that was interrupted. No file is replaced before the journal is on disk under its name;
//! until then the record is called `journal.json.new`, and what a run left that came no further is
//! new contents beside the files, which the next run clears away.
#![expect(
    clippy::disallowed_methods,
    reason = "writes beside the tree that is converted; no machine is examined"
)]

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Cursor, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use rustix::fs::{FlockOperation, OFlags};
use serde::{Deserialize, Serialize};

use super::paths::parent_directory;
use super::replace::sync_directory;
use base::hash::Sha256;
use base::text::Text;
use data::fault::{Value as _, quote};
use data::{Fault, faults};

/// The directory below a root in which journals are kept.
pub const DIRECTORY: &str = ".ascend-doctor";

const SCHEMA: u32 = 1;
/// Which files a run replaces.
const RECORD: &str = "journal.json";
/// The same, before the disk has all that the run needs.
const UNNAMED: &str = "journal.json.new";
/// Which files the run replaced; written at its end.
const DONE: &str = "done.json";
/// The bytes before.
const ORIGINALS: &str = "originals.zip";
/// More is no journal of ours.
const MAX_RECORD: u64 = 256 << 20;
/// No source is larger.
const MAX_ORIGINAL: u64 = 1 << 30;

/// The journals of a root, held so that no other run of this tool writes to it meanwhile.
#[derive(Debug)]
pub struct Journals {
    base: PathBuf,
    dir: PathBuf,
    _lock: File,
}

/// One run.
#[derive(Debug)]
pub struct Journal {
    /// Its number; runs stack.
    pub number: u32,
    dir: PathBuf,
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
    /// How many names the file had before: an undo gives the content back to one.
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

/// A path as JSON can hold it: text, or bytes where it is none.
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

/// What keeps journals from being used.
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
    /// The error as users read it.
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
    /// The journals of `base`; makes the place for them.
    pub fn open(base: &Path) -> Result<Self, JournalError> {
        let dir = base.join(DIRECTORY);
        let made = match own_directory(&dir) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(JournalError::Io(dir, error)),
        };
        let journals = Self::lock(base, &dir);
        if made && matches!(journals, Err(JournalError::Io(..))) {
            // On a full disk nothing is left behind.
            clear(&dir);
        }
        journals
    }

    fn lock(base: &Path, dir: &Path) -> Result<Self, JournalError> {
        let failed = |error| JournalError::Io(dir.to_owned(), error);
        if !dir.symlink_metadata().map_err(failed)?.is_dir() {
            return Err(JournalError::Malformed(dir.to_owned(), faults::NotADirectory.value()));
        }
        let ignore = dir.join(".gitignore");
        if ignore.symlink_metadata().is_err() {
            own_file(&ignore).and_then(|mut file| file.write_all(b"*\n")).map_err(failed)?;
        }
        // What came with a foreign tree may be a link out of it, or a pipe.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags.bits().cast_signed())
            .open(dir.join("lock"))
            .map_err(|error| JournalError::Io(dir.join("lock"), error))?;
        // A file system without locks is no reason not to work.
        let locked = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive);
        if locked == Err(rustix::io::Errno::WOULDBLOCK) {
            return Err(JournalError::Busy(base.to_owned()));
        }
        Ok(Self { base: base.to_owned(), dir: dir.to_owned(), _lock: lock })
    }

    /// The journals of `base`, if there ever was a run.
    pub fn existing(base: &Path) -> Result<Option<Self>, JournalError> {
        if base.join(DIRECTORY).symlink_metadata().is_err() {
            return Ok(None);
        }
        Self::open(base).map(Some)
    }

    /// Returns whether a run in `base` was interrupted. Writes nothing.
    pub fn has_interrupted_run(base: &Path) -> bool {
        let Ok(runs) = base.join(DIRECTORY).read_dir() else { return false };
        runs.flatten().any(|run| {
            let exists = |name| run.path().join(name).symlink_metadata().is_ok();
            exists(RECORD) && !exists(DONE)
        })
    }

    /// The nearest directory above `dir` in which a run is that can be taken back.
    pub fn above(dir: &Path) -> Option<PathBuf> {
        let real = dir.canonicalize().ok()?;
        let there = |dir: &Path| {
            let Ok(runs) = dir.join(DIRECTORY).read_dir() else { return false };
            runs.flatten().any(|run| run.path().join(RECORD).symlink_metadata().is_ok())
        };
        let (up, found) = real.ancestors().enumerate().skip(1).find(|(_, dir)| there(dir))?;
        // Said as the user said it, where that leads there.
        let said = dir.ancestors().nth(up).filter(|said| {
            parent_directory(&said.join("x")).canonicalize().is_ok_and(|real| real == found)
        });
        Some(said.unwrap_or(found).to_owned())
    }

    /// The root.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The numbers of all runs, the latest first.
    fn numbers(&self) -> Result<Vec<u32>, JournalError> {
        let failed = |error| JournalError::Io(self.dir.clone(), error);
        let mut numbers = Vec::new();
        for entry in self.dir.read_dir().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let number: Option<u32> = entry.file_name().to_str().and_then(|name| {
                name.strip_prefix("convert-").filter(|digits| digits.len() == 6)?.parse().ok()
            });
            numbers.extend(number);
        }
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        Ok(numbers)
    }

    /// The latest run, whether it was finished, and which of its files it replaced.
    /// What a run left that was interrupted before its journal was whole is cleared away.
    pub fn latest(&self) -> Result<Option<(Journal, State)>, JournalError> {
        for number in self.numbers()? {
            let dir = self.dir.join(format!("convert-{number:06}"));
            if !dir.symlink_metadata().is_ok_and(|about| about.is_dir()) {
                return Err(JournalError::Malformed(dir, faults::NotADirectory.value()));
            }
            if dir.join(RECORD).symlink_metadata().is_err() {
                self.sweep(number, dir)?;
                continue;
            }
            let record = Record::read(&dir.join(RECORD))?;
            let state = if dir.join(DONE).symlink_metadata().is_ok() {
                let done: Done = load(&dir.join(DONE))?;
                State::Done(done.replaced)
            } else {
                State::Interrupted
            };
            return Ok(Some((Journal { number, dir, entries: record.entries }, state)));
        }
        Ok(None)
    }

    /// Clears away what a run left that was interrupted before it could replace a file.
    fn sweep(&self, number: u32, dir: PathBuf) -> Result<(), JournalError> {
        // What cannot be read was written before anything was laid beside a file.
        let entries =
            Record::read(&dir.join(UNNAMED)).map_or_else(|_| Vec::new(), |one| one.entries);
        let journal = Journal { number, dir, entries };
        journal.remove_temporaries(&self.base);
        std::fs::remove_dir_all(&journal.dir)
            .map_err(|error| JournalError::Io(journal.dir.clone(), error))
    }

    /// Writes down a run that is about to begin. Nothing may be replaced before
    /// [`Journal::settle`].
    pub(crate) fn begin(&self, originals: &[Original<'_>]) -> Result<Journal, JournalError> {
        let number = self.numbers()?.first().map_or(1, |latest| latest + 1);
        let dir = self.dir.join(format!("convert-{number:06}"));
        let failed = |error| JournalError::Io(dir.clone(), error);
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
        let write = || -> io::Result<()> {
            own_directory(&dir)?;
            let record = Record {
                schema: SCHEMA,
                tool: env!("CARGO_PKG_VERSION").to_owned(),
                entries: entries.clone(),
            };
            pack(&own_file(&dir.join(ORIGINALS))?, originals)?;
            own_file(&dir.join(UNNAMED))?.write_all(&serde_json::to_vec(&record)?)
        };
        if let Err(error) = write() {
            let _ = std::fs::remove_dir_all(&dir);
            return Err(failed(error));
        }
        Ok(Journal { number, dir, entries })
    }

    /// Takes the place of the journals away if nothing is in it: the tree is as it was.
    pub fn tidy(self) {
        if self.numbers().is_ok_and(|numbers| numbers.is_empty()) {
            clear(&self.dir);
        }
    }
}

/// A directory for its owner alone: the bytes of files that nobody else may read lie in it.
fn own_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// A new file for its owner alone, in place of what was left there: a link is not followed.
fn own_file(path: &Path) -> io::Result<File> {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Takes the place of the journals away, unless there is one in it.
fn clear(dir: &Path) {
    for name in ["lock", ".gitignore"] {
        let _ = std::fs::remove_file(dir.join(name));
    }
    let _ = std::fs::remove_dir(dir);
}

/// How far a run came.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// To its end; the positions of the entries that it replaced.
    Done(Vec<usize>),
    /// It was killed.
    Interrupted,
}

impl Journal {
    /// The name under which the new content of a file lies beside it before it takes its place.
    pub(crate) fn temporary(&self, position: usize) -> String {
        format!(".ascend-doctor-{:06}-{position}.tmp", self.number)
    }

    /// Waits until the disk has what undoes the run, and gives the record its name: files may be
    /// replaced.
    pub(crate) fn settle(&self) -> Result<(), JournalError> {
        let there = |name: &str| File::open(self.dir.join(name))?.sync_all();
        there(ORIGINALS)
            .and_then(|()| there(UNNAMED))
            .and_then(|()| self.dir.parent().map_or(Ok(()), sync_directory))
            .and_then(|()| std::fs::rename(self.dir.join(UNNAMED), self.dir.join(RECORD)))
            .and_then(|()| sync_directory(&self.dir))
            .map_err(|error| JournalError::Io(self.dir.clone(), error))
    }

    /// Notes that the run is through, as soon as the disk has the names in `dirs`.
    pub(crate) fn finish(
        &self,
        replaced: Vec<usize>,
        dirs: &[PathBuf],
    ) -> Result<(), JournalError> {
        // What the disk does not have yet after a power cut is an old file, not a broken one.
        for dir in dirs {
            let _ = sync_directory(dir);
        }
        write_unnamed(&self.dir, DONE, &Done { replaced })
            .and_then(UnnamedFile::publish)
            .and_then(|()| sync_directory(&self.dir))
            .map_err(|error| JournalError::Io(self.dir.clone(), error))
    }

    /// Takes away what lies ready beside the files below `base`.
    pub(crate) fn remove_temporaries(&self, base: &Path) {
        for (position, entry) in self.entries.iter().enumerate() {
            let place = base.join(entry.path.path());
            let temporary = parent_directory(&place).join(self.temporary(position));
            if is_below(base, &temporary) {
                let _ = std::fs::remove_file(temporary);
            }
        }
    }

    /// Forgets the run.
    pub(crate) fn remove(self) -> Result<(), JournalError> {
        // Without its record a journal is rubbish, also if this is interrupted.
        let unnamed = match std::fs::remove_file(self.dir.join(RECORD)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        unnamed
            .and_then(|()| std::fs::remove_dir_all(&self.dir))
            .map_err(|error| JournalError::Io(self.dir.clone(), error))
    }

    /// The bytes that a file held before, proved by their hash.
    pub(crate) fn originals(&self, wanted: &[usize]) -> Result<Vec<Vec<u8>>, JournalError> {
        let path = self.dir.join(ORIGINALS);
        let malformed = |why: Text| JournalError::Malformed(path.clone(), why);
        let file =
            super::replace::open(&path).map_err(|error| JournalError::Io(path.clone(), error))?;
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
    fn read(path: &Path) -> Result<Self, JournalError> {
        let record: Self = load(path)?;
        let malformed = |why: Text| Err(JournalError::Malformed(path.to_owned(), why));
        if record.schema != SCHEMA {
            return malformed(faults::JournalOtherVersion.value());
        }
        if !record.entries.iter().all(|entry| is_inside(entry.path.path())) {
            return malformed(faults::JournalOutside.value());
        }
        Ok(record)
    }
}

/// Whether the directory of `path` is really below `base`: the tree may have changed, and a
/// journal that came with a foreign tree may lie.
pub(crate) fn is_below(base: &Path, path: &Path) -> bool {
    match (base.canonicalize(), parent_directory(path).canonicalize()) {
        (Ok(base), Ok(dir)) => dir.starts_with(base),
        _ => false,
    }
}

/// Whether a recorded path stays below its root.
fn is_inside(path: &Path) -> bool {
    path.components().next().is_some()
        && path.components().all(|part| matches!(part, Component::Normal(_)))
}

fn pack(file: &File, originals: &[Original<'_>]) -> io::Result<()> {
    // As they are: packing them would take longer than all else that is written.
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

/// A small file that the disk has, under another name than its own.
struct UnnamedFile {
    place: PathBuf,
    target: PathBuf,
}

impl UnnamedFile {
    /// Gives it its name: it is there whole or not at all.
    fn publish(self) -> io::Result<()> {
        std::fs::rename(&self.place, &self.target)
    }
}

fn write_unnamed(dir: &Path, name: &str, content: &impl Serialize) -> io::Result<UnnamedFile> {
    let place = dir.join(format!("{name}.new"));
    let mut file = own_file(&place)?;
    file.write_all(&serde_json::to_vec(content)?)?;
    file.sync_all()?;
    Ok(UnnamedFile { place, target: dir.join(name) })
}

fn load<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, JournalError> {
    let bytes = super::replace::content(path, MAX_RECORD)
        .map_err(|error| JournalError::Io(path.to_owned(), error))?
        .ok_or_else(|| {
            JournalError::Malformed(path.to_owned(), faults::JournalNotRegular.value())
        })?;
    serde_json::from_slice(&bytes)
        .map_err(|error| JournalError::Malformed(path.to_owned(), error.value()))
}

#[cfg(test)]
mod tests;
