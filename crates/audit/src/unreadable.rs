//! Reasons why an input cannot be read.

use base::text::Text;
use data::{Fault, faults};

/// The reason why an input cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// It is none of the formats.
    Unknown,
    /// `torch.save`: reading it would run what it says.
    Pickle {
        /// Classes that it would load, as far as they were looked at.
        classes: Vec<String>,
    },
    /// The zip is encrypted.
    Encrypted,
    /// It ends before it should, or contradicts itself.
    Damaged {
        /// What does not fit.
        what: Text,
    },
    /// A part that has to be read is larger than what is read at most.
    TooLarge {
        /// Which part.
        what: Text,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A part that has to be read holds more than is read at most: short as it may be, each of its
    /// values takes room.
    TooMany {
        /// Which part.
        what: Text,
        /// The limit.
        limit: u64,
    },
    /// A list of operators with a line that names none.
    List {
        /// The line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// A Python source that is none.
    Python {
        /// The line, from 1.
        line: u32,
        /// What the parser says.
        message: String,
    },
    /// A directory without sources that name torch.
    NoSources,
    /// There is nothing in it.
    Empty,
    /// It begins as a file of zeros does: what was cut off by a full disk or a broken copy.
    Zeros(usize),
    /// A pipe, a socket or a device, which is not opened.
    NotRegular,
    /// The operating system refused.
    Io(std::io::Error),
}

impl Unreadable {
    /// The reason as users read it.
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
