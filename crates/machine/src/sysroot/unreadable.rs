//! Paths without read permission: files below them seem to be missing, but may exist.

use std::collections::{BTreeMap, BTreeSet};

use super::resolve::LocatedFile;
use super::{LIST_LIMIT, ReadError, Sysroot};
use facts::UnreadablePath;

/// Maximum number of links that are followed on the way to an unreadable directory.
const LINKS: usize = 40;

impl Sysroot {
    /// Finds the file at `path`. Paths that were unreadable while a recording was made are
    /// unreadable in the recording too.
    pub(super) fn look(&self, path: &str, follow: bool) -> Result<LocatedFile, ReadError> {
        let found = self.resolver.find(path, follow);
        match found {
            Err(ReadError::NotFound | ReadError::NotDirectory) if self.is_behind(path) => {
                Err(ReadError::Denied)
            }
            found => found,
        }
    }

    /// Returns whether `real`, a path without links, was unreadable during the recording.
    pub(super) fn was_denied(&self, real: &str) -> bool {
        self.nodes.as_ref().is_some_and(|nodes| nodes.denies(real))
    }

    /// Returns whether an unreadable directory of the recording is on the way to `path`.
    fn is_behind(&self, path: &str) -> bool {
        if self.nodes.is_none() {
            return false;
        }
        let ends = path.rmatch_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
        let known = ends.into_iter().find_map(|end| self.resolver.find(&path[..end], true).ok());
        self.was_denied(path) || known.is_some_and(|found| self.was_denied(&found.real))
    }

    /// Records `path` if access was denied, because the caller may treat the file as missing.
    pub(super) fn note_denied<T>(
        &self,
        path: &str,
        result: Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        if matches!(result, Err(ReadError::Denied))
            && let Ok(mut denied) = self.denied.lock()
            && denied.len() < LIST_LIMIT
        {
            denied.insert(path.to_owned());
        }
        result
    }

    /// Lists the paths that denied access to a requested file, each one once.
    pub fn unreadable_paths(&self) -> Vec<UnreadablePath> {
        let denied = self.denied.lock().map(|denied| denied.clone()).unwrap_or_default();
        let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in denied {
            let above = self.find_denied_parent(&path).unwrap_or_else(|| path.clone());
            let real = self.barrier(&path).or_else(|| Some(self.look(&path, true).ok()?.real));
            places.entry(real.unwrap_or(path)).or_default().insert(above);
        }
        let place = |(real, names): (String, BTreeSet<String>)| UnreadablePath {
            names: names.into_iter().filter(|name| *name != real).collect(),
            real,
        };
        places.into_iter().map(place).collect()
    }

    /// Returns the directory without search permission on the way to `path`, without links.
    pub(super) fn barrier(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            let above = self.find_denied_parent(&path)?;
            let Err(ReadError::Denied) = self.look(&above, true) else {
                return Some(self.look(&above, true).map_or(above, |found| found.real));
            };
            // A link to the unreadable directory, or to a path below it.
            let link = self.look(&above, false).ok()?;
            let target = link.target().ok()?;
            path = if target.starts_with('/') {
                target
            } else {
                format!("{}/{target}", link.real.rsplit_once('/').map_or("", |(dir, _)| dir))
            };
        }
        None
    }

    /// Returns the last readable part of `path`, unless all of `path` is readable.
    fn find_denied_parent(&self, path: &str) -> Option<String> {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        let mut above = "/";
        for end in ends {
            let part = &path[..end];
            if matches!(self.look(part, false), Err(ReadError::Denied)) {
                return Some(above.to_owned());
            }
            above = part;
        }
        // The last part may be a link to an unreadable directory.
        matches!(self.look(path, true), Err(ReadError::Denied)).then(|| path.to_owned())
    }
}
