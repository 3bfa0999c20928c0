//! Records everything that is read as a tree that `--sysroot` can read.
//!
//! Directories, links and files keep their places. Only the ranges of large files that were read
//! are kept (sparse files of the right size, listed in [`sidecar::PARTIAL`]).
//!
//! The recording has the links of the machine, so nothing is ever written through a link in it: see
//! [`guard::tree`].
#![expect(clippy::disallowed_methods, reason = "part of the sysroot")]

use facts::Space;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use guard::dir::names;
use guard::tree::{Place, Tree};
use rustix::fs::FileType;

use super::environ::redact_urls;
use super::resolve::{Directory, Resolver};
use super::sidecar::{
    self, Caps, CommandMeta, CommandOutput, HashMeta, NodeMeta, ProcessMeta, RootMeta, SpaceMeta,
};
use super::{Stat, Sysroot};
use facts::FileKind;

/// Files that are scanned for URLs, because recordings are attached to public issues.
const WITH_URLS: &[&str] = &["pip.conf", "uv.toml", "direct_url.json", "environment"];
/// Minimum size of files that occupy blocks, in bytes. Some file systems store smaller ones in the
/// directory.
const MIN_SPARSE: u64 = 1 << 20;

/// Returns whether a recorded file is a library or a program, or a large file without content:
/// neither contains text to redact.
///
/// # Errors
///
/// The file cannot be read.
pub fn is_unread_or_program(path: &Path) -> io::Result<bool> {
    use std::io::Read as _;
    use std::os::unix::fs::MetadataExt as _;
    let meta = path.symlink_metadata()?;
    if meta.len() > MIN_SPARSE && meta.blocks() == 0 {
        return Ok(true);
    }
    let mut head = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut head)?;
    Ok(head == b"\x7fELF")
}

#[derive(Debug)]
pub(super) struct Recorder {
    tree: Arc<Tree>,
    state: Mutex<State>,
    kept: Kept,
    failure: Failure,
}

/// For each opened file, its size, and the number of bytes that were read from its beginning
/// without a gap. A file is complete if both are equal. Its allocated blocks do not show this,
/// because they depend on the file system.
type Kept = Arc<Mutex<BTreeMap<String, (u64, u64)>>>;

#[derive(Debug, Default)]
struct State {
    nodes: RootMeta,
    /// Files that were at least partly read.
    sparse: BTreeSet<String>,
    space: SpaceMeta,
    hashes: BTreeMap<String, HashMeta>,
    commands: CommandMeta,
}

/// The first error. A full disk must not prevent the reading of a file, so the recording is refused
/// when it is finished.
type Failure = Arc<Mutex<Option<String>>>;

fn note(failure: &Failure, error: &io::Error) {
    if let Ok(mut first) = failure.lock() {
        first.get_or_insert_with(|| error.to_string());
    }
}

/// The destination of a file's content. It is opened for each write, because a recording has more
/// files than a process may open.
#[derive(Debug)]
pub(super) struct Sink {
    real: String,
    tree: Arc<Tree>,
    kept: Kept,
    failure: Failure,
}

impl Sink {
    pub(super) fn write_at(&self, bytes: &[u8], offset: u64) {
        let place = self.tree.place(relative(&self.real));
        let file = place.and_then(|place| place.dir.open_for_writing(&place.name, None));
        if let Err(error) = file.and_then(|file| file.write_all_at(bytes, offset)) {
            note(&self.failure, &error);
        }
        if let Ok(mut kept) = self.kept.lock()
            && let Some((_, done)) = kept.get_mut(&self.real)
            && offset <= *done
        {
            *done = (*done).max(offset.saturating_add(bytes.len() as u64));
        }
    }

    /// Truncates the file at this end. Files of `/sys` have the size of a page, but are shorter.
    pub(super) fn ends_at(&self, end: u64) {
        let Ok(mut kept) = self.kept.lock() else { return };
        let Some((size, done)) = kept.get_mut(&self.real).filter(|(_, done)| *done == end) else {
            return;
        };
        if *size <= *done {
            return;
        }
        *size = *done;
        let place = self.tree.place(relative(&self.real));
        let file = place.and_then(|place| place.dir.open_for_writing(&place.name, None));
        if let Err(error) = file.and_then(|file| file.set_len(end)) {
            note(&self.failure, &error);
        }
    }
}

