//! Links to files in an audited directory. A snapshot in the Hugging Face cache consists of links
//! whose targets are outside of the snapshot.
#![expect(clippy::disallowed_methods, reason = "looks where links of what the user named lead")]

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use audit::python;

/// The links of one walk over a directory.
pub(super) struct Links {
    /// The directory, with all links resolved.
    root: Option<PathBuf>,
    /// The targets of the links that were read.
    seen: HashSet<PathBuf>,
}

impl Links {
    pub(super) fn of(dir: &Path) -> Self {
        Self { root: dir.canonicalize().ok(), seen: HashSet::new() }
    }

    /// Whether a link leads to a file that neither the walk nor another link reaches.
    ///
    /// # Errors
    ///
    /// If the link is broken, or this user has no access to its target.
    pub(super) fn leads_to_another(&mut self, link: &Path) -> io::Result<bool> {
        let target = link.canonicalize()?;
        Ok(target.metadata()?.is_file() && !self.is_met(&target) && self.seen.insert(target))
    }

    /// Whether the walk reaches a file without links.
    fn is_met(&self, target: &Path) -> bool {
        let below = self.root.as_ref().and_then(|root| target.strip_prefix(root).ok());
        below.is_some_and(|below| !below.iter().any(is_hidden)) && !python::is_source(target)
    }
}

/// Whether a name begins with a dot: such files are skipped.
pub(super) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}
