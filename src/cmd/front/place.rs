//! Inputs that are files or directories: detects their kind by name and first bytes.
#![expect(clippy::disallowed_methods, reason = "looks at files that the user named")]

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use super::{Found, InputType, Route};
use crate::cmd::bundle_reader::starts_bundle;

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

/// Detects the kind of a file by its name, even if it does not exist: "missing" is a better error
/// than "unknown".
pub(super) fn by_extension(name: &str) -> Option<Route> {
    if name.contains(char::is_whitespace) {
        return None;
    }
    let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    let (kind, command): (_, &'static [&'static str]) = match extension.as_str() {
        "whl" => (InputType::Wheel, &["manifest", "wheel-check"]),
        "pt" | "pt2" | "pth" | "onnx" | "safetensors" => (InputType::Model, &["audit-ops"]),
        "py" | "ipynb" | "cu" | "cuh" | "cpp" | "sh" => (InputType::Source, &["convert"]),
        _ => return None,
    };
    Some(Route::new(kind, command, name))
}

fn detect_file(path: &Path, name: &str) -> Route {
    if let Some(route) = by_extension(name) {
        return route;
    }
    let mut head = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    if starts_bundle(&head) {
        return Route::new(InputType::Bundle, &["triage"], name);
    }
    let head = if opened.is_ok() { String::from_utf8_lossy(&head) } else { "".into() };
    let start = head.trim_start();
    if start.starts_with('{') {
        let is = |schema: &str| {
            let spaced = format!("\"schema\": \"ascend-doctor/{schema}");
            start.contains(&spaced) || start.contains(&spaced.replace(": ", ":"))
        };
        if is("facts/") {
            return Route::new(InputType::Facts, &["check", "--facts"], name);
        }
        if is("") {
            return Route::new(InputType::Report, &["report"], name);
        }
        if start.contains("\"traceEvents\"") {
            return Route::new(InputType::Model, &["audit-ops"], name);
        }
    }
    if super::issue::is_issue(&head) {
        return Route::new(InputType::Issue, &["triage"], name);
    }
    // Without these options, a file with the name of a code would be read as that code.
    let command: &'static [&'static str] = if errcodes::answer(name).is_known() {
        &["translate-error", "--as", "file"]
    } else {
        &["translate-error"]
    };
    Route::new(InputType::Log, command, name)
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