impl Recorder {
    pub(super) fn create(dir: &Path) -> io::Result<Self> {
        // It may contain data that only its owner may read, because copies do not have the modes of
        // the files.
        let dir = guard::named::open_or_create_dir(dir, 0o700)?;
        if !dir.entries()?.is_empty() {
            return Err(io::Error::other(data::faults::DirectoryNotEmpty.fault()));
        }
        Ok(Self {
            tree: Arc::new(Tree::new(dir)),
            state: Mutex::default(),
            kept: Kept::default(),
            failure: Failure::default(),
        })
    }

    /// Records owner and mode, and creates directories and links.
    pub(super) fn node(&self, real: &str, stat: &Stat, resolver: &Resolver) {
        self.with(|state| {
            let (kind, device) = match stat.kind {
                FileKind::Char => (Some("char"), stat.device),
                FileKind::Block => (Some("block"), stat.device),
                FileKind::Fifo => (Some("fifo"), None),
                FileKind::Socket => (Some("socket"), None),
                _ => (None, None),
            };
            if stat.owner_known || kind.is_some() {
                state.nodes.entry(real.to_owned()).or_insert_with(|| NodeMeta {
                    kind: kind.map(str::to_owned),
                    mode: Some(format!("{:04o}", stat.mode)),
                    uid: Some(stat.uid),
                    gid: Some(stat.gid),
                    major: device.map(|(major, _)| major),
                    minor: device.map(|(_, minor)| minor),
                    denied: None,
                });
            }
            match stat.kind {
                FileKind::Directory => self.make(relative(real)),
                FileKind::Link => self.copy_link(real, resolver),
                FileKind::File => self.touch(real, stat.size, state),
                _ => Ok(()),
            }
        });
    }

    pub(super) fn link(&self, real: &str, resolver: &Resolver) {
        self.with(|_| self.copy_link(real, resolver));
    }

    /// Creates the directory and, so that a later listing is complete, an entry for each child.
    pub(super) fn directory(
        &self,
        directory: &Directory,
        entries: &[(String, FileKind)],
        resolver: &Resolver,
    ) {
        self.with(|state| {
            let real = directory.real().trim_end_matches('/');
            self.make(relative(real))?;
            for (name, kind) in entries.iter().take(5_000) {
                let child = format!("{real}/{name}");
                match kind {
                    FileKind::Link => self.copy_link(&child, resolver)?,
                    FileKind::Directory => self.make(relative(&child))?,
                    FileKind::File => {
                        let stat = directory.lstat(name).map_err(io::Error::other)?;
                        self.touch(&child, Stat::from_raw(&stat).size, state)?;
                    }
                    _ => {}
                }
            }
            Ok(())
        });
    }

    /// The destination of a file's content, written as it is read.
    pub(super) fn sink(&self, real: &str, size: u64) -> Option<Sink> {
        let mut sink = None;
        self.with(|state| {
            self.touch(real, size, state)?;
            state.sparse.insert(real.to_owned());
            if let Ok(mut kept) = self.kept.lock() {
                kept.entry(real.to_owned()).or_insert((size, 0));
            }
            sink = Some(Sink {
                real: real.to_owned(),
                tree: Arc::clone(&self.tree),
                kept: Arc::clone(&self.kept),
                failure: Arc::clone(&self.failure),
            });
            Ok(())
        });
        sink
    }

    pub(super) fn hash(&self, real: &str, hash: HashMeta) {
        self.with(|state| {
            state.hashes.insert(real.to_owned(), hash);
            Ok(())
        });
    }

    pub(super) fn space(&self, path: &str, space: Space) {
        self.with(|state| {
            state.space.paths.insert(path.to_owned(), space);
            Ok(())
        });
    }

    pub(super) fn command(&self, line: &str, output: &CommandOutput) {
        self.with(|state| {
            state.commands.insert(line.to_owned(), output.clone());
            Ok(())
        });
    }

