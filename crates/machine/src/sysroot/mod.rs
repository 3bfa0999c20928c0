//! The machine under examination: the only access to its files, environment and programs.
//!
//! A [`Sysroot`] is either the live machine or a tree (`--sysroot`): a mounted or copied root.
//! Collectors cannot distinguish them. Nothing below a tree is ever written or executed, and no
//! symbolic link leads out of it. With a recorder (`--record`), everything that is read is also
//! kept as such a tree.
//!
//! **Invariant:** no other module reads the examined machine (`clippy.toml` enforces this).
#![expect(clippy::disallowed_methods, reason = "this module is what the wall protects")]

mod command;
pub mod environ;
mod error;
mod file;
mod home;
mod live;
mod nodes;
mod open;
mod record;
mod resolve;
pub mod sidecar;
mod stat;
mod unreadable;

use base::text::Text;
use data::faults;
use facts::Space;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rustix::fs::OFlags;

pub use error::ReadError;
pub use file::SysFile;
pub use open::OpenError;
pub use record::is_unread_or_program;
pub use sidecar::CommandOutput;
pub use stat::Stat;

use base::hash::Sha256;
use facts::FileKind;
use facts::{Env, Problem, ProblemKind, Process};
use nodes::Nodes;
use record::Recorder;
use resolve::{LocatedFile, Resolver};
use sidecar::{CommandMeta, HashMeta, ProcessMeta, SpaceMeta};

/// Maximum number of bytes read from a small text file (version files, configuration).
pub const TEXT_LIMIT: u64 = 4 << 20;
/// Maximum number of listed directory entries.
const LIST_LIMIT: usize = 200_000;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct Sysroot {
    root: PathBuf,
    live: bool,
    /// Whether device nodes and owners in the root are those of the machine itself.
    faithful: bool,
    resolver: Resolver,
    nodes: Option<Nodes>,
    env: Env,
    process: Process,
    meta: ProcessMeta,
    space: SpaceMeta,
    commands: CommandMeta,
    partial: BTreeSet<String>,
    hashes: BTreeMap<String, HashMeta>,
    problems: Mutex<BTreeMap<(String, ProblemKind), Problem>>,
    /// Requested paths to which access was denied.
    denied: Mutex<BTreeSet<String>>,
    recorder: Option<Recorder>,
}

impl Sysroot {
    /// Returns whether this is the machine that the tool runs on.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Returns whether device nodes and owners are those of the examined machine. A copied tree has
    /// them only in its sidecar.
    pub fn knows_device_nodes(&self) -> bool {
        self.faithful || self.nodes.is_some()
    }

    /// The host directory of the root `/`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The environment of the user's shell, or of the process under examination.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The process that would run the workload.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Known facts about the machine that are not in its files: architecture, host name, kernel.
    pub fn machine(&self) -> &ProcessMeta {
        &self.meta
    }

    /// The logical path with all symbolic links resolved inside the root.
    pub fn real(&self, path: &str) -> Result<String, ReadError> {
        let found = self.find(path, true)?;
        // The existence of the file is also an answer, which the recording must reproduce.
        if self.recorder.is_some() {
            let _ = self.stat_found(&found);
        }
        Ok(found.real)
    }

    /// Status of a file, following links; sidecar data overrides that of the tree.
    pub fn stat(&self, path: &str) -> Result<Stat, ReadError> {
        self.status(path, true)
    }

    /// Status of a file itself, even if it is a symbolic link.
    pub fn lstat(&self, path: &str) -> Result<Stat, ReadError> {
        self.status(path, false)
    }

    fn status(&self, path: &str, follow: bool) -> Result<Stat, ReadError> {
        let status = match self.find(path, follow) {
            Ok(found) => Ok(self.stat_found(&found)),
            Err(ReadError::NotFound) => self.virtual_stat(path).ok_or(ReadError::NotFound),
            Err(error) => Err(error),
        };
        match &status {
            Ok(stat) => log::trace!("stat {path}: {}, {} bytes", stat.kind.describe(), stat.size),
            Err(error) => log::trace!("stat {path}: {error}"),
        }
        status
    }

    /// Status of a file that only the sidecar contains.
    fn virtual_stat(&self, path: &str) -> Option<Stat> {
        let nodes = self.nodes.as_ref()?;
        let known = |path: &str| nodes.get(path).filter(|node| node.kind.is_some());
        let (path, node) = if let Some(node) = known(path) {
            (path.to_owned(), node)
        } else {
            let real = self.resolver.real_of_absent(path)?;
            let node = known(&real)?;
            (real, node)
        };
        let stat = Stat::virtual_node(node);
        self.record_node(&path, &stat);
        Some(stat)
    }

    fn stat_found(&self, found: &LocatedFile) -> Stat {
        let raw = Stat::from_raw(&found.stat);
        let stat = match &self.nodes {
            None if self.faithful => raw,
            nodes => raw.overlaid(nodes.as_ref().and_then(|nodes| nodes.get(&found.real))),
        };
        self.record_node(&found.real, &stat);
        stat
    }

