//! The machine under examination: the only way to its files, environment and programs.
//!
//! A [`Sysroot`] is either the live machine or a tree (`--root`): a mounted or copied root.
//! Collectors cannot tell which. Nothing below a tree is ever written or executed, and no
//! symbolic link leads out of it. With a recorder (`--record`), everything that is read is
//! also kept as such a tree.
//!
//! **Invariant:** no other module reads the examined machine (`clippy.toml` holds the wall).
#![expect(clippy::disallowed_methods, reason = "this module is what the wall protects")]

mod command;
pub mod environ;
mod error;
mod file;
mod live;
mod record;
mod resolve;
pub mod sidecar;
mod stat;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

pub use error::ReadError;
pub use file::SysFile;
pub use sidecar::{CommandOutput, NodeMeta, Space};
pub use stat::{FileKind, Stat};

use crate::facts::{Env, Problem, ProblemKind, Process};
use crate::hash::Sha256;
use record::Recorder;
use resolve::Resolver;
use sidecar::{Caps, CommandMeta, HashMeta, ProcessMeta, RootMeta, SpaceMeta};

/// The most that is read of a small text file (version files, configuration), in bytes.
pub const TEXT_LIMIT: u64 = 4 << 20;
/// The most directory entries that are listed.
const LIST_LIMIT: usize = 200_000;

/// Why a sysroot cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The root is no readable directory.
    #[error("cannot read the root `{path}`: {reason}")]
    Root {
        /// The directory that was given.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A sidecar file is malformed.
    #[error("`{path}`: {reason}; {expected}. Repair the file, or remove it to go on without it")]
    Sidecar {
        /// The file.
        path: String,
        /// Where and how it is malformed.
        reason: String,
        /// What a file of this name holds.
        expected: &'static str,
    },
    /// The process that `--pid` names cannot be examined.
    #[error("cannot examine process {pid}: {reason}")]
    Pid {
        /// The process id that was given.
        pid: u32,
        /// What is wrong.
        reason: String,
    },
    /// The recording cannot be written.
    #[error("cannot record into `{path}`: {reason}")]
    Record {
        /// The directory that was given.
        path: String,
        /// What is wrong.
        reason: String,
    },
}

/// See the [module documentation](self).
#[derive(Debug)]
pub struct Sysroot {
    root: PathBuf,
    live: bool,
    /// Whether device nodes and owners in the root are those of the machine itself.
    faithful: bool,
    resolver: Resolver,
    nodes: Option<RootMeta>,
    env: Env,
    process: Process,
    meta: ProcessMeta,
    space: SpaceMeta,
    commands: CommandMeta,
    partial: BTreeSet<String>,
    hashes: BTreeMap<String, HashMeta>,
    problems: Mutex<BTreeMap<(String, ProblemKind), Problem>>,
    recorder: Option<Recorder>,
}

