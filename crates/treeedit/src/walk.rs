//! Finds the files to read below the roots that a user names.
#![expect(
    clippy::disallowed_methods,
    reason = "walks the tree that is converted; no machine is examined"
)]

use base::text::Text;
use data::fault::Value as _;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{File, FileType, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use guard::file::open_regular;
use guard::tree::Tree;
use ignore::{DirEntry, WalkBuilder};

use super::exclude::Excludes;
use super::ignore_files;
use super::kind::FileKind;
pub use super::walk_failure::WalkError;
use base::walk_error;

/// Directories without sources of the project.
const NEVER: &[&str] =
    &[".git", ".hg", ".svn", "__pycache__", "node_modules", super::journal::DIRECTORY];
/// Directories of installed packages: skipped below a root, but read if the user names one as a
/// root.
const INSTALLED: &[&str] = &["site-packages", "dist-packages"];

/// The searched locations, and the selection of files.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Files, directories, or patterns for them.
    pub roots: Vec<PathBuf>,
    /// Files that a user starts: they get the import of torch_npu.
    pub launch: Vec<PathBuf>,
    /// Excluded paths.
    pub exclude: Vec<String>,
    /// The kinds of files to read.
    pub kinds: Vec<FileKind>,
    /// Whether `.gitignore` and `.ignore` count.
    pub ignore_files: bool,
    /// The maximum size of a file, in bytes.
    pub max_size: u64,
    /// Whether links to files are read that lead out of the root, or to a file whose name is not
    /// that of a source: for callers that write nothing. A snapshot of Hugging Face's cache
    /// consists of them.
    pub linked_files: bool,
}

/// A directory below which files are converted.
#[derive(Debug)]
pub struct Root {
    /// The path that the user named; for a file, its directory.
    pub dir: PathBuf,
    /// The same without symbolic links: nothing outside is changed.
    pub real: PathBuf,
    /// Whether the user named the directory, not files in it.
    pub whole: bool,
    tree: OnceLock<Tree>,
}

impl Root {
    /// Creates the root `dir`, which is `real` without links.
    pub fn new(dir: impl Into<PathBuf>, real: impl Into<PathBuf>, whole: bool) -> Self {
        Self { dir: dir.into(), real: real.into(), whole, tree: OnceLock::new() }
    }

    /// The open directories of the root: files below it are opened through them, so that replacing
    /// a directory by a link cannot lead out of it.
    ///
    /// # Errors
    ///
    /// The root cannot be opened.
    pub fn tree(&self) -> io::Result<&Tree> {
        if let Some(tree) = self.tree.get() {
            return Ok(tree);
        }
        let tree = Tree::new(guard::named::open_dir(&self.dir)?);
        Ok(self.tree.get_or_init(|| tree))
    }
}

impl PartialEq for Root {
    fn eq(&self, other: &Self) -> bool {
        (&self.dir, &self.real, self.whole) == (&other.dir, &other.real, other.whole)
    }
}

impl Eq for Root {}

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path from the working directory.
    pub path: PathBuf,
    /// Its path below its root.
    pub relative: PathBuf,
    /// Its root.
    pub root: Arc<Root>,
    /// Its kind.
    pub kind: FileKind,
    /// Its size in bytes when it was found.
    pub size: u64,
    /// Whether a user starts it (`-l`).
    pub launch: bool,
}

impl SourceFile {
    /// Opens the file below its root. No link is followed.
    ///
    /// # Errors
    ///
    /// The file is gone, or no longer a regular file.
    pub fn open(&self) -> io::Result<File> {
        self.root.tree()?.open(&self.relative)
    }
}

/// Reason why a file is not read although its name selects it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// A symbolic link to something outside the root.
    LinkLeaves(PathBuf),
    /// A symbolic link to a missing file.
    LinkDangles,
    /// A named pipe, socket or device.
    NotRegular,
    /// Larger than the limit; its size in bytes.
    TooLarge(u64),
    /// It, or a directory, could not be read: the kind and the message of the error.
    Unreadable(io::ErrorKind, Text),
}

/// A file that is not read although its name selects it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its path.
    pub path: PathBuf,
    /// The reason.
    pub why: SkipReason,
}

/// Result of a walk.
#[derive(Debug, Default)]
pub struct WalkResult {
    /// The files to read, by root and path; every file once.
    pub files: Vec<SourceFile>,
    /// The skipped files, with the reasons.
    pub skipped: Vec<SkippedFile>,
    /// The searched directories and files, after patterns were resolved.
    pub roots: Vec<Arc<Root>>,
    /// Excludes that matched nothing.
    pub idle_excludes: Vec<String>,
}

