//! Reasons why the roots of a walk cannot be walked.

use std::io;
use std::path::PathBuf;

use data::fault::quote;
use data::{Fault, faults};

/// A reason why the roots of a walk cannot be walked.
#[derive(Debug)]
pub enum WalkError {
    /// The file or directory does not exist.
    NoRoot(PathBuf),
    /// A pattern that matches nothing.
    NoMatch(PathBuf),
    /// An invalid pattern.
    Pattern(String, String),
    /// A root that cannot be read.
    Unreadable(PathBuf, io::Error),
    /// A root that is a pipe, a socket or a device.
    NotRegular(PathBuf),
    /// A file named as root with an unknown kind.
    UnknownKind(PathBuf),
    /// A launch file that does not exist.
    NoLaunch(PathBuf),
    /// A launch file outside all roots.
    LaunchOutside(PathBuf),
}

impl WalkError {
    /// The error message for users.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoRoot(path) => faults::NoSuchRoot { path }.fault(),
            Self::NoMatch(path) => faults::NoMatch { path }.fault(),
            Self::Pattern(pattern, why) => {
                faults::InvalidPattern { pattern, why: quote(why) }.fault()
            }
            Self::Unreadable(path, why) => faults::CannotReadBecause { path, why }.fault(),
            Self::NotRegular(path) => faults::NeitherFileNorDirectory { path }.fault(),
            Self::UnknownKind(path) => faults::UnknownKind { path }.fault(),
            Self::NoLaunch(path) => faults::NoLaunchFile { path }.fault(),
            Self::LaunchOutside(path) => faults::LaunchOutside { path }.fault(),
        }
    }
}

data::impl_fault!(WalkError);
