//! Paths without access to the file system.

use std::path::Path;

/// Returns the directory of a file; `.` for a bare name.
pub fn parent_directory(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}