/// Finds all files of `scope`.
pub fn walk(scope: &Scope) -> Result<WalkResult, WalkError> {
    walk_and(scope, &mut |_| ())
}

/// Like [`walk`], and passes each file to `each` as soon as it is found, in the same order, before
/// it is known whether it is one to launch.
pub fn walk_and(scope: &Scope, each: &mut dyn FnMut(&SourceFile)) -> Result<WalkResult, WalkError> {
    let mut roots = Vec::new();
    for root in &scope.roots {
        roots.extend(super::exclude::resolve_root(root)?);
    }
    let mut walk =
        Walk { scope, found: WalkResult::default(), seen: HashSet::new(), late: Vec::new(), each };
    let excludes = Excludes::new(&scope.exclude);
    for root in &roots {
        walk.root(root, &excludes)?;
    }
    walk.late();
    walk.found.idle_excludes = excludes.idle();
    walk.launch()?;
    Ok(walk.found)
}

/// The directories that contain the journals of `roots`: each directory, and those of files.
pub fn root_directories(roots: &[PathBuf]) -> Result<Vec<PathBuf>, WalkError> {
    let mut dirs = Vec::new();
    for root in roots {
        for path in super::exclude::resolve_root(root)? {
            let dir = if path.is_dir() {
                path
            } else {
                // A link to a file is followed, and the journal is next to the target.
                let linked = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
                let real = if linked { path.canonicalize().unwrap_or(path) } else { path };
                super::paths::parent_directory(&real).to_owned()
            };
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
    }
    Ok(dirs)
}

/// A link to a source, resolved after all other files are known.
struct DelayedLink {
    root: Arc<Root>,
    path: PathBuf,
    relative: PathBuf,
    target: PathBuf,
    kind: FileKind,
    meta: Metadata,
}

struct Walk<'a> {
    scope: &'a Scope,
    found: WalkResult,
    /// The real paths seen so far: roots may overlap.
    seen: HashSet<PathBuf>,
    /// Links to sources whose targets the walk may find separately.
    late: Vec<DelayedLink>,
    /// Called for each file.
    each: &'a mut dyn FnMut(&SourceFile),
}