    fn record_node(&self, real: &str, stat: &Stat) {
        if let Some(recorder) = &self.recorder {
            recorder.node(real, stat, &self.resolver);
        }
    }

    /// Returns whether `path` exists, following links.
    pub fn exists(&self, path: &str) -> bool {
        self.stat(path).is_ok()
    }

    /// Returns whether `path` is a directory, following links.
    pub fn is_dir(&self, path: &str) -> bool {
        self.stat(path).is_ok_and(|stat| stat.kind == FileKind::Directory)
    }

    /// Returns whether `path` is a regular file, following links.
    pub fn is_file(&self, path: &str) -> bool {
        self.stat(path).is_ok_and(|stat| stat.kind == FileKind::File)
    }

    /// The target of a symbolic link, as written.
    pub fn read_link(&self, path: &str) -> Result<String, ReadError> {
        let found = self.find(path, false)?;
        let target = found.target()?;
        if let Some(recorder) = &self.recorder {
            recorder.link(&found.real, &self.resolver);
        }
        Ok(target)
    }

    /// The names in a directory, sorted. Names that are not UTF-8 are omitted and recorded as a
    /// [`Problem`]; entries that only the sidecar contains are included.
    pub fn list(&self, dir: &str) -> Result<Vec<String>, ReadError> {
        Ok(self.entries(dir)?.into_iter().map(|(name, _)| name).collect())
    }

