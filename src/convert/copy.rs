//! The converted tree as a copy (`--output-dir DIR`): the input is not touched.
#![expect(
    clippy::disallowed_methods,
    reason = "reads and writes the tree that is converted; no machine is examined"
)]

use data::{Fault, faults};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan::{Plan, PlannedFile};
use treeedit::paths::parent_directory;
use treeedit::walk::{Root, Scope, WalkError, WalkResult, everything};

/// Why no copy was made.
#[derive(Debug)]
pub enum CopyError {
    /// There is something already.
    NotEmpty(PathBuf),
    /// The copy would be made inside what is copied.
    Inside(PathBuf),
    /// The copy would be made over what is copied.
    Around(PathBuf),
    /// Two roots would be copied to one place.
    SameName(PathBuf),
    /// Reading or writing failed.
    Io(PathBuf, io::Error),
    /// Walking the tree failed.
    Walk(WalkError),
}

impl CopyError {
    /// The error as users read it.
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

/// Copies everything below the roots of `found` to `output`, with the new contents of `plan`.
/// Where nothing is yet, the copy appears as a whole or not at all. Returns how many files were
/// written.
pub fn copy(
    scope: &Scope,
    found: &WalkResult,
    plan: &Plan,
    output: &Path,
    force: bool,
) -> Result<usize, CopyError> {
    let io = |path: &Path, error| CopyError::Io(path.to_owned(), error);
    let parent = parent_directory(output);
    std::fs::create_dir_all(parent).map_err(|error| io(parent, error))?;
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
    if !empty {
        return fill(scope, found, &places, &changed, output);
    }
    // The library tells the name that was to be made, too, which says nothing to anybody.
    let cause = |error: io::Error| {
        let words = error.to_string();
        let words = words.split(" at path ").next().unwrap_or_default();
        io::Error::new(error.kind(), words)
    };
    let building = tempfile::Builder::new()
        .prefix(".ascend-doctor-")
        .tempdir_in(parent)
        .map_err(|error| io(output, cause(error)))?;
    let written =
        fill(scope, found, &places, &changed, building.path()).map_err(|error| match error {
            // What is built appears under the name of the output.
            CopyError::Io(path, error) => match path.strip_prefix(building.path()) {
                Ok(below) => io(&output.join(below), error),
                Err(_) => io(&path, error),
            },
            other => other,
        })?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(building.path(), mode).map_err(|error| io(output, error))?;
    // An empty directory is replaced; what came into it meanwhile makes this fail.
    std::fs::rename(building.path(), output).map_err(|error| io(output, error))?;
    let _ = building.keep();
    Ok(written)
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

fn fill(
    scope: &Scope,
    found: &WalkResult,
    places: &[(Arc<Root>, PathBuf)],
    changed: &HashMap<&Path, &PlannedFile>,
    output: &Path,
) -> Result<usize, CopyError> {
    let mut written = 0;
    for (root, place) in places {
        if !root.whole {
            let named = found.files.iter().filter(|file| file.root == *root);
            for source in named {
                let to = output.join(place).join(&source.relative);
                let planned = changed.get(source.path.as_path()).copied();
                file(&source.path, output, &to, planned)?;
                written += 1;
            }
            continue;
        }
        // Excludes say what is not converted; a copy without it would not run.
        for entry in everything(root, scope)? {
            let to = output.join(place).join(&entry.relative);
            let from = root.dir.join(&entry.relative);
            let kind = entry.kind;
            // A root may be a link itself.
            if kind.is_dir() || entry.relative.as_os_str().is_empty() {
                directory(output, &to)?;
                same_mode(&from, &to).map_err(of(&to))?;
            } else if kind.is_symlink() {
                let target = std::fs::read_link(&from).map_err(of(&from))?;
                directory(output, parent_directory(&to))?;
                link(&target, &to).map_err(of(&to))?;
            } else if kind.is_file() {
                written += 1;
                file(&from, output, &to, changed.get(from.as_path()).copied())?;
            }
        }
    }
    Ok(written)
}

/// An error of this path: what is read and what is written are told apart.
fn of(path: &Path) -> impl Fn(io::Error) -> CopyError + '_ {
    |error| CopyError::Io(path.to_owned(), error)
}

/// Makes a directory of the output. Links below it, of an earlier copy or somebody else's, give way:
/// they may lead out of it.
fn directory(output: &Path, dir: &Path) -> Result<(), CopyError> {
    let mut at = output.to_owned();
    for part in dir.strip_prefix(output).unwrap_or(Path::new("")) {
        at.push(part);
        if at.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
            std::fs::remove_file(&at).map_err(of(&at))?;
        }
    }
    std::fs::create_dir_all(dir).map_err(of(dir))
}

fn file(
    from: &Path,
    output: &Path,
    to: &Path,
    planned: Option<&PlannedFile>,
) -> Result<(), CopyError> {
    // Before anything is taken away.
    let mut source = File::open(from).map_err(of(from))?;
    directory(output, parent_directory(to))?;
    if to.symlink_metadata().is_ok() {
        std::fs::remove_file(to).map_err(of(to))?;
    }
    let mut target = File::create_new(to).map_err(of(to))?;
    if let Some(after) = planned.and_then(|planned| planned.after.as_ref()) {
        target.write_all(after).map_err(of(to))?;
    } else {
        // Reading what could be opened fails seldom; a disk that is full often.
        io::copy(&mut source, &mut target).map_err(of(to))?;
    }
    same_mode(from, to).map_err(of(to))
}

fn link(target: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        std::fs::remove_file(to)?;
    }
    symlink(target, to)
}

fn same_mode(from: &Path, to: &Path) -> io::Result<()> {
    let mut mode = from.metadata()?.permissions();
    if from.is_dir() {
        // Otherwise nothing could be put into a copy of a directory that is read-only.
        use std::os::unix::fs::PermissionsExt as _;
        mode.set_mode(mode.mode() | 0o700);
    }
    std::fs::set_permissions(to, mode)
}