impl Walk<'_> {
    fn root(&mut self, path: &Path, excludes: &Excludes) -> Result<(), WalkError> {
        let failed = |error| WalkError::Unreadable(path.to_owned(), error);
        let meta = path.metadata().map_err(failed)?;
        let real = path.canonicalize().map_err(failed)?;
        if !meta.is_dir() {
            return self.single(path, &real, &meta);
        }
        let root = self.add_root(Root::new(path, real, true));
        root.tree().map_err(failed)?;
        let refused = Refused::default();
        let walk = builder(&root, self.scope, excludes, &refused)?.build();
        for entry in walk {
            match entry {
                Ok(entry) => {
                    if let Ok(relative) = entry.path().strip_prefix(path)
                        && !entry.file_type().is_some_and(|kind| kind.is_dir())
                    {
                        self.entry(&root, &entry, relative);
                    }
                }
                Err(error) => self.unreadable(path, &error),
            }
        }
        for (path, why) in refused.take() {
            self.skip(&path, why);
        }
        Ok(())
    }

    fn add_root(&mut self, root: Root) -> Arc<Root> {
        if let Some(known) = self.found.roots.iter().find(|known| ***known == root) {
            return Arc::clone(known);
        }
        let root = Arc::new(root);
        self.found.roots.push(Arc::clone(&root));
        root
    }

    /// Adds a file that the user named: neither ignore files nor excludes apply to it.
    fn single(&mut self, path: &Path, real: &Path, meta: &Metadata) -> Result<(), WalkError> {
        if !meta.is_file() {
            return Err(WalkError::NotRegular(path.to_owned()));
        }
        // A link is replaced by its target: renaming over it would turn it into a copy.
        let path = if path.is_symlink() { real } else { path };
        let dir = match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir,
            _ => Path::new("."),
        };
        let real_dir = real.parent().unwrap_or(Path::new("/")).to_owned();
        let name = path.file_name().unwrap_or_default();
        let root = self.add_root(Root::new(dir, real_dir, false));
        root.tree().map_err(|error| WalkError::Unreadable(path.to_owned(), error))?;
        let kind = kind_of(path, name).ok_or_else(|| WalkError::UnknownKind(path.to_owned()))?;
        self.file(&root, path, Path::new(name), kind, meta);
        Ok(())
    }

    fn entry(&mut self, root: &Arc<Root>, entry: &DirEntry, relative: &Path) {
        let path = entry.path();
        let Some(kind) = entry.file_type() else { return };
        if kind.is_symlink() {
            self.link(root, path, relative);
        } else if !kind.is_file() {
            if FileKind::of_name(&entry.file_name().to_string_lossy()).is_some() {
                self.skip(path, SkipReason::NotRegular);
            }
        } else if let Some(kind) = kind_of(path, entry.file_name())
            && self.scope.kinds.contains(&kind)
        {
            match entry.metadata() {
                Ok(meta) => self.file(root, path, relative, kind, &meta),
                Err(error) => self.unreadable(path, &error),
            }
        }
    }

    /// Handles a link. A target inside the root is found by the walk itself; a target outside must
    /// not be written, and is read only if requested.
    fn link(&mut self, root: &Arc<Root>, path: &Path, relative: &Path) {
        let source = self.kind_by_name(path);
        let Ok(target) = path.canonicalize() else {
            if source.is_some() {
                self.skip(path, SkipReason::LinkDangles);
            }
            return;
        };
        let inside = target.starts_with(&root.real);
        if self.scope.linked_files
            && let Some(kind) = source
            && let Ok(meta) = target.metadata()
            && meta.is_file()
        {
            if inside && self.kind_by_name(&target).is_some() {
                // Unless the target itself is excluded, which is known at the end.
                let (root, path, relative) =
                    (Arc::clone(root), path.to_owned(), relative.to_owned());
                self.late.push(DelayedLink { root, path, relative, target, kind, meta });
            } else {
                self.file_at(root, path, relative, target, kind, &meta);
            }
        } else if !inside && (source.is_some() || target.is_dir()) {
            self.skip(path, SkipReason::LinkLeaves(target));
        }
    }

    /// Adds the links whose targets were not found otherwise.
    fn late(&mut self) {
        for DelayedLink { root, path, relative, target, kind, meta } in
            std::mem::take(&mut self.late)
        {
            self.file_at(&root, &path, &relative, target, kind, &meta);
        }
    }

    /// The kind for a file name, if files of this kind are selected.
    fn kind_by_name(&self, path: &Path) -> Option<FileKind> {
        let kind = FileKind::of_name(&path.file_name()?.to_string_lossy())?;
        self.scope.kinds.contains(&kind).then_some(kind)
    }

    fn file(
        &mut self,
        root: &Arc<Root>,
        path: &Path,
        relative: &Path,
        kind: FileKind,
        meta: &Metadata,
    ) {
        // Without links in between, the path below the real root is the real path.
        self.file_at(root, path, relative, root.real.join(relative), kind, meta);
    }

    /// Adds a file with a known real path.
    fn file_at(
        &mut self,
        root: &Arc<Root>,
        path: &Path,
        relative: &Path,
        real: PathBuf,
        kind: FileKind,
        meta: &Metadata,
    ) {
        if !self.seen.insert(real) {
            return;
        }
        if meta.len() > self.scope.max_size {
            self.skip(path, SkipReason::TooLarge(meta.len()));
            return;
        }
        let file = SourceFile {
            path: path.to_owned(),
            relative: relative.to_owned(),
            root: Arc::clone(root),
            kind,
            size: meta.len(),
            launch: false,
        };
        (self.each)(&file);
        self.found.files.push(file);
    }

    fn skip(&mut self, path: &Path, why: SkipReason) {
        self.found.skipped.push(SkippedFile { path: path.to_owned(), why });
    }

    fn unreadable(&mut self, root: &Path, error: &ignore::Error) {
        let (path, cause) = place_and_cause(error);
        let why = SkipReason::Unreadable(cause.kind(), cause.value());
        self.skip(path.unwrap_or(root), why);
    }

    /// Marks the launch files.
    fn launch(&mut self) -> Result<(), WalkError> {
        for launch in &self.scope.launch {
            let meta = launch.metadata().map_err(|_| WalkError::NoLaunch(launch.clone()))?;
            if !meta.is_file() {
                return Err(WalkError::NoLaunch(launch.clone()));
            }
            let real = launch
                .canonicalize()
                .map_err(|error| WalkError::Unreadable(launch.clone(), error))?;
            let file = self
                .found
                .files
                .iter_mut()
                .find(|file| file.root.real.join(&file.relative) == real)
                .ok_or_else(|| WalkError::LaunchOutside(launch.clone()))?;
            file.launch = true;
        }
        Ok(())
    }
}