    /// Writes the sidecar files. Returns an error that occurred earlier.
    pub(super) fn finish(&self, sysroot: &Sysroot) -> io::Result<()> {
        let mut state = self.state.lock().map_err(|_| io::Error::other("recorder is poisoned"))?;
        if let Some(error) = self.failure.lock().ok().and_then(|mut first| first.take()) {
            return Err(io::Error::other(error));
        }
        for link in sysroot.resolver.links_followed() {
            self.copy_link(&link, &sysroot.resolver)?;
        }
        // Unreadable files are absent from the recording, but must not count as missing there.
        for unreadable in sysroot.unreadable_paths() {
            state.nodes.entry(unreadable.real).or_default().denied = Some(true);
        }
        state.space.memory = sysroot.memory();
        state.space.cpus = sysroot.cpus();
        let process = sysroot.process();
        let meta = ProcessMeta {
            uid: process.uid,
            gid: process.gid,
            groups: Some(process.groups.clone()),
            caps: process.caps.as_ref().map(|caps| Caps::List(caps.iter().cloned().collect())),
            python: process.python.clone(),
            in_container: process.in_container,
            cwd: process.cwd.clone(),
            ..sysroot.machine().clone()
        };
        self.redact()?;
        let partial: BTreeSet<String> =
            self.files()?.into_iter().filter(|path| self.is_partial(path)).collect();
        self.write(sidecar::PARTIAL, &partial)?;
        self.write(sidecar::ROOTMETA, &state.nodes)?;
        if !state.hashes.is_empty() {
            self.write(sidecar::HASHES, &state.hashes)?;
        }
        self.write(sidecar::SPACE, &state.space)?;
        self.write(sidecar::COMMANDS, &state.commands)?;
        self.write(sidecar::PROCESS, &meta)?;
        if sysroot.env().known {
            self.write(sidecar::ENV, &sysroot.env().vars)?;
        }
        Ok(())
    }

    /// The regular files of the recording, by logical path.
    fn files(&self) -> io::Result<Vec<String>> {
        let mut files = Vec::new();
        let mut todo = vec![String::new()];
        while let Some(dir) = todo.pop() {
            for (name, kind) in self.tree.dir(Path::new(&dir))?.entries()? {
                let Some(name) = name.to_str() else { continue };
                let path = if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
                match kind {
                    FileType::Directory => todo.push(path),
                    FileType::RegularFile => files.push(format!("/{path}")),
                    _ => {}
                }
            }
        }
        Ok(files)
    }

