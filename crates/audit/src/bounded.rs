//! Reads parts of an input into memory, up to a limit.

use std::io::Read;

use base::text::Text;
use data::faults;

use super::unreadable::{Unreadable, damaged};

/// Reads at most `limit` bytes. More bytes are an error, which names the part `what`.
pub(super) fn read(reader: impl Read, limit: u64, what: &str) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::new();
    let read = reader.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    let read = read.map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof
        | std::io::ErrorKind::InvalidData
        | std::io::ErrorKind::InvalidInput => {
            damaged(faults::CannotUnpackPart { what, why: &error }.value())
        }
        _ => Unreadable::Io(error),
    })?;
    if read as u64 > limit {
        return Err(Unreadable::TooLarge { what: Text::same(what), limit });
    }
    Ok(bytes)
}

/// Rejects JSON with more than `limit` values, because a parser may need fifty bytes of memory for
/// a value that takes two bytes of text. `what` names the values in the error.
pub(super) fn check_value_count(json: &[u8], limit: u64, what: &str) -> Result<(), Unreadable> {
    let (mut values, mut at) = (0, 0);
    while let Some(byte) = json.get(at) {
        at += 1;
        match byte {
            b'"' => at += string_length(&json[at..]),
            b'{' | b'[' | b',' => values += 1,
            _ => {}
        }
    }
    if values > limit {
        return Err(Unreadable::TooMany { what: Text::same(what), limit });
    }
    Ok(())
}

/// Returns the length of the rest of an open string, including its closing quote.
pub(super) fn string_length(open: &[u8]) -> usize {
    let mut at = 0;
    while let Some(step) = memchr::memchr2(b'"', b'\\', &open[at..]) {
        at += step + 1;
        if open[at - 1] == b'"' {
            return at;
        }
        at = (at + 1).min(open.len());
    }
    open.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_values_outside_strings() {
        let json = br#"{"a,[{\",": [1, 2, {"b": "\\"}], "c": 3}"#;
        assert!(check_value_count(json, 6, "it").is_ok());
        let error = check_value_count(json, 5, "it").unwrap_err();
        assert!(matches!(error, Unreadable::TooMany { limit: 5, .. }), "{error}");
        for open in [&b"\"open ,,,\\"[..], b"\"", b""] {
            assert!(check_value_count(open, 0, "it").is_ok());
        }
    }
}
