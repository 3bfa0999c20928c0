//! Inputs that are files or directories: detects their kind by name and first bytes.
#![expect(clippy::disallowed_methods, reason = "looks at files that the user named")]

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use explain::input::{Found, InputType, Route, by_content, by_extension};

/// Number of bytes of a file to examine.
const HEAD: u64 = 64 << 10;
/// Maximum depth of a directory to examine.
const DEPTH: usize = 4;
/// Maximum number of entries of a directory to examine.
const ENTRIES: usize = 4000;

/// Detects the kind of the file or directory of this name; returns `None` if it does not exist, or
/// if it is a device or another file that must not be read.
pub(super) fn detect(name: &str) -> Option<Found> {
    let path = Path::new(name);
    let metadata = fs::metadata(path).ok()?;
    if metadata.is_dir() {
        return Some(detect_directory(path, name));
    }
    let pipe = name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/");
    match () {
        () if metadata.is_file() => Some(Found::One(detect_file(path, name))),
        () if pipe => Some(Found::One(Route::new(InputType::Log, &["translate-error"], name))),
        () => None,
    }
}

fn detect_file(path: &Path, name: &str) -> Route {
    if let Some(route) = by_extension(name) {
        return route;
    }
    let mut head = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    by_content(name, if opened.is_ok() { &head } else { &[] })
}

/// The contents of a directory.
#[derive(Debug, Default)]
struct Contents {
    /// Files of a source tree: Python, notebooks, CUDA.
    sources: usize,
    /// Logs and archives of logs.
    logs: usize,
    /// Whether it has files that only the root of a project has.
    project: bool,
    /// Whether it has the directories of a system root.
    root: bool,
}

fn detect_directory(path: &Path, name: &str) -> Found {
    let contents = look_into(path);
    let sources = Route::new(InputType::Source, &["convert"], name);
    let logs = Route::new(InputType::Log, &["translate-error"], name);
    match contents {
        Contents { root: true, .. } => {
            Found::One(Route::new(InputType::Root, &["check", "--sysroot"], name))
        }
        Contents { project: true, sources: 1.., .. } => Found::One(sources),
        Contents { sources: 1.., logs: 1.., .. } => Found::Two(sources, logs),
        Contents { sources: 1.., .. } => Found::One(sources),
        // `translate-error` reads any contents, and reports empty ones.
        _ => Found::One(logs),
    }
}

fn look_into(path: &Path) -> Contents {
    let mut contents = Contents {
        root: path.join("etc").is_dir()
            && (path.join("usr").is_dir() || path.join("proc").is_dir()),
        ..Contents::default()
    };
    let walk = walkdir::WalkDir::new(path).max_depth(DEPTH).sort_by_file_name();
    let hidden = |entry: &walkdir::DirEntry| {
        entry.depth() > 1 && entry.file_name().to_string_lossy().starts_with('.')
    };
    let entries = walk.into_iter().filter_entry(|entry| !hidden(entry));
    for entry in entries.flatten().take(ENTRIES) {
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        let top = entry.depth() == 1;
        let marks =
            [".git", "setup.py", "pyproject.toml", "requirements.txt", "setup.cfg", "dockerfile"];
        contents.project |= top && marks.contains(&name.as_str());
        if !entry.file_type().is_file() {
            continue;
        }
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if ends(&[".py", ".ipynb", ".cu", ".cuh"]) {
            contents.sources += 1;
        } else if ends(&[".log", ".log.gz", ".out", ".err", ".tar.gz", ".tgz", ".zip"])
            || name.starts_with("plog-")
        {
            contents.logs += 1;
        }
    }
    contents
}
