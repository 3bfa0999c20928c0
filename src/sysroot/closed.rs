//! What may not be looked into, and so what seems to be absent and may be there.

use std::collections::{BTreeMap, BTreeSet};

use super::{LIST_LIMIT, ReadError, Sysroot};
use crate::facts::Closed;

/// Links on the way to a closed directory that are followed.
const LINKS: usize = 40;

impl Sysroot {
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
            let real =
                self.barrier(&path).or_else(|| Some(self.resolver.find(&path, true).ok()?.real));
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
            let Err(ReadError::Denied) = self.resolver.find(&above, true) else {
                return Some(self.resolver.find(&above, true).map_or(above, |found| found.real));
            };
            // A link to what is closed, or to what is below.
            let link = self.resolver.find(&above, false).ok()?;
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
            if matches!(self.resolver.find(part, false), Err(ReadError::Denied)) {
                return Some(above.to_owned());
            }
            above = part;
        }
        // The last one may be a link to what is closed.
        matches!(self.resolver.find(path, true), Err(ReadError::Denied)).then(|| path.to_owned())
    }
}
