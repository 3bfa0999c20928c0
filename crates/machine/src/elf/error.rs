//! The reasons why an object cannot be used.

use facts::ElfDefect;

use crate::sysroot::ReadError;

/// Why an object cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The file has a defect.
    Defect(ElfDefect),
    /// It cannot be read.
    Read(ReadError),
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl Error {
    /// Converts the error to a fact about the file.
    pub fn into_defect(self) -> ElfDefect {
        match self {
            Self::Defect(defect) => defect,
            Self::Read(error) => ElfDefect::Unreadable { reason: error.to_string() },
        }
    }
}

pub(super) fn malformed(reason: &str) -> Error {
    Error::Defect(ElfDefect::Malformed { reason: reason.to_owned() })
}