    /// As [`Sysroot::list`], with the kind of each entry itself, as in [`Sysroot::lstat`].
    pub fn entries(&self, dir: &str) -> Result<Vec<(String, FileKind)>, ReadError> {
        let directory = match self.resolver.directory(dir) {
            Ok(directory) if self.was_denied(directory.real()) => {
                return self.note_denied(dir, Err(ReadError::Denied));
            }
            Ok(directory) => directory,
            Err(_) if matches!(self.find(dir, true), Err(ReadError::Denied)) => {
                return Err(ReadError::Denied);
            }
            Err(ReadError::NotFound) => {
                let known: Vec<_> = self.virtual_children(dir).collect();
                return if known.is_empty() { Err(ReadError::NotFound) } else { Ok(known) };
            }
            Err(error) => return Err(error),
        };
        let real = directory.real();
        log::debug!("list {real}");
        let mut entries: Vec<(String, FileKind)> = Vec::new();
        let listed = directory.entries(|name, kind| {
            if entries.len() >= LIST_LIMIT {
                let detail = faults::MoreEntries { limit: LIST_LIMIT }.value();
                self.problem(real, ProblemKind::TooLarge, &detail);
                return false;
            }
            if let Ok(name) = name.to_str() {
                let status = || Some(Stat::from_raw(&directory.lstat(name).ok()?).kind);
                let kind = kind.or_else(status).unwrap_or(FileKind::Other);
                entries.push((name.to_owned(), kind));
            } else {
                let path = format!("{}/{}", real.trim_end_matches('/'), name.to_string_lossy());
                self.problem(&path, ProblemKind::Name, &faults::NameInvalid.value());
            }
            true
        });
        self.note_denied(dir, listed)?;
        if let Some(recorder) = &self.recorder {
            recorder.directory(&directory, &entries, &self.resolver);
        }
        // Entries of the sidecar come after those of the tree, and replace them.
        entries.extend(self.virtual_children(real));
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        entries.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 = later.1;
            }
            same
        });
        Ok(entries)
    }

    fn virtual_children(&self, dir: &str) -> impl Iterator<Item = (String, FileKind)> {
        let children = self.nodes.as_ref().map(|nodes| nodes.children(dir)).unwrap_or_default();
        children.into_iter().map(|(name, kind)| (name.to_owned(), kind))
    }

    /// Finds a regular file. Never opens a device, nor waits for a FIFO.
    fn find_file(&self, path: &str) -> Result<(LocatedFile, Stat), ReadError> {
        let found = self.find(path, true)?;
        let stat = self.stat_found(&found);
        if stat.kind == FileKind::File {
            Ok((found, stat))
        } else {
            Err(ReadError::NotRegular(stat.kind))
        }
    }

    /// Opens a regular file for reading. Never blocks on a FIFO and never opens a device.
    pub fn open(&self, path: &str) -> Result<SysFile, ReadError> {
        let opened = self.find_file(path).and_then(|(found, _)| {
            let denied = self.was_denied(&found.real);
            if denied { Err(ReadError::Denied) } else { SysFile::open(found) }
        });
        let opened = self.note_denied(path, opened);
        match &opened {
            Ok(file) => log::debug!("open {path}: {} bytes", file.len()),
            Err(error) => log::debug!("open {path}: {error}"),
        }
        let file = opened?;
        let real = file.real();
        let sink = self.recorder.as_ref().and_then(|recorder| recorder.sink(real, file.len()));
        let partial = self.partial.contains(real);
        Ok(file.with_recording(sink, partial))
    }

    /// Maximum number of files that a caller may keep open: a part of the limit of this process.
    pub fn max_open_files(&self) -> usize {
        self.resolver.limit()
    }

    /// The SHA-256 of a regular file, read in pieces; `progress` receives the size of each. A
    /// recording keeps the hash instead of the content, and a tree of such a recording returns it.
    pub fn sha256(&self, path: &str, progress: &dyn Fn(u64)) -> Result<Sha256, ReadError> {
        let (found, stat) = self.find_file(path)?;
        let real = &found.real;
        if self.was_denied(real) {
            return self.note_denied(path, Err(ReadError::Denied));
        }
        if self.partial.contains(real) {
            let known = self.hashes.get(real).filter(|meta| meta.size == stat.size);
            return known.and_then(HashMeta::hash).ok_or(ReadError::Partial);
        }
        let file = self.note_denied(path, SysFile::open(found))?;
        let hash = file.sha256(progress)?;
        if let Some(recorder) = &self.recorder {
            recorder.hash(file.real(), HashMeta::new(stat.size, hash));
        }
        Ok(hash)
    }

    /// The complete content of a regular file of at most `limit` bytes.
    pub fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let file = self.open(path)?;
        file.read_all(limit)
    }

    /// The content of a small text file; invalid UTF-8 is replaced by U+FFFD.
    pub fn read_text(&self, path: &str) -> Result<String, ReadError> {
        let bytes = self.read(path, TEXT_LIMIT)?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// As [`Sysroot::read_text`], but `None` if the file is absent. Any other error is recorded as
    /// a [`Problem`], so that it becomes a finding.
    pub fn read_text_if_exists(&self, path: &str) -> Option<String> {
        match self.read_text(path) {
            Ok(text) => Some(text),
            Err(ReadError::NotFound | ReadError::NotDirectory) => None,
            Err(error) => {
                self.read_problem(path, &error);
                None
            }
        }
    }

    /// Size and free space of the file system that contains `path`.
    pub fn space(&self, path: &str) -> Option<Space> {
        let space = if self.live {
            let found = self.resolver.find(path, true).ok()?;
            live::space(&found.open(OFlags::PATH).ok()?)?
        } else {
            *self.space.paths.get(path)?
        };
        if let Some(recorder) = &self.recorder {
            recorder.space(path, space);
        }
        Some(space)
    }

    /// Main memory in bytes, if known.
    pub fn memory(&self) -> Option<u64> {
        if self.live { live::memory() } else { self.space.memory }
    }

    /// Logical processors, if known.
    pub fn cpus(&self) -> Option<u32> {
        if self.live { live::cpus() } else { self.space.cpus }
    }

    /// Runs a program of the live machine, named by its absolute path, with no input and a time
    /// limit. For a tree, returns the recorded output without executing anything.
    pub fn run(&self, program: &str, args: &[&str], limit: Duration) -> Option<CommandOutput> {
        let line =
            std::iter::once(program).chain(args.iter().copied()).collect::<Vec<_>>().join(" ");
        let output = if self.live {
            program.starts_with('/').then(|| command::run(program, args, limit)).flatten()?
        } else {
            self.commands.get(&line)?.clone()
        };
        log::debug!("run {line}: {output:?}");
        if let Some(recorder) = &self.recorder {
            recorder.command(&line, &output);
        }
        Some(output)
    }

    fn find(&self, path: &str, follow: bool) -> Result<LocatedFile, ReadError> {
        self.note_denied(path, self.look(path, follow))
    }

    /// Records a path that could not be read or parsed; it becomes a finding.
    pub fn problem(&self, path: &str, kind: ProblemKind, detail: &Text) {
        self.problem_at(path, None, kind, detail);
    }

    /// As [`Sysroot::problem`], for a certain line, counted from 1.
    pub fn problem_at(&self, path: &str, line: Option<u32>, kind: ProblemKind, detail: &Text) {
        log::warn!("{path}: {}", detail.en);
        let denied = kind == ProblemKind::Denied;
        let barrier = denied.then(|| self.barrier(path)).flatten();
        // Recorded under its real path, so that several paths to it count once.
        let real = denied.then(|| self.resolver.find(path, true).ok()).flatten();
        let path = real.as_ref().map_or(path, |found| &found.real);
        if let Ok(mut problems) = self.problems.lock() {
            problems.entry((path.to_owned(), kind)).or_insert_with(|| Problem {
                path: path.to_owned(),
                kind,
                detail: detail.clone(),
                barrier,
                line,
            });
        }
    }

    /// Records a [`ReadError`] as a problem.
    pub fn read_problem(&self, path: &str, error: &ReadError) {
        let kind = match error {
            ReadError::Denied => ProblemKind::Denied,
            ReadError::NotRegular(_) | ReadError::NotDirectory => ProblemKind::WrongType,
            ReadError::TooLarge { .. } => ProblemKind::TooLarge,
            ReadError::Loop => ProblemKind::LinkLoop,
            ReadError::Partial => return,
            ReadError::NotFound | ReadError::Io(_) => ProblemKind::Unreadable,
        };
        self.problem(path, kind, &error.text());
    }

    /// All recorded problems, by path.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems
            .lock()
            .map(|problems| problems.values().cloned().collect())
            .unwrap_or_default()
    }
}
