//! Reading a part of an input whole, up to a limit.

use std::io::Read;

use super::{Unreadable, damaged};

/// All that `reader` gives, at most `limit` bytes. More is an error that calls it `what`.
pub(super) fn all(reader: impl Read, limit: u64, what: &str) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::new();
    let read = reader.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    let read = read.map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof
        | std::io::ErrorKind::InvalidData
        | std::io::ErrorKind::InvalidInput => {
            damaged(format!("{what} cannot be unpacked: {error}"))
        }
        _ => Unreadable::Io(error),
    })?;
    if read as u64 > limit {
        return Err(Unreadable::TooLarge { what: what.to_owned(), limit });
    }
    Ok(bytes)
}
