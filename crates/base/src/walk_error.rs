//! Converts errors of a directory walk to the underlying `io::Error`.
//!
//! Walkers wrap the error in a message for programmers. Users see only the cause, with the path in
//! the same place as in all other messages.

use std::io;

/// A loop of symbolic links.
#[derive(Debug, thiserror::Error)]
#[error("symbolic links form a loop")]
pub struct LinkLoop;

/// The cause of an error of a walk.
pub fn cause(error: &walkdir::Error) -> io::Error {
    match error.io_error() {
        Some(cause) => copy(cause),
        None => io::Error::other(LinkLoop),
    }
}

/// The cause behind an `io::Error`, which may wrap an error of a walk.
pub fn behind(error: &io::Error) -> io::Error {
    let walk = error.get_ref().and_then(|inner| inner.downcast_ref::<walkdir::Error>());
    walk.map_or_else(|| copy(error), cause)
}

/// Returns an equal error, because such errors cannot be cloned.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "walks where nothing is")]
    fn cause_returns_the_system_error() {
        let error = walkdir::WalkDir::new("/no/such/directory").into_iter().next().unwrap();
        let error = error.unwrap_err();
        let plain = io::Error::from_raw_os_error(rustix::io::Errno::NOENT.raw_os_error());
        assert_eq!(cause(&error).to_string(), plain.to_string());
        assert_eq!(behind(&io::Error::from(error)).to_string(), plain.to_string());
        assert_eq!(behind(&io::Error::other("x")).to_string(), "x");
    }
}