    /// Removes user names and passwords from the URLs in files that are known to contain some.
    fn redact(&self) -> io::Result<()> {
        for path in self.files()? {
            let name = path.rsplit('/').next().unwrap_or_default();
            if !WITH_URLS.contains(&name) {
                continue;
            }
            // A file that was too large to read is kept without content.
            let Place { dir, name } = self.tree.place(relative(&path))?;
            if u64::try_from(dir.stat(&name)?.st_size).unwrap_or(u64::MAX) > super::TEXT_LIMIT {
                continue;
            }
            let Some(bytes) = guard::file::read_bounded(&dir.open(&name)?, super::TEXT_LIMIT)?
            else {
                continue;
            };
            let text = String::from_utf8_lossy(&bytes);
            let redacted = redact_urls(&text);
            if redacted != text {
                dir.remove_file(&name)?;
                dir.create_new(&name, 0o666)?.write_all(redacted.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Returns whether only a part of the content was kept: its beginning, holes, or nothing at
    /// all.
    fn is_partial(&self, real: &str) -> bool {
        let stat = self.tree.place(relative(real)).and_then(|place| place.dir.stat(&place.name));
        let Ok(stat) = stat else { return false };
        let kept = self.kept.lock().ok().and_then(|kept| kept.get(real).copied());
        let is_whole = kept.is_some_and(|(size, done)| done >= size);
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_file && stat.st_size > 0 && !is_whole
    }

    fn write(&self, name: &str, value: &impl serde::Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(value)?;
        text.push(b'\n');
        let (dir, name) = (self.tree.root(), OsStr::new(name));
        // The machine may have a file of this name.
        dir.remove_if_present(name)?;
        dir.create_new(name, 0o666)?.write_all(&text)
    }

    fn touch(&self, real: &str, size: u64, state: &State) -> io::Result<()> {
        if state.sparse.contains(real) {
            return Ok(());
        }
        let Some(place) = self.free_place(real)? else { return Ok(()) };
        place.dir.create_new(&place.name, 0o666)?.set_len(size)
    }

    fn copy_link(&self, real: &str, resolver: &Resolver) -> io::Result<()> {
        let Some(place) = self.free_place(real)? else { return Ok(()) };
        let target = resolver.find(real, false).and_then(|found| found.target());
        place.dir.symlink(Path::new(&target.map_err(io::Error::other)?), &place.name)
    }

    /// The place of an entry; `None` if the entry exists already.
    fn free_place(&self, real: &str) -> io::Result<Option<Place>> {
        let path = relative(real);
        self.make(path.parent().unwrap_or(Path::new("")))?;
        let place = self.tree.place(path)?;
        Ok(place.dir.kind(&place.name).is_none().then_some(place))
    }

    /// Creates a directory and its parents, but never that of the recording: if it was removed, for
    /// example after a signal, it must stay removed.
    fn make(&self, path: &Path) -> io::Result<()> {
        match self.tree.dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other.map(drop),
        }
        let mut dir = self.tree.root().duplicate()?;
        for name in names(path)? {
            dir = dir.enter_or_create(name, 0o777)?;
        }
        Ok(())
    }

    fn with(&self, act: impl FnOnce(&mut State) -> io::Result<()>) {
        if let Ok(mut state) = self.state.lock()
            && let Err(error) = act(&mut state)
        {
            note(&self.failure, &error);
        }
    }
}

/// The path below the recording for a logical path.
fn relative(real: &str) -> &Path {
    Path::new(real.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sysroot::ReadError;
    use base::hash::Sha256;

    /// The rest of a partly read file must not be read as zeros.
    #[test]
    fn partly_read_file_is_recorded_as_partial() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let recording = root.join("recording");
        let mut live = Sysroot::live();
        live.record_into(&recording).unwrap();
        let file = |name: &str| root.join(name).to_str().unwrap().to_owned();
        for name in ["begun", "with-a-gap", "whole", "listed", "empty"] {
            fs::write(file(name), vec![b'x'; if name == "empty" { 0 } else { 9_000 }]).unwrap();
        }
        let read = |name: &str, offset| {
            live.open(&file(name)).unwrap().read_at(&mut [0; 4096], offset).unwrap();
        };
        read("begun", 0);
        for (name, offset) in [
            ("with-a-gap", 0),
            ("with-a-gap", 8000),
            ("whole", 0),
            ("whole", 4096),
            ("whole", 8192),
        ] {
            read(name, offset);
        }
        live.open(&file("empty")).unwrap().read_all(9).unwrap();
        live.list(root.to_str().unwrap()).unwrap();
        let hash = live.sha256(&file("begun"), &|_| ()).unwrap();
        live.finish_recording().unwrap();
        let copy = Sysroot::tree(&recording).unwrap();
        let is_partial = |name: &str| copy.open(&file(name)).unwrap().is_partial();
        assert!(is_partial("begun") && is_partial("with-a-gap") && is_partial("listed"));
        assert!(!is_partial("whole") && !is_partial("empty"));
        assert_eq!(copy.sha256(&file("begun"), &|_| ()).unwrap(), hash);
        assert_eq!(copy.sha256(&file("with-a-gap"), &|_| ()), Err(ReadError::Partial));
    }

    /// With a full disk, or a directory that disappeared, the content is missing, but not the name.
    #[test]
    fn unwritable_content_fails_the_recording() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().canonicalize().unwrap().join("f");
        fs::write(&file, "content").unwrap();
        let recording = dir.path().join("recording");
        let mut live = Sysroot::live();
        live.record_into(&recording).unwrap();
        let open = live.open(file.to_str().unwrap()).unwrap();
        fs::remove_dir_all(&recording).unwrap();
        assert_eq!(open.read_all(100).unwrap(), b"content", "reading goes on");
        fs::create_dir_all(&recording).unwrap();
        assert!(live.finish_recording().is_err());
    }

    #[test]
    fn hashed_file_is_recorded_without_content() {
        let dir = tempfile::tempdir().unwrap();
        let content = vec![7_u8; 300_000];
        let file = dir.path().canonicalize().unwrap().join("big.so");
        fs::write(&file, &content).unwrap();
        let path = file.to_str().unwrap();
        let recording = dir.path().join("recording");

        let mut live = Sysroot::live();
        live.record_into(&recording).unwrap();
        let read = std::sync::atomic::AtomicU64::new(0);
        let count = |bytes| {
            read.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
        };
        assert_eq!(live.sha256(path, &count), Ok(Sha256::of(&content)));
        assert_eq!(read.into_inner(), 300_000);
        live.finish_recording().unwrap();

        let tree = Sysroot::tree(&recording).unwrap();
        assert_eq!(tree.stat(path).unwrap().size, 300_000);
        assert!(tree.open(path).unwrap().is_partial());
        assert_eq!(tree.sha256(path, &|_| ()), Ok(Sha256::of(&content)));

        fs::remove_file(recording.join(sidecar::HASHES)).unwrap();
        let tree = Sysroot::tree(&recording).unwrap();
        assert_eq!(tree.sha256(path, &|_| ()), Err(ReadError::Partial));
    }
}
