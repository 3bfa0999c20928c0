//! Limits the length of JSON strings, because a parser keeps each string in memory.

use std::io::{Error, ErrorKind, Read, Result};

use memchr::memchr2;

/// The maximum length of a string, in bytes. The strings of profilers (a stack, the source of a
/// kernel) are far shorter.
pub(super) const LONGEST_STRING: usize = 16 << 20;

/// Passes JSON through, and fails with [`ErrorKind::InvalidData`] if a string is too long.
#[derive(Debug)]
pub(super) struct Strings<R> {
    inner: R,
    /// The length of the open string so far.
    open: Option<usize>,
    /// Whether the previous byte was a backslash.
    escaped: bool,
}

impl<R> Strings<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, open: None, escaped: false }
    }

    /// Returns the length of the longest string that is open or ends in `bytes`.
    fn longest(&mut self, bytes: &[u8]) -> usize {
        let mut longest = 0;
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let Some(length) = self.open else {
                let Some(begin) = memchr::memchr(b'"', rest) else { break };
                self.open = Some(0);
                at += begin + 1;
                continue;
            };
            if self.escaped {
                self.escaped = false;
                self.open = Some(length + 1);
                at += 1;
                continue;
            }
            let end = memchr2(b'"', b'\\', rest);
            let length = length + end.unwrap_or(rest.len());
            longest = longest.max(length);
            let Some(end) = end else {
                self.open = Some(length);
                break;
            };
            if rest[end] == b'"' {
                self.open = None;
            } else {
                self.escaped = true;
                self.open = Some(length + 1);
            }
            at += end + 1;
        }
        longest
    }
}

impl<R: Read> Read for Strings<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.inner.read(buffer)?;
        if self.longest(&buffer[..read]) > LONGEST_STRING {
            return Err(Error::new(ErrorKind::InvalidData, data::faults::StringTooLong.fault()));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result does not depend on how the input is split into reads.
    #[test]
    fn only_long_strings_are_stopped() {
        let long = "a".repeat(LONGEST_STRING + 1);
        let escapes = "\\\"".repeat(LONGEST_STRING / 2 + 1);
        let fine = format!("[\"{}\", \"\\\\\", {}1]", &long[1..], " ".repeat(LONGEST_STRING * 2));
        for size in [1 << 20, 4097] {
            let all = |text: &str| {
                let mut bytes = vec![0; size];
                let mut strings = Strings::new(text.as_bytes());
                let mut read = 0;
                loop {
                    match strings.read(&mut bytes) {
                        Ok(0) => return Some(read),
                        Ok(more) => read += more,
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::InvalidData);
                            return None;
                        }
                    }
                }
            };
            assert_eq!(all(&fine), Some(fine.len()));
            assert_eq!(all(&format!("{{\"x\": \"{long}\"}}")), None);
            assert_eq!(all(&format!("[\"{escapes}\"]")), None);
        }
    }
}
