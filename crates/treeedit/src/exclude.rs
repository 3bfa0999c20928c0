//! Patterns of the user: roots to search, and paths to exclude.
#![expect(
    clippy::disallowed_methods,
    reason = "looks into the tree that is converted; no machine is examined"
)]

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::walk_failure::WalkError;

const WILD: &[char] = &['*', '?', '[', '{'];

/// The files and directories that one `-r` selects, in order.
pub(crate) fn resolve_root(root: &Path) -> Result<Vec<PathBuf>, WalkError> {
    match root.symlink_metadata() {
        Ok(_) => return Ok(vec![root.to_owned()]),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(WalkError::Unreadable(root.to_owned(), error));
        }
        Err(_) => {}
    }
    let wild = |part: &Component<'_>| matches!(part, Component::Normal(name) if name.to_string_lossy().contains(WILD));
    if !root.components().any(|part| wild(&part)) {
        return Err(WalkError::NoRoot(root.to_owned()));
    }
    let fixed: PathBuf = root.components().take_while(|part| !wild(part)).collect();
    let base = if fixed.as_os_str().is_empty() { PathBuf::from(".") } else { fixed.clone() };
    let pattern = root.strip_prefix(&fixed).unwrap_or(root).to_string_lossy().into_owned();
    let matcher = matcher(&base, &[&format!("/{pattern}")])?;
    let mut found = Vec::new();
    collect(&base, Path::new(""), &matcher, &mut found);
    if found.is_empty() { Err(WalkError::NoMatch(root.to_owned())) } else { Ok(found) }
}

/// Collects all matches below `base`; a matching directory is taken with its content.
fn collect(base: &Path, relative: &Path, matcher: &Gitignore, found: &mut Vec<PathBuf>) {
    let Ok(entries) = base.join(relative).read_dir() else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let relative = relative.join(entry.file_name());
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if matcher.matched(&relative, is_dir).is_ignore() {
            found.push(base.join(relative));
        } else if is_dir {
            collect(base, &relative, matcher, found);
        }
    }
}

fn matcher(base: &Path, patterns: &[&str]) -> Result<Gitignore, WalkError> {
    let mut builder = GitignoreBuilder::new(base);
    let bad = |pattern: &str, error: &ignore::Error| {
        WalkError::Pattern(pattern.to_owned(), error.to_string())
    };
    for pattern in patterns {
        builder.add_line(None, pattern).map_err(|error| bad(pattern, &error))?;
    }
    builder.build().map_err(|error| bad(&patterns.join(","), &error))
}

/// The excludes of `-e`. Each is, in this order: an existing file or directory, relative to the
/// working directory or to the root; else a pattern as in a `.gitignore`.
#[derive(Debug)]
pub(crate) struct Excludes(Vec<Item>);

#[derive(Debug)]
struct Item {
    text: String,
    /// Whether it excluded anything.
    used: Arc<AtomicBool>,
}

impl Item {
    fn pattern(&self) -> &str {
        self.text.trim_start_matches("./")
    }
}

/// The excludes for one root.
#[derive(Debug)]
pub(crate) struct Filter {
    /// Files and directories, below the root.
    exact: Vec<(PathBuf, Arc<AtomicBool>)>,
    patterns: Gitignore,
    /// The excludes of the patterns.
    behind: Vec<(String, Arc<AtomicBool>)>,
}

impl Excludes {
    /// Parses each argument as one exclude, or as several separated by commas.
    pub(crate) fn new(arguments: &[String]) -> Self {
        let texts = arguments.iter().flat_map(|argument| {
            if Path::new(argument).symlink_metadata().is_ok() {
                vec![argument.as_str()]
            } else {
                split(argument)
            }
        });
        let items = texts.map(str::trim).filter(|text| !text.is_empty());
        Self(items.map(|text| Item { text: text.to_owned(), used: Arc::default() }).collect())
    }

    /// The filter for the files below `dir`.
    pub(crate) fn below(&self, dir: &Path) -> Result<Filter, WalkError> {
        let real = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let mut exact = Vec::new();
        let mut behind = Vec::new();
        for item in &self.0 {
            let from_here = Path::new(&item.text)
                .canonicalize()
                .ok()
                .and_then(|path| path.strip_prefix(&real).ok().map(Path::to_owned))
                .filter(|path| !path.as_os_str().is_empty());
            let trimmed = item.pattern().trim_end_matches('/');
            let from_root = || {
                (!trimmed.is_empty() && dir.join(trimmed).symlink_metadata().is_ok())
                    .then(|| PathBuf::from(trimmed))
            };
            match from_here.or_else(from_root) {
                Some(path) => exact.push((path, Arc::clone(&item.used))),
                None => behind.push((item.pattern().to_owned(), Arc::clone(&item.used))),
            }
        }
        let texts: Vec<&str> = behind.iter().map(|(text, _)| text.as_str()).collect();
        Ok(Filter { exact, patterns: matcher(Path::new(""), &texts)?, behind })
    }

    /// The excludes that matched nothing, which are probably mistyped.
    pub(crate) fn idle(self) -> Vec<String> {
        let idle = self.0.into_iter().filter(|item| !item.used.load(Ordering::Relaxed));
        idle.map(|item| item.text).collect()
    }
}

impl Filter {
    /// Whether `relative`, a path below the root, is excluded.
    pub(crate) fn excludes(&self, relative: &Path, is_dir: bool) -> bool {
        if let Some((_, used)) = self.exact.iter().find(|(path, _)| path == relative) {
            used.store(true, Ordering::Relaxed);
            return true;
        }
        let Match::Ignore(glob) = self.patterns.matched(relative, is_dir) else { return false };
        for (text, used) in &self.behind {
            if text == glob.original() {
                used.store(true, Ordering::Relaxed);
            }
        }
        true
    }
}

/// Splits at commas that are not inside braces.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
