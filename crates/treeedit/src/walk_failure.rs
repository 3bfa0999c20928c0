//! Reasons why the roots of a walk cannot be walked.

use std::io;
use std::path::PathBuf;

/// A reason why the roots of a walk cannot be walked.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// There is no such file or directory.
    #[error("`{}`: there is no such file or directory", .0.display())]
    NoRoot(PathBuf),
    /// A pattern that matches nothing.
    #[error("`{}`: no file matches this pattern", .0.display())]
    NoMatch(PathBuf),
    /// Not a pattern.
    #[error("`{0}` is no valid pattern: {1}")]
    Pattern(String, String),
    /// A root that cannot be read.
    #[error("cannot read `{path}`: {error}", path = .0.display(), error = .1)]
    Unreadable(PathBuf, io::Error),
    /// A root that is a pipe, a socket or a device.
    #[error("`{}` is neither a file nor a directory", .0.display())]
    NotRegular(PathBuf),
    /// A file named as root of which the kind cannot be told.
    #[error("`{}` is no kind of file that `convert` knows", .0.display())]
    UnknownKind(PathBuf),
    /// A launch file that does not exist.
    #[error("launch file `{}`: there is no such file", .0.display())]
    NoLaunch(PathBuf),
    /// A launch file outside all roots.
    #[error(
        "launch file `{}` is not below a root (-r) or is left out: nothing would be written to it",
        .0.display()
    )]
    LaunchOutside(PathBuf),
}
