//! The converted tree as a copy (`--output-dir DIR`): the input stays unchanged. All writes go
//! through open directories below the output, see [`guard::dir`].
#![expect(
    clippy::disallowed_methods,
    reason = "compares the output with the roots; no machine is examined"
)]

use data::{Fault, faults};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use guard::dir::{Dir, names};
use guard::named;
use rustix::fs::{FileType, Mode};

use super::plan::{Plan, PlannedFile};
use treeedit::paths::parent_directory;
use treeedit::walk::{Root, Scope, WalkError, WalkResult, everything};

/// The reason why the tree was not copied.
#[derive(Debug)]
pub enum CopyError {
    /// The output already exists and is not empty.
    NotEmpty(PathBuf),
    /// The output is inside the tree to copy.
    Inside(PathBuf),
    /// The output contains the tree to copy.
    Around(PathBuf),
    /// Two roots would be copied to the same place.
    SameName(PathBuf),
    /// Reading or writing failed.
    Io(PathBuf, io::Error),
    /// Walking the tree failed.
    Walk(WalkError),
}

impl CopyError {
    /// The error as shown to users.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NotEmpty(path) => faults::NotEmpty { path }.fault(),
            Self::Inside(path) => faults::InsideRoot { path }.fault(),
            Self::Around(path) => faults::ContainsRoot { path }.fault(),
            Self::SameName(path) => faults::RootsOfOneName { path }.fault(),
            Self::Io(path, why) => faults::PathBecause { path, why }.fault(),
            Self::Walk(error) => error.fault(),
        }
    }
}

data::impl_fault!(CopyError);

impl From<WalkError> for CopyError {
    fn from(error: WalkError) -> Self {
        Self::Walk(error)
    }
}

/// Copies everything below the roots of `found` to `output`, with the new contents of `plan`. If
/// the output does not exist yet, the copy appears completely or not at all. Returns the number of
/// written files.
pub fn copy(
    scope: &Scope,
    found: &WalkResult,
    plan: &Plan,
    output: &Path,
    force: bool,
) -> Result<usize, CopyError> {
    let io = |path: &Path, error| CopyError::Io(path.to_owned(), error);
    let parent = parent_directory(output);
    let place = named::open_or_create_dir(parent, 0o777).map_err(|error| io(parent, error))?;
    let real_parent = parent.canonicalize().map_err(|error| io(parent, error))?;
    let real = match output.canonicalize() {
        Ok(real) => real,
        Err(_) => real_parent.join(output.file_name().unwrap_or_default()),
    };
    for root in &found.roots {
        if real.starts_with(&root.real) {
            return Err(CopyError::Inside(output.to_owned()));
        }
        if root.real.starts_with(&real) {
            return Err(CopyError::Around(output.to_owned()));
        }
    }
    let empty = match output.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(io(output, error)),
    };
    if !empty && !force {
        return Err(CopyError::NotEmpty(output.to_owned()));
    }
    let places = places(found)?;
    let changed: HashMap<&Path, &PlannedFile> =
        plan.files.iter().map(|file| (file.file.path.as_path(), file)).collect();
    if !empty || output.file_name().is_none() {
        let dir = named::open_dir(output).map_err(|error| io(output, error))?;
        return fill(scope, found, &places, &changed, &Output { dir: &dir, shown: output });
    }
    let name = output.file_name().unwrap_or_default();
    let (temporary, building) =
        place.create_temporary_dir(".ascend-doctor-", 0o700).map_err(|error| io(output, error))?;
    let filled = fill(scope, found, &places, &changed, &Output { dir: &building, shown: output });
    let written = filled.and_then(|written| {
        building.set_mode(0o755).map_err(|error| io(output, error))?;
        // Replaces an empty directory; fails if files were added during this time.
        place.rename(&temporary, name).map_err(|error| io(output, error))?;
        Ok(written)
    });
    if written.is_err() {
        let _ = place.remove_all(&temporary);
    }
    written
}

/// Where each root goes below the output: one root is the output itself.
fn places(found: &WalkResult) -> Result<Vec<(Arc<Root>, PathBuf)>, CopyError> {
    if let [root] = found.roots.as_slice() {
        return Ok(vec![(Arc::clone(root), PathBuf::new())]);
    }
    let mut places: Vec<(Arc<Root>, PathBuf)> = Vec::new();
    for root in &found.roots {
        let name = PathBuf::from(root.real.file_name().map_or_else(OsString::new, OsString::from));
        if places.iter().any(|(_, known)| *known == name) {
            return Err(CopyError::SameName(name));
        }
        places.push((Arc::clone(root), name));
    }
    Ok(places)
}

