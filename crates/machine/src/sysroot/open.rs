//! Opens a sysroot: this machine, a tree with its sidecar files, or a running process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::record::Recorder;
use super::resolve::Resolver;
use super::sidecar::{self, Caps, CommandMeta, ProcessMeta, SpaceMeta};
use super::{ReadError, Stat, SysFile, Sysroot, TEXT_LIMIT, environ, live};
use base::text::Text;
use data::fault::Value as _;
use data::{Fault, faults};
use facts::FileKind;
use facts::{Env, Process};

/// The reason why a sysroot cannot be used.
#[derive(Debug)]
pub enum OpenError {
    /// The root is not a readable directory.
    Root {
        /// The directory.
        path: String,
        /// The reason.
        reason: Text,
    },
    /// A sidecar file is malformed.
    Sidecar {
        /// The file.
        path: String,
        /// The position and kind of the defect.
        reason: Text,
        /// The expected content of a file of this name.
        expected: Text,
    },
    /// The process named by `--pid` cannot be examined.
    Pid {
        /// The process ID.
        pid: u32,
        /// The reason.
        reason: Text,
    },
    /// The recording cannot be written.
    Record {
        /// The directory.
        path: String,
        /// The reason.
        reason: Text,
    },
}

impl OpenError {
    /// The error as a text for users.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Root { path, reason } => faults::RootUnreadable { path, why: reason }.fault(),
            Self::Sidecar { path, reason, expected } => {
                faults::Sidecar { path, why: reason, expected }.fault()
            }
            Self::Pid { pid, reason } => {
                faults::ProcessUnreadable { pid: *pid, why: reason }.fault()
            }
            Self::Record { path, reason } => faults::CannotRecord { path, why: reason }.fault(),
        }
    }
}

data::impl_fault!(OpenError);

