//! Reasons why an input cannot be read.

use base::text::Text;
use data::{Fault, faults};

/// The reason why an input cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// The format is unknown.
    Unknown,
    /// `torch.save`: unpickling it would run arbitrary code.
    Pickle {
        /// Classes that it would load, as far as they were read.
        classes: Vec<String>,
    },
    /// The zip archive is encrypted.
    Encrypted,
    /// The file is truncated or contradicts itself.
    Damaged {
        /// The contradiction.
        what: Text,
    },
    /// A part that must be read exceeds the size limit.
    TooLarge {
        /// The part.
        what: Text,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A part that must be read has more values than the limit. Even short values need memory.
    TooMany {
        /// The part.
        what: Text,
        /// The limit.
        limit: u64,
    },
    /// A list of operators with an invalid line.
    List {
        /// The line, starting at 1.
        line: usize,
        /// The text of the line.
        text: String,
    },
    /// A Python source with a syntax error.
    Python {
        /// The line, starting at 1.
        line: u32,
        /// The message of the parser.
        message: String,
    },
    /// A directory without sources that mention torch.
    NoSources,
    /// The file is empty.
    Empty,
    /// The file starts with zeros, typically after a full disk or a broken copy.
    Zeros(usize),
    /// A pipe, a socket or a device, which is never opened.
    NotRegular,
    /// An error of the operating system.
    Io(std::io::Error),
}

impl Unreadable {
    /// Returns the reason for display.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Unknown => faults::UnknownFormat.fault(),
            Self::Pickle { classes } if classes.is_empty() => faults::TorchSavePickle.fault(),
            Self::Pickle { classes } => {
                faults::TorchSavePickleOf { classes: classes.join(", ") }.fault()
            }
            Self::Encrypted => faults::ArchiveEncrypted.fault(),
            Self::Damaged { what } => faults::Damaged { what }.fault(),
            Self::TooLarge { what, limit } => faults::PartTooLarge { what, limit: *limit }.fault(),
            Self::TooMany { what, limit } => faults::PartTooMany { what, limit: *limit }.fault(),
            Self::List { line, text } => faults::ListLine { line: *line, text }.fault(),
            Self::Python { line, message } => faults::NotPython { line: *line, message }.fault(),
            Self::NoSources => faults::NoPythonSources.fault(),
            Self::Empty => faults::Empty.fault(),
            Self::Zeros(n) => faults::Zeros { n: *n }.fault(),
            Self::NotRegular => faults::NotRegular.fault(),
            Self::Io(error) => faults::Plain { why: error }.fault(),
        }
    }
}

data::impl_fault!(Unreadable);

impl From<std::io::Error> for Unreadable {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

pub(crate) fn damaged(what: Text) -> Unreadable {
    Unreadable::Damaged { what }
}
