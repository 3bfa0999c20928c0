//! What may not be looked into, and so what seems to be absent and may be there.

use std::collections::{BTreeMap, BTreeSet};

use super::resolve::Found;
use super::{LIST_LIMIT, ReadError, Sysroot};
use facts::Closed;

/// Links on the way to a closed directory that are followed.
const LINKS: usize = 40;

impl Sysroot {
    /// What is at `path`; in a recording, what could not be seen when it was made still cannot.
    pub(super) fn look(&self, path: &str, follow: bool) -> Result<Found, ReadError> {
        let found = self.resolver.find(path, follow);
        match found {
            Err(ReadError::NotFound | ReadError::NotDirectory) if self.is_behind(path) => {
                Err(ReadError::Denied)
            }
            found => found,
        }
    }

    /// Whether the recording says that this, a path without links, could not be looked into.
    pub(super) fn was_denied(&self, real: &str) -> bool {
        self.nodes.as_ref().is_some_and(|nodes| nodes.denies(real))
    }

    /// Whether the way to `path` ends, in the recording, before what could not be looked into.
    fn is_behind(&self, path: &str) -> bool {
        if self.nodes.is_none() {
            return false;
        }
        let ends = path.rmatch_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
        let known = ends.into_iter().find_map(|end| self.resolver.find(&path[..end], true).ok());
        self.was_denied(path) || known.is_some_and(|found| self.was_denied(&found.real))
    }

    /// Keeps in mind that `path` may not be looked at: whoever asked may take it for absent.
    pub(super) fn noted<T>(
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

    /// What hid something that was asked for, each place once.
    pub fn closed(&self) -> Vec<Closed> {
        let denied = self.denied.lock().map(|denied| denied.clone()).unwrap_or_default();
        let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in denied {
            let above = self.above_closed(&path).unwrap_or_else(|| path.clone());
            let real = self.barrier(&path).or_else(|| Some(self.look(&path, true).ok()?.real));
            places.entry(real.unwrap_or(path)).or_default().insert(above);
        }
        let place = |(real, names): (String, BTreeSet<String>)| Closed {
            names: names.into_iter().filter(|name| *name != real).collect(),
            real,
        };
        places.into_iter().map(place).collect()
    }

    /// The directory that may not be searched, so that nothing is known of `path`; without links.
    pub(super) fn barrier(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            let above = self.above_closed(&path)?;
            let Err(ReadError::Denied) = self.look(&above, true) else {
                return Some(self.look(&above, true).map_or(above, |found| found.real));
            };
            // A link to what is closed, or to what is below.
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

    /// The last part of `path` of which something is known, if that is not all.
    fn above_closed(&self, path: &str) -> Option<String> {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        let mut above = "/";
        for end in ends {
            let part = &path[..end];
            if matches!(self.look(part, false), Err(ReadError::Denied)) {
                return Some(above.to_owned());
            }
            above = part;
        }
        // The last one may be a link to what is closed.
        matches!(self.look(path, true), Err(ReadError::Denied)).then(|| path.to_owned())
    }
}
