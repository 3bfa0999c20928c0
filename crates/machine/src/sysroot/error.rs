//! The reasons why a path of the examined machine could not be read.

use std::io;

use base::text::Text;
use data::fault::Value;
use data::faults;
use facts::FileKind;

/// The reason why a path of the examined machine could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// There is no such file or directory.
    NotFound,
    /// The user who runs the tool may not read it.
    Denied,
    /// Too many symbolic links on the way; most likely a loop.
    Loop,
    /// Not a regular file, but of this kind.
    NotRegular(FileKind),
    /// A directory was expected.
    NotDirectory,
    /// The file is larger than anything of its kind.
    TooLarge {
        /// Size of the file in bytes.
        size: u64,
        /// Maximum number of bytes to read.
        limit: u64,
    },
    /// Only a part of the content is available: the tree was recorded without the rest.
    Partial,
    /// Any other error of the operating system.
    Io(Text),
}

impl ReadError {
    /// The reason as a text for users.
    pub fn text(&self) -> Text {
        match self {
            Self::NotFound => faults::NotFound.value(),
            Self::Denied => faults::Denied.value(),
            Self::Loop => faults::LinkLoop.value(),
            Self::NotRegular(kind) => {
                faults::NotRegularBut { what: kind_words(*kind) }.fault().text()
            }
            Self::NotDirectory => faults::NotADirectory.value(),
            Self::TooLarge { size, limit } => {
                faults::SizeOverLimit { size: *size, limit: *limit }.value()
            }
            Self::Partial => faults::RecordedWithoutContent.value(),
            Self::Io(words) => words.clone(),
        }
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text().en)
    }
}

impl std::error::Error for ReadError {}

impl Value for ReadError {
    fn value(&self) -> Text {
        self.text()
    }
}

/// A kind of file in a sentence.
fn kind_words(kind: FileKind) -> Text {
    let fault = match kind {
        FileKind::Directory => faults::ADirectory.fault(),
        FileKind::Link => faults::ASymbolicLink.fault(),
        FileKind::Fifo => faults::ANamedPipe.fault(),
        FileKind::Socket => faults::ASocket.fault(),
        FileKind::Char => faults::ACharacterDevice.fault(),
        FileKind::Block => faults::ABlockDevice.fault(),
        _ => return Text::same(kind.describe()),
    };
    fault.text()
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::Denied,
            io::ErrorKind::NotADirectory => Self::NotDirectory,
            _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Self::Loop,
            _ => Self::Io(error.value()),
        }
    }
}

impl From<rustix::io::Errno> for ReadError {
    fn from(errno: rustix::io::Errno) -> Self {
        io::Error::from(errno).into()
    }
}
