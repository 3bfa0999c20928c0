//! Directory listings that treat a missing directory as empty.

use crate::sysroot::{ReadError, Sysroot};

/// The names in a directory; none if it does not exist. Other errors are recorded.
pub(in crate::collect) fn names(sysroot: &Sysroot, dir: &str) -> Vec<String> {
    match sysroot.list(dir) {
        Ok(names) => names,
        Err(ReadError::NotFound | ReadError::NotDirectory) => Vec::new(),
        Err(error) => {
            sysroot.read_problem(dir, &error);
            Vec::new()
        }
    }
}