/// The directory to fill.
struct Output<'a> {
    dir: &'a Dir,
    /// Its name in errors.
    shown: &'a Path,
}

fn fill(
    scope: &Scope,
    found: &WalkResult,
    places: &[(Arc<Root>, PathBuf)],
    changed: &HashMap<&Path, &PlannedFile>,
    output: &Output<'_>,
) -> Result<usize, CopyError> {
    let mut written = 0;
    for (root, place) in places {
        if !root.whole {
            let named = found.files.iter().filter(|file| file.root == *root);
            for source in named {
                let to = place.join(&source.relative);
                let planned = changed.get(source.path.as_path()).copied();
                output.write_file(root, &source.relative, &to, planned)?;
                written += 1;
            }
            continue;
        }
        // Exclusion patterns select the files to convert; a copy without the excluded files would
        // not run.
        for entry in everything(root, scope)? {
            let to = place.join(&entry.relative);
            let from = root.dir.join(&entry.relative);
            let kind = entry.kind;
            // A root itself may be a symlink.
            if kind.is_dir() || entry.relative.as_os_str().is_empty() {
                let source = root.tree().and_then(|tree| tree.dir(&entry.relative));
                let stat = source.and_then(|dir| dir.own_stat()).map_err(of(&from))?;
                // Without write permission, the copy of a read-only directory could not be filled.
                let mode = stat.st_mode & 0o7777 | 0o700;
                let dir = output.dir(&to)?;
                dir.set_mode(mode).map_err(of(&output.shown.join(&to)))?;
            } else if kind.is_symlink() {
                let place = root.tree().and_then(|tree| tree.place(&entry.relative));
                let target = place.and_then(|place| place.dir.read_link(&place.name));
                output.write_link(&target.map_err(of(&from))?, &to)?;
            } else if kind.is_file() {
                written += 1;
                let planned = changed.get(from.as_path()).copied();
                output.write_file(root, &entry.relative, &to, planned)?;
            }
        }
    }
    Ok(written)
}

/// Returns a function that wraps an error of this path: errors of reading and of writing name
/// different paths.
fn of(path: &Path) -> impl Fn(io::Error) -> CopyError + '_ {
    |error| CopyError::Io(path.to_owned(), error)
}

impl Output<'_> {
    /// Opens or creates a directory of the output. Replaces symlinks below the output (of an
    /// earlier copy or of other users), because they may lead out of it.
    fn dir(&self, relative: &Path) -> Result<Dir, CopyError> {
        let shown = self.shown.join(relative);
        let open = || {
            let mut dir = self.dir.duplicate()?;
            for name in names(relative)? {
                if dir.kind(name) == Some(FileType::Symlink) {
                    dir.remove_file(name)?;
                }
                dir = dir.enter_or_create(name, 0o777)?;
            }
            Ok(dir)
        };
        open().map_err(of(&shown))
    }

    /// The directory and the name of an entry of the output; removes an existing entry of that
    /// name.
    fn free_place<'a>(&self, to: &'a Path) -> Result<(Dir, &'a OsStr), CopyError> {
        let dir = self.dir(to.parent().unwrap_or(Path::new("")))?;
        let name = to.file_name().unwrap_or_default();
        dir.remove_if_present(name).map_err(of(&self.shown.join(to)))?;
        Ok((dir, name))
    }

    fn write_file(
        &self,
        root: &Root,
        from: &Path,
        to: &Path,
        planned: Option<&PlannedFile>,
    ) -> Result<(), CopyError> {
        // Opens the source before anything is removed.
        let source = root.tree().and_then(|tree| tree.open(from));
        let mut source: File = source.map_err(of(&root.dir.join(from)))?;
        let shown = self.shown.join(to);
        let (dir, name) = self.free_place(to)?;
        let mut target = dir.create_new(name, 0o600).map_err(of(&shown))?;
        if let Some(after) = planned.and_then(|planned| planned.after.as_ref()) {
            target.write_all(after).map_err(of(&shown))?;
        } else {
            // Reading an open file seldom fails; writing to a full disk often does.
            io::copy(&mut source, &mut target).map_err(of(&shown))?;
        }
        let mode = rustix::fs::fstat(&source).map(|stat| stat.st_mode & 0o7777);
        mode.and_then(|mode| rustix::fs::fchmod(&target, Mode::from_raw_mode(mode)))
            .map_err(|errno| of(&shown)(errno.into()))
    }

    fn write_link(&self, target: &Path, to: &Path) -> Result<(), CopyError> {
        let (dir, name) = self.free_place(to)?;
        dir.symlink(target, name).map_err(of(&self.shown.join(to)))
    }
}
