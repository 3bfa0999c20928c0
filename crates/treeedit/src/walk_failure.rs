//! Reasons why the roots of a walk cannot be walked.

use std::io;
use std::path::PathBuf;

use data::fault::quote;
use data::{Fault, faults};

/// A reason why the roots of a walk cannot be walked.
#[derive(Debug)]
pub enum WalkError {
    /// There is no such file or directory.
    NoRoot(PathBuf),
    /// A pattern that matches nothing.
    NoMatch(PathBuf),
    /// Not a pattern.
    Pattern(String, String),
    /// A root that cannot be read.
    Unreadable(PathBuf, io::Error),
    /// A root that is a pipe, a socket or a device.
    NotRegular(PathBuf),
    /// A file named as root of which the kind cannot be told.
    UnknownKind(PathBuf),
    /// A launch file that does not exist.
    NoLaunch(PathBuf),
    /// A launch file outside all roots.
    LaunchOutside(PathBuf),
}

impl WalkError {
    /// The error as users read it.
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
