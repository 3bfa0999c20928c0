//! Links to files in a directory that is audited: a snapshot of Hugging Face's cache consists of
//! them, and what they name lies beside it.
#![expect(clippy::disallowed_methods, reason = "looks where links of what the user named lead")]

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use audit::python;

/// The links of one walk over a directory.
pub(super) struct Links {
    /// The directory, without links on the way.
    root: Option<PathBuf>,
    /// Where those led that were read.
    seen: HashSet<PathBuf>,
}

impl Links {
    pub(super) fn of(dir: &Path) -> Self {
        Self { root: dir.canonicalize().ok(), seen: HashSet::new() }
    }

    /// Whether a link leads to a file that neither the walk nor another link meets.
    ///
    /// # Errors
    ///
    /// Where it leads to nothing, or to what this user may not see.
    pub(super) fn leads_to_another(&mut self, link: &Path) -> io::Result<bool> {
        let target = link.canonicalize()?;
        Ok(target.metadata()?.is_file() && !self.is_met(&target) && self.seen.insert(target))
    }

    /// Whether the walk meets a file by itself.
    fn is_met(&self, target: &Path) -> bool {
        let below = self.root.as_ref().and_then(|root| target.strip_prefix(root).ok());
        below.is_some_and(|below| !below.iter().any(is_hidden)) && !python::is_source(target)
    }
}

/// Whether a name begins with a dot: such files are left out.
pub(super) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}