impl Sysroot {
    /// The machine that the tool runs on, as the calling process sees it.
    pub fn live() -> Self {
        let mut env = Env { known: true, origin: "process".to_owned(), ..Env::default() };
        env.vars = environ::filter(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        }));
        let (process, meta) = live::process();
        Self::new(PathBuf::from("/"), true, env, process, meta)
    }

    /// A mounted or copied root, with the sidecar files at its top.
    pub fn tree(root: &Path) -> Result<Self, OpenError> {
        let fail = |reason: String| OpenError::Root { path: root.display().to_string(), reason };
        let root = root.canonicalize().map_err(|error| fail(error.to_string()))?;
        std::fs::read_dir(&root).map_err(|error| fail(error.to_string()))?;
        let meta: ProcessMeta = sidecar_file(&root, sidecar::PROCESS)?.unwrap_or_default();
        let mut env = Env::default();
        if let Some(vars) = sidecar_file::<BTreeMap<String, String>>(&root, sidecar::ENV)? {
            let (origin, vars) = (sidecar::ENV.to_owned(), environ::filter(vars));
            env = Env { known: true, origin, vars, ..Env::default() };
        }
        let process = Process {
            uid: meta.uid,
            gid: meta.gid,
            groups: meta.groups.clone().unwrap_or_default(),
            caps: meta.caps.as_ref().map(caps_of),
            python: meta.python.clone(),
            in_container: meta.in_container,
            cwd: meta.cwd.clone().or_else(|| env.get("PWD").map(str::to_owned)),
            ..Process::default()
        };
        let mut tree = Self::new(root, false, env, process, meta);
        tree.nodes = sidecar_file(&tree.root, sidecar::ROOTMETA)?;
        tree.space = sidecar_file(&tree.root, sidecar::SPACE)?.unwrap_or_default();
        tree.commands = sidecar_file(&tree.root, sidecar::COMMANDS)?.unwrap_or_default();
        tree.partial = sidecar_file(&tree.root, sidecar::PARTIAL)?.unwrap_or_default();
        tree.hashes = sidecar_file(&tree.root, sidecar::HASHES)?.unwrap_or_default();
        Ok(tree)
    }

    fn new(root: PathBuf, live: bool, env: Env, process: Process, meta: ProcessMeta) -> Self {
        Self {
            faithful: live || is_mounted(&root),
            resolver: Resolver::new(&root),
            root,
            live,
            nodes: None,
            env,
            process,
            meta,
            space: SpaceMeta::default(),
            commands: CommandMeta::new(),
            partial: BTreeSet::new(),
            hashes: BTreeMap::new(),
            problems: Mutex::default(),
            recorder: None,
        }
    }

    /// Keeps everything that is read from now on as a tree in `dir`, which must be empty or
    /// not exist.
    pub fn record_into(&mut self, dir: &Path) -> Result<(), OpenError> {
        let fail = |error: std::io::Error| OpenError::Record {
            path: dir.display().to_string(),
            reason: error.to_string(),
        };
        if !self.live && lies_in(dir, &self.root) {
            let reason = "it lies in the examined root, which is never written to";
            return Err(fail(std::io::Error::other(reason)));
        }
        self.recorder = Some(Recorder::create(dir).map_err(fail)?);
        Ok(())
    }

    /// Writes the sidecar files of the recording, if there is one.
    pub fn finish_recording(&self) -> std::io::Result<()> {
        self.recorder.as_ref().map_or(Ok(()), |recorder| recorder.finish(self))
    }

    /// Takes the environment from somewhere else: `--env-file`, or another process.
    pub fn set_env(&mut self, origin: &str, vars: impl IntoIterator<Item = (String, String)>) {
        let vars = environ::filter(vars);
        self.env = Env { known: true, origin: origin.to_owned(), vars, ..Env::default() };
        if let Some(pwd) = self.env.get("PWD")
            && self.process.cwd.is_none()
        {
            self.process.cwd = Some(pwd.to_owned());
        }
    }

    /// A running process of this machine: its environment, user, working directory and
    /// interpreter from `/proc/<pid>`, and the files that it sees, also from inside another
    /// mount namespace (a container), where no program is run then.
    pub fn of_process(pid: u32) -> Result<Self, OpenError> {
        let fail =
            |reason: &dyn std::fmt::Display| OpenError::Pid { pid, reason: reason.to_string() };
        let (process, vars) = live::attach(pid).map_err(|error| fail(&error))?;
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        let here = rustix::fs::stat("/").map_err(|error| fail(&error))?;
        let there = rustix::fs::stat(&root).map_err(|error| fail(&error))?;
        let mut sysroot = Self::live();
        if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino) {
            let meta = sysroot.meta;
            sysroot = Self::new(root, false, Env::default(), Process::default(), meta);
        }
        sysroot.process = process;
        sysroot.set_env(&format!("/proc/{pid}/environ"), vars);
        Ok(sysroot)
    }

    /// Whether this is the machine that the tool runs on.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Whether device nodes and owners are those of the examined machine: a copied tree has
    /// them in its sidecar or not at all.
    pub fn knows_device_nodes(&self) -> bool {
        self.faithful || self.nodes.is_some()
    }

    /// The directory that stands for `/`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The environment of the user's shell, or of the process under examination.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Who would run the workload.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// What is known of the machine beyond its files: architecture, host name, kernel.
    pub fn machine(&self) -> &ProcessMeta {
        &self.meta
    }

    /// The path as it lies on this host, for a reader that needs a real file name.
    /// Links are resolved inside the root.
    pub fn host_path(&self, path: &str) -> Result<PathBuf, ReadError> {
        Ok(self.resolver.host_path(&self.real(path)?))
    }

    /// The logical path with all symbolic links resolved inside the root.
    pub fn real(&self, path: &str) -> Result<String, ReadError> {
        let real = self.resolver.real(path, true)?;
        // That it is there is an answer too, which the recording has to give again.
        if self.recorder.is_some() {
            let _ = self.stat_real(&real);
        }
        Ok(real)
    }

    /// Status of a file, links followed; sidecar data overrides what the tree says.
    pub fn stat(&self, path: &str) -> Result<Stat, ReadError> {
        let real = match self.real(path) {
            Ok(real) => real,
            Err(ReadError::NotFound) => self.virtual_path(path).ok_or(ReadError::NotFound)?,
            Err(error) => return Err(error),
        };
        self.stat_real(&real)
    }

    /// Status of a file itself, even if it is a symbolic link.
    pub fn lstat(&self, path: &str) -> Result<Stat, ReadError> {
        let real = match self.resolver.real(path, false) {
            Ok(real) => real,
            Err(ReadError::NotFound) => self.virtual_path(path).ok_or(ReadError::NotFound)?,
            Err(error) => return Err(error),
        };
        self.stat_real(&real)
    }

    /// The logical path, if only the sidecar knows it.
    fn virtual_path(&self, path: &str) -> Option<String> {
        let node = self.nodes.as_ref()?.get(path)?;
        node.kind.is_some().then(|| path.to_owned())
    }

    fn stat_real(&self, real: &str) -> Result<Stat, ReadError> {
        let found = rustix::fs::lstat(self.resolver.host_path(real));
        let meta = self.nodes.as_ref().map(|nodes| nodes.get(real));
        let stat = match (found, meta) {
            (Ok(raw), None) if self.faithful => Stat::from_raw(&raw),
            (Ok(raw), None) => Stat::from_raw(&raw).overlaid(None),
            (Ok(raw), Some(meta)) => Stat::from_raw(&raw).overlaid(meta),
            (Err(_), Some(Some(meta))) if meta.kind.is_some() => Stat::virtual_node(meta),
            (Err(errno), _) => return Err(errno.into()),
        };
        if let Some(recorder) = &self.recorder {
            recorder.node(real, &stat, &self.resolver);
        }
        Ok(stat)
    }

    /// Whether there is anything at `path`, links followed.
    pub fn exists(&self, path: &str) -> bool {
        self.stat(path).is_ok()
    }

    /// Whether `path` is a directory, links followed.
    pub fn is_dir(&self, path: &str) -> bool {
        self.stat(path).is_ok_and(|stat| stat.kind == FileKind::Directory)
    }

    /// Whether `path` is a regular file, links followed.
    pub fn is_file(&self, path: &str) -> bool {
        self.stat(path).is_ok_and(|stat| stat.kind == FileKind::File)
    }

    /// Where a symbolic link points, as it is written.
    pub fn read_link(&self, path: &str) -> Result<String, ReadError> {
        let real = self.resolver.real(path, false)?;
        let target = rustix::fs::readlink(self.resolver.host_path(&real), Vec::new())?;
        if let Some(recorder) = &self.recorder {
            recorder.link(&real, &self.resolver);
        }
        Ok(String::from_utf8_lossy(target.as_bytes()).into_owned())
    }

    /// The names in a directory, sorted. Names that are not UTF-8 are left out and noted as a
    /// [`Problem`]; entries that only the sidecar knows are included.
    pub fn list(&self, dir: &str) -> Result<Vec<String>, ReadError> {
        let real = match self.real(dir) {
            Ok(real) => real,
            Err(ReadError::NotFound) => {
                return self.virtual_children(dir).ok_or(ReadError::NotFound);
            }
            Err(error) => return Err(error),
        };
        let mut names = BTreeSet::new();
        for (count, entry) in std::fs::read_dir(self.resolver.host_path(&real))?.enumerate() {
            if count == LIST_LIMIT {
                let detail = format!("it has more than {LIST_LIMIT} entries; the rest is not seen");
                self.problem(&real, ProblemKind::TooLarge, &detail);
                break;
            }
            match entry?.file_name().into_string() {
                Ok(name) => {
                    names.insert(name);
                }
                Err(name) => self.problem(
                    &format!("{}/{}", real.trim_end_matches('/'), name.to_string_lossy()),
                    ProblemKind::Name,
                    "the name is not valid UTF-8",
                ),
            }
        }
        if let Some(recorder) = &self.recorder {
            recorder.directory(&real, &self.resolver);
        }
        names.extend(self.virtual_children(&real).into_iter().flatten());
        Ok(names.into_iter().collect())
    }

    fn virtual_children(&self, dir: &str) -> Option<Vec<String>> {
        let prefix = format!("{}/", dir.trim_end_matches('/'));
        let names: Vec<String> = self
            .nodes
            .as_ref()?
            .iter()
            .filter(|(_, node)| node.kind.is_some())
            .filter_map(|(path, _)| path.strip_prefix(&prefix))
            .filter(|name| !name.is_empty() && !name.contains('/'))
            .map(str::to_owned)
            .collect();
        (!names.is_empty()).then_some(names)
    }

    /// Opens a regular file for reading. Never blocks on a FIFO and never opens a device.
    pub fn open(&self, path: &str) -> Result<SysFile, ReadError> {
        let real = self.real(path)?;
        let stat = self.stat_real(&real)?;
        if stat.kind != FileKind::File {
            return Err(ReadError::NotRegular(stat.kind.describe()));
        }
        let file = SysFile::open(&self.resolver.host_path(&real))?;
        let sink = self.recorder.as_ref().and_then(|recorder| recorder.sink(&real, file.len()));
        Ok(file.with_recording(sink, self.partial.contains(&real)))
    }

    /// The SHA-256 of a regular file, read in pieces; `progress` is told the size of each.
    /// A recording keeps the hash instead of the content, and a tree of such a recording gives
    /// it back.
    pub fn sha256(&self, path: &str, progress: &dyn Fn(u64)) -> Result<Sha256, ReadError> {
        let real = self.real(path)?;
        let stat = self.stat_real(&real)?;
        if stat.kind != FileKind::File {
            return Err(ReadError::NotRegular(stat.kind.describe()));
        }
        if self.partial.contains(&real) {
            let known = self.hashes.get(&real).filter(|meta| meta.size == stat.size);
            return known.and_then(HashMeta::hash).ok_or(ReadError::Partial);
        }
        let hash = SysFile::open(&self.resolver.host_path(&real))?.sha256(progress)?;
        if let Some(recorder) = &self.recorder {
            recorder.hash(&real, HashMeta::new(stat.size, hash));
        }
        Ok(hash)
    }

    /// The whole content of a regular file of at most `limit` bytes.
    pub fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let file = self.open(path)?;
        file.read_all(limit)
    }

    /// The content of a small text file; what is not UTF-8 is replaced by U+FFFD.
    pub fn read_text(&self, path: &str) -> Result<String, ReadError> {
        let bytes = self.read(path, TEXT_LIMIT)?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// As [`Sysroot::read_text`], where the file may be absent: `None` then. Any other error is
    /// noted as a [`Problem`], so that it becomes a finding.
    pub fn text_if_there(&self, path: &str) -> Option<String> {
        match self.read_text(path) {
            Ok(text) => Some(text),
            Err(ReadError::NotFound | ReadError::NotDirectory) => None,
            Err(error) => {
                self.read_problem(path, &error);
                None
            }
        }
    }

    /// Size and free space of the file system that holds `path`.
    pub fn space(&self, path: &str) -> Option<Space> {
        let space = if self.live {
            live::space(&self.host_path(path).ok()?)?
        } else {
            *self.space.paths.get(path)?
        };
        if let Some(recorder) = &self.recorder {
            recorder.space(path, space);
        }
        Some(space)
    }

    /// Main memory in bytes, where known.
    pub fn memory(&self) -> Option<u64> {
        if self.live { live::memory() } else { self.space.memory }
    }

    /// Logical processors, where known.
    pub fn cpus(&self) -> Option<u32> {
        if self.live { live::cpus() } else { self.space.cpus }
    }

    /// Runs a program of the live machine, named by its absolute path, with no input and a time
    /// limit. On a tree the recorded output is given instead; nothing is executed.
    pub fn run(&self, program: &str, args: &[&str], limit: Duration) -> Option<CommandOutput> {
        let line =
            std::iter::once(program).chain(args.iter().copied()).collect::<Vec<_>>().join(" ");
        let output = if self.live {
            program.starts_with('/').then(|| command::run(program, args, limit)).flatten()?
        } else {
            self.commands.get(&line)?.clone()
        };
        if let Some(recorder) = &self.recorder {
            recorder.command(&line, &output);
        }
        Some(output)
    }

    /// Notes that something could not be read or understood; it becomes a finding.
    pub fn problem(&self, path: &str, kind: ProblemKind, detail: &str) {
        self.problem_at(path, None, kind, detail);
    }

    /// The same of a certain line, counted from 1.
    pub fn problem_at(&self, path: &str, line: Option<u32>, kind: ProblemKind, detail: &str) {
        if let Ok(mut problems) = self.problems.lock() {
            problems.entry((path.to_owned(), kind)).or_insert_with(|| Problem {
                path: path.to_owned(),
                kind,
                detail: detail.to_owned(),
                line,
            });
        }
    }

    /// Notes a [`ReadError`] as a problem.
    pub fn read_problem(&self, path: &str, error: &ReadError) {
        let kind = match error {
            ReadError::Denied => ProblemKind::Denied,
            ReadError::NotRegular(_) | ReadError::NotDirectory => ProblemKind::WrongType,
            ReadError::TooLarge { .. } => ProblemKind::TooLarge,
            ReadError::Loop => ProblemKind::LinkLoop,
            ReadError::Partial => return,
            ReadError::NotFound | ReadError::Io(_) => ProblemKind::Unreadable,
        };
        self.problem(path, kind, &error.to_string());
    }

    /// All problems that were noted, by path.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems
            .lock()
            .map(|problems| problems.values().cloned().collect())
            .unwrap_or_default()
    }
}

