//! Symbolic links inside a root: absolute targets start at the root, `..` stops at it.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, RwLock};

use super::ReadError;

/// As many links as the kernel follows before it says `ELOOP`.
const MAX_LINKS: usize = 40;

/// Resolves logical paths (absolute, with `/`) to paths of the host, never leaving the root.
#[derive(Debug)]
pub(super) struct Resolver {
    root: PathBuf,
    directories: RwLock<HashMap<String, Result<String, ReadError>>>,
    links: Mutex<BTreeSet<String>>,
}

impl Resolver {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), directories: RwLock::default(), links: Mutex::default() }
    }

    /// Where the logical path `real`, already free of links, lies on the host.
    pub(super) fn host_path(&self, real: &str) -> PathBuf {
        self.root.join(real.trim_start_matches('/'))
    }

    /// The logical path without links in any component but, if `follow` is false, the last.
    pub(super) fn real(&self, path: &str, follow: bool) -> Result<String, ReadError> {
        let (parent, name) = split(path);
        if name.is_empty() || name == ".." {
            return self.walk(path, true);
        }
        let mut full = self.directory(parent)?;
        push(&mut full, name);
        if follow { self.finish(full) } else { Ok(full) }
    }

    /// All links that were followed so far, by logical path.
    pub(super) fn links_followed(&self) -> Vec<String> {
        self.links.lock().map(|links| links.iter().cloned().collect()).unwrap_or_default()
    }

    /// Follows the last component if it is a link.
    fn finish(&self, full: String) -> Result<String, ReadError> {
        match rustix::fs::lstat(self.host_path(&full)) {
            Ok(stat) if is_link(&stat) => self.walk(&full, true),
            Ok(_) => Ok(full),
            Err(errno) => Err(errno.into()),
        }
    }

    /// A directory's logical path without links; remembered, since the same few hundred
    /// directories hold all the thousands of files.
    fn directory(&self, path: &str) -> Result<String, ReadError> {
        if let Ok(known) = self.directories.read()
            && let Some(result) = known.get(path)
        {
            return result.clone();
        }
        let result = self.walk(path, true);
        if let Ok(mut known) = self.directories.write() {
            known.insert(path.to_owned(), result.clone());
        }
        result
    }

    fn walk(&self, path: &str, follow_last: bool) -> Result<String, ReadError> {
        let mut todo: VecDeque<String> = components(path).map(str::to_owned).collect();
        let mut real = String::new();
        let mut links = 0;
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                real.truncate(real.rfind('/').unwrap_or(0));
                continue;
            }
            let before = real.len();
            push(&mut real, &part);
            let host = self.host_path(&real);
            let stat = rustix::fs::lstat(&host)?;
            if !is_link(&stat) || (todo.is_empty() && !follow_last) {
                continue;
            }
            if let Ok(mut seen) = self.links.lock() {
                seen.insert(real.clone());
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(ReadError::Loop);
            }
            let target = rustix::fs::readlink(&host, Vec::new())?;
            let target = String::from_utf8_lossy(target.as_bytes()).into_owned();
            real.truncate(if target.starts_with('/') { 0 } else { before });
            for part in components(&target).collect::<Vec<_>>().into_iter().rev() {
                todo.push_front(part.to_owned());
            }
        }
        if real.is_empty() {
            real.push('/');
        }
        Ok(real)
    }
}

fn is_link(stat: &rustix::fs::Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Symlink
}

fn components(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

fn push(path: &mut String, name: &str) {
    if !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(name);
}

/// The parent and the last component of a logical path.
fn split(path: &str) -> (&str, &str) {
    let path = path.trim_end_matches('/');
    match path.rfind('/') {
        Some(0) => ("/", &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => ("/", path),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test builds the tree that is examined")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, Resolver) {
        let dir = tempfile::tempdir().unwrap();
        let resolver = Resolver::new(dir.path());
        (dir, resolver)
    }

    #[test]
    fn absolute_links_stay_inside() {
        let (dir, resolver) = tree();
        std::fs::create_dir_all(dir.path().join("usr/lib")).unwrap();
        std::fs::write(dir.path().join("usr/lib/a"), "x").unwrap();
        symlink("/usr/lib", dir.path().join("lib")).unwrap();
        assert_eq!(resolver.real("/lib/a", true).unwrap(), "/usr/lib/a");
    }

    #[test]
    fn dot_dot_stops_at_the_root() {
        let (dir, resolver) = tree();
        std::fs::write(dir.path().join("a"), "x").unwrap();
        symlink("../../../../../a", dir.path().join("up")).unwrap();
        assert_eq!(resolver.real("/up", true).unwrap(), "/a");
        assert_eq!(resolver.real("/../../a", true).unwrap(), "/a");
    }

    #[test]
    fn loops_end() {
        let (dir, resolver) = tree();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        assert_eq!(resolver.real("/a", true), Err(ReadError::Loop));
        assert_eq!(resolver.real("/a/x", true), Err(ReadError::Loop));
        assert_eq!(resolver.real("/a", false).unwrap(), "/a");
    }

    #[test]
    fn a_dangling_link_is_not_found() {
        let (dir, resolver) = tree();
        symlink("/nowhere/x", dir.path().join("a")).unwrap();
        assert_eq!(resolver.real("/a", true), Err(ReadError::NotFound));
    }
}
