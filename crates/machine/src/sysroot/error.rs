//! Why something of the examined machine could not be read.

use std::io;

/// The reason a path of the examined machine gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is no such file or directory.
    #[error("no such file or directory")]
    NotFound,
    /// The user who runs the tool may not read it.
    #[error("permission denied")]
    Denied,
    /// Too many symbolic links on the way; most likely a loop.
    #[error("too many levels of symbolic links")]
    Loop,
    /// A regular file was expected, and it is something else.
    #[error("not a regular file but {0}")]
    NotRegular(&'static str),
    /// A directory was expected.
    #[error("not a directory")]
    NotDirectory,
    /// The file is larger than anything of its kind.
    #[error("{size} bytes, more than the {limit} bytes that are read of such a file")]
    TooLarge {
        /// Size of the file in bytes.
        size: u64,
        /// The most that is read, in bytes.
        limit: u64,
    },
    /// Only a part of the content is there: the tree was recorded without the rest.
    #[error("recorded without its whole content")]
    Partial,
    /// Any other error of the operating system.
    #[error("{0}")]
    Io(String),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::Denied,
            io::ErrorKind::NotADirectory => Self::NotDirectory,
            _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Self::Loop,
            _ => Self::Io(error.to_string()),
        }
    }
}

impl From<rustix::io::Errno> for ReadError {
    fn from(errno: rustix::io::Errno) -> Self {
        io::Error::from(errno).into()
    }
}