impl Sysroot {
    /// The machine that the tool runs on, as seen by the calling process.
    pub fn live() -> Self {
        let mut env = Env { known: true, origin: "process".to_owned(), ..Env::default() };
        env.vars = environ::filter(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        }));
        let (process, meta) = live::process();
        let root = PathBuf::from("/");
        let resolver = Resolver::new(&root);
        Self::new(root, resolver, true, env, process, meta)
    }

    /// A mounted or copied root, with the sidecar files at its top.
    pub fn tree(root: &Path) -> Result<Self, OpenError> {
        let fail = |reason: Text| OpenError::Root { path: root.display().to_string(), reason };
        let root = root.canonicalize().map_err(|error| fail(error.value()))?;
        std::fs::read_dir(&root).map_err(|error| fail(error.value()))?;
        let resolver = Resolver::new(&root);
        let meta: ProcessMeta =
            sidecar_file(&resolver, &root, sidecar::PROCESS)?.unwrap_or_default();
        let mut env = Env::default();
        let vars: Option<BTreeMap<String, String>> = sidecar_file(&resolver, &root, sidecar::ENV)?;
        if let Some(vars) = vars {
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
        let mut tree = Self::new(root, resolver, false, env, process, meta);
        let (resolver, root) = (&tree.resolver, &tree.root);
        tree.nodes = sidecar_file(resolver, root, sidecar::ROOTMETA)?;
        tree.space = sidecar_file(resolver, root, sidecar::SPACE)?.unwrap_or_default();
        tree.commands = sidecar_file(resolver, root, sidecar::COMMANDS)?.unwrap_or_default();
        tree.partial = sidecar_file(resolver, root, sidecar::PARTIAL)?.unwrap_or_default();
        tree.hashes = sidecar_file(resolver, root, sidecar::HASHES)?.unwrap_or_default();
        Ok(tree)
    }

    fn new(
        root: PathBuf,
        resolver: Resolver,
        live: bool,
        env: Env,
        process: Process,
        meta: ProcessMeta,
    ) -> Self {
        Self {
            faithful: live || is_mounted(&resolver),
            resolver,
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
            denied: Mutex::default(),
            recorder: None,
        }
    }

    /// Records everything that is read from now on as a tree in `dir`, which must be empty or not
    /// exist.
    pub fn record_into(&mut self, dir: &Path) -> Result<(), OpenError> {
        let fail = |error: std::io::Error| OpenError::Record {
            path: dir.display().to_string(),
            reason: error.value(),
        };
        if !self.live && lies_in(dir, &self.root) {
            return Err(fail(std::io::Error::other(faults::LiesInRoot.fault())));
        }
        self.recorder = Some(Recorder::create(dir).map_err(fail)?);
        Ok(())
    }

    /// Writes the sidecar files of the recording, if there is one. Later reads are not recorded.
    pub fn finish_recording(&mut self) -> std::io::Result<()> {
        self.recorder.take().map_or(Ok(()), |recorder| recorder.finish(self))
    }

    /// Replaces the environment: from `--env-file`, or from another process.
    pub fn set_env(&mut self, origin: &str, vars: impl IntoIterator<Item = (String, String)>) {
        let vars = environ::filter(vars);
        self.env = Env { known: true, origin: origin.to_owned(), vars, ..Env::default() };
        if let Some(pwd) = self.env.get("PWD")
            && self.process.cwd.is_none()
        {
            self.process.cwd = Some(pwd.to_owned());
        }
    }

    /// A running process of this machine. Its environment, user, working directory and interpreter
    /// come from `/proc/<pid>`, and so do the files that it sees. In another mount namespace (a
    /// container), no program is run.
    pub fn of_process(pid: u32) -> Result<Self, OpenError> {
        let fail = |error: std::io::Error| OpenError::Pid { pid, reason: error.value() };
        let (process, vars) = live::attach(pid).map_err(fail)?;
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        let here = rustix::fs::stat("/").map_err(|error| fail(error.into()))?;
        let there = rustix::fs::stat(&root).map_err(|error| fail(error.into()))?;
        let mut sysroot = Self::live();
        if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino) {
            let meta = sysroot.meta;
            let resolver = Resolver::new(&root);
            sysroot = Self::new(root, resolver, false, Env::default(), Process::default(), meta);
        }
        sysroot.process = process;
        sysroot.set_env(&format!("/proc/{pid}/environ"), vars);
        Ok(sysroot)
    }
}

/// Returns whether `dir`, which may not exist yet, is `root` (canonical) or is inside it.
fn lies_in(dir: &Path, root: &Path) -> bool {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let existing = absolute.ancestors().find_map(|dir| dir.canonicalize().ok());
    existing.is_some_and(|dir| dir.starts_with(root))
}

/// Reads a sidecar file at the top of a tree: `None` if it is absent.
fn sidecar_file<T: serde::de::DeserializeOwned>(
    resolver: &Resolver,
    root: &Path,
    name: &str,
) -> Result<Option<T>, OpenError> {
    let path = root.join(name);
    let fail = |reason: Text| OpenError::Sidecar {
        path: path.display().to_string(),
        reason,
        expected: sidecar::expected(name),
    };
    let found = resolver.find(name, false);
    let file = match found.and_then(SysFile::open) {
        Ok(file) => file,
        Err(ReadError::NotFound) => return Ok(None),
        Err(error) => return Err(fail(error.value())),
    };
    let bytes = file.read_all(TEXT_LIMIT * 4).map_err(|error| fail(error.value()))?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| fail(sidecar::mistake(&error)))
}

/// Returns whether a root is mounted and not copied: it has device nodes, which a copy cannot have.
/// Links are not followed, because they may lead to the nodes of this machine.
fn is_mounted(resolver: &Resolver) -> bool {
    let is = |path: &str, kind| {
        let found = resolver.find(path, false);
        found.is_ok_and(|found| Stat::from_raw(&found.stat).kind == kind)
    };
    is("/dev", FileKind::Directory) && is("/dev/null", FileKind::Char)
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