/// The path at which a walk failed, and the reason.
fn place_and_cause(error: &ignore::Error) -> (Option<&Path>, io::Error) {
    let mut place = None;
    let mut inner = error;
    loop {
        match inner {
            ignore::Error::WithPath { path, err } => {
                place = Some(path.as_path());
                inner = err;
            }
            ignore::Error::WithDepth { err, .. } => inner = err,
            ignore::Error::Io(error) => return (place, walk_error::behind(error)),
            other => return (place, io::Error::other(other.to_string())),
        }
    }
}

/// An entry of a tree.
#[derive(Debug)]
pub struct Entry {
    /// Its path below the root; empty for the root itself.
    pub relative: PathBuf,
    /// Its file type.
    pub kind: FileType,
}

/// All entries of any type below `root`; directories come before their content.
pub fn everything(root: &Root, scope: &Scope) -> Result<Vec<Entry>, WalkError> {
    let nothing = Excludes::new(&[]);
    let refused = Refused::default();
    let mut entries = Vec::new();
    for entry in builder(root, scope, &nothing, &refused)?.build() {
        let entry = entry.map_err(|error| {
            let (path, cause) = place_and_cause(&error);
            WalkError::Unreadable(path.unwrap_or(&root.dir).to_owned(), cause)
        })?;
        if let (Ok(relative), Some(kind)) =
            (entry.path().strip_prefix(&root.dir), entry.file_type())
        {
            entries.push(Entry { relative: relative.to_owned(), kind });
        }
    }
    match refused.take().into_iter().next() {
        Some((path, _)) => Err(WalkError::NotRegular(path)),
        None => Ok(entries),
    }
}

/// Files of patterns that must not be opened: their directories are skipped.
#[derive(Debug, Clone, Default)]
struct Refused(Arc<Mutex<Vec<(PathBuf, SkipReason)>>>);

impl Refused {
    /// Whether a directory may be entered.
    fn admits(&self, dir: &Path) -> bool {
        let Some(refused) = ignore_files::refuse(dir) else { return true };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(refused);
        false
    }

    fn take(&self) -> Vec<(PathBuf, SkipReason)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn builder(
    root: &Root,
    scope: &Scope,
    excludes: &Excludes,
    refused: &Refused,
) -> Result<WalkBuilder, WalkError> {
    let mut builder = WalkBuilder::new(&root.dir);
    builder.standard_filters(false).follow_links(false).sort_by_file_name(OsStr::cmp);
    if scope.ignore_files {
        // Ignore files above the root count if one repository contains both.
        let in_git = root.real.ancestors().any(|dir| dir.join(".git").symlink_metadata().is_ok());
        // The walk opens those of the root before it filters entries.
        let above = if in_git { usize::MAX } else { 1 };
        let first = root.real.ancestors().take(above).find_map(ignore_files::refuse);
        if let Some((path, _)) = first {
            return Err(WalkError::NotRegular(path));
        }
        builder.git_ignore(true).ignore(true).git_exclude(true).require_git(false).parents(in_git);
    }
    let filter = excludes.below(&root.dir)?;
    let top = root.dir.clone();
    let (refused, reads_patterns) = (refused.clone(), scope.ignore_files);
    builder.filter_entry(move |entry| {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let relative = entry.path().strip_prefix(&top).unwrap_or(entry.path());
        if entry.depth() == 0 {
            return true;
        }
        if is_dir && is_foreign(entry) || filter.excludes(relative, is_dir) {
            return false;
        }
        !is_dir || !reads_patterns || refused.admits(entry.path())
    });
    Ok(builder)
}

/// Whether a directory below a root contains third-party or generated files.
fn is_foreign(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    NEVER.iter().chain(INSTALLED).any(|never| name == *never)
        || entry.path().join("pyvenv.cfg").exists()
}

/// The kind of a file, by its name, and for names without an extension by its first line.
fn kind_of(path: &Path, name: &OsStr) -> Option<FileKind> {
    let name = name.to_string_lossy();
    if let Some(kind) = FileKind::of_name(&name) {
        return Some(kind);
    }
    if name.contains('.') {
        return None;
    }
    let mut line = [0; 128];
    let mut file = open_regular(path).ok()?;
    let length = file.read(&mut line).ok()?;
    let end = line[..length].iter().position(|&byte| byte == b'\n').unwrap_or(length);
    FileKind::of_first_line(&line[..end])
}

#[cfg(test)]
mod tests;