/// Whether `dir`, which may not exist yet, lies in `root` (canonical) or is it.
fn lies_in(dir: &Path, root: &Path) -> bool {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let existing = absolute.ancestors().find_map(|dir| dir.canonicalize().ok());
    existing.is_some_and(|dir| dir.starts_with(root))
}

/// Reads a sidecar file at the top of a tree: `None` if it is absent.
fn sidecar_file<T: serde::de::DeserializeOwned>(
    root: &Path,
    name: &str,
) -> Result<Option<T>, OpenError> {
    let path = root.join(name);
    let fail = |reason: String| OpenError::Sidecar {
        path: path.display().to_string(),
        reason,
        expected: sidecar::expected(name),
    };
    let file = match SysFile::open(&path) {
        Ok(file) => file,
        Err(ReadError::NotFound) => return Ok(None),
        Err(error) => return Err(fail(error.to_string())),
    };
    let bytes = file.read_all(TEXT_LIMIT * 4).map_err(|error| fail(error.to_string()))?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| fail(sidecar::mistake(&error)))
}

/// Whether a root is a mounted one and no copy: it has device nodes, which a copy cannot have.
/// Links are not followed: they may lead to the nodes of this machine.
fn is_mounted(root: &Path) -> bool {
    let is = |path: &str, kind| {
        rustix::fs::lstat(root.join(path))
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode) == kind)
    };
    is("dev", rustix::fs::FileType::Directory)
        && is("dev/null", rustix::fs::FileType::CharacterDevice)
}

/// Capability names in lower case without `cap_`.
fn caps_of(caps: &Caps) -> BTreeSet<String> {
    let plain = |name: &str| name.to_ascii_lowercase().trim_start_matches("cap_").to_owned();
    match caps {
        Caps::Word(word) if word.eq_ignore_ascii_case("none") => BTreeSet::new(),
        Caps::Word(word) => BTreeSet::from([plain(word)]),
        Caps::List(names) => names.iter().map(|name| plain(name)).collect(),
    }
}
