//! What the vendor's code writes to standard output and error, and which function did.
//!
//! Both are one pipe, into which the child writes a [`make_marker`] before every call. A pipe keeps
//! the order in which it was written to, so what stands behind a marker was written after that
//! call began and before the next one did: by the function, or by a thread that it started.

use serde::{Deserialize, Serialize};

/// Begins a marker; a zero byte ends it. Text has no zero bytes.
const BEGIN: &[u8] = b"\0ascend-doctor calls ";
/// The longest name in a marker, in bytes.
const MAX_NAME: usize = 256;
/// How many functions are told apart.
const MAX_PARTS: usize = 16;
/// How much is kept of the end of all, in bytes.
const TAIL: usize = 8 << 10;
/// How much is kept of what one function wrote, in bytes.
const PART_TAIL: usize = 1 << 10;

/// What stands before what `function` writes. It is short enough that a pipe never splits it.
pub fn make_marker(function: &str) -> Vec<u8> {
    let name = &function.as_bytes()[..function.len().min(MAX_NAME)];
    let name: Vec<u8> = name.iter().copied().filter(|byte| *byte != 0).collect();
    [BEGIN, &name, b"\0"].concat()
}

/// What code wrote that should not have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VendorOutput {
    /// How many bytes.
    pub bytes: u64,
    /// The end of it.
    pub tail: String,
    /// What each function wrote, the first of them, in the order in which they began to.
    pub parts: Vec<FunctionOutput>,
}

/// What one function wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionOutput {
    /// Its name; none for what came before the first call.
    pub function: Option<String>,
    /// How many bytes.
    pub bytes: u64,
    /// The end of it.
    pub tail: String,
}

/// Takes the pipe apart as it is read.
#[derive(Debug, Default)]
pub struct OutputReader {
    /// What may be the beginning of a marker.
    pending: Vec<u8>,
    during: Option<String>,
    bytes: u64,
    kept: Vec<u8>,
    parts: Vec<(Option<String>, u64, Vec<u8>)>,
}

impl OutputReader {
    /// Takes what was read next.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = std::mem::take(&mut self.pending);
        rest.extend_from_slice(bytes);
        let mut rest = &rest[..];
        while let Some(at) = memchr::memchr(0, rest) {
            self.append_text(&rest[..at]);
            rest = &rest[at..];
            let name = match rest.strip_prefix(BEGIN) {
                Some(name) => &name[..name.len().min(MAX_NAME + 1)],
                // It may go on as a marker.
                None if BEGIN.starts_with(rest) => break,
                None => {
                    self.append_text(&rest[..1]);
                    rest = &rest[1..];
                    continue;
                }
            };
            match memchr::memchr(0, name) {
                Some(end) => {
                    self.during = Some(String::from_utf8_lossy(&name[..end]).into_owned());
                    rest = &rest[BEGIN.len() + end + 1..];
                }
                None if name.len() <= MAX_NAME => break,
                None => {
                    self.append_text(&rest[..1]);
                    rest = &rest[1..];
                }
            }
        }
        if rest.first() == Some(&0) {
            self.pending = rest.to_vec();
        } else {
            self.append_text(rest);
        }
    }

    fn append_text(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.bytes += text.len() as u64;
        keep(&mut self.kept, text, TAIL);
        let known = self.parts.iter().position(|(function, ..)| *function == self.during);
        let at = known.unwrap_or_else(|| {
            if self.parts.len() < MAX_PARTS {
                self.parts.push((self.during.clone(), 0, Vec::new()));
                self.parts.len() - 1
            } else {
                MAX_PARTS
            }
        });
        if let Some((_, bytes, kept)) = self.parts.get_mut(at) {
            *bytes += text.len() as u64;
            keep(kept, text, PART_TAIL);
        }
    }

    /// What was written so far.
    pub fn to_output(&self) -> VendorOutput {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let part = |(function, bytes, kept): &(Option<String>, u64, Vec<u8>)| FunctionOutput {
            function: function.clone(),
            bytes: *bytes,
            tail: text(kept),
        };
        VendorOutput {
            bytes: self.bytes,
            tail: text(&self.kept),
            parts: self.parts.iter().map(part).collect(),
        }
    }
}

/// Keeps the end.
fn keep(kept: &mut Vec<u8>, new: &[u8], limit: usize) {
    kept.extend_from_slice(&new[new.len().saturating_sub(limit)..]);
    let over = kept.len().saturating_sub(limit);
    kept.drain(..over);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(bytes: &[u8], chunk: usize) -> VendorOutput {
        let mut listener = OutputReader::default();
        bytes.chunks(chunk).for_each(|chunk| listener.feed(chunk));
        listener.to_output()
    }

    fn parts(vendor_output: &VendorOutput) -> Vec<(Option<&str>, u64)> {
        vendor_output.parts.iter().map(|part| (part.function.as_deref(), part.bytes)).collect()
    }

    #[test]
    fn what_is_written_has_a_name() {
        let stream = [
            b"early ".to_vec(),
            make_marker("aclInit"),
            make_marker("aclrtSetDevice"),
            b"set\xff\n".to_vec(),
            make_marker("aclnnAdd"),
            b"a\0b".to_vec(),
            make_marker("aclInit"),
            b"again\n".to_vec(),
            b"\0ascend-doctor calls".to_vec(),
        ]
        .concat();
        for chunk in [1, 2, 3, 7, 19, 20, 21, stream.len()] {
            let vendor_output = heard(&stream, chunk);
            let named = [
                (None, 6),
                (Some("aclrtSetDevice"), 5),
                (Some("aclnnAdd"), 3),
                (Some("aclInit"), 6),
            ];
            assert_eq!(parts(&vendor_output), named, "by {chunk}");
            assert_eq!(vendor_output.bytes, 20);
            assert_eq!(vendor_output.tail, "early set\u{fffd}\na\0bagain\n");
            assert_eq!(vendor_output.parts[3].tail, "again\n");
        }
    }

    #[test]
    fn it_is_bounded() {
        let mut stream = Vec::new();
        for number in 0..100 {
            stream.extend(make_marker(&format!("f{number}")));
            stream.extend("x".repeat(3000).bytes());
        }
        // No marker, though it begins like one.
        stream.extend(BEGIN);
        stream.extend("y".repeat(5 * MAX_NAME).bytes());
        let vendor_output = heard(&stream, 4096);
        assert_eq!(vendor_output.bytes, 300_000 + BEGIN.len() as u64 + 5 * MAX_NAME as u64);
        assert_eq!(vendor_output.tail.len(), TAIL);
        assert_eq!(vendor_output.parts.len(), MAX_PARTS);
        assert!(vendor_output.parts.iter().all(|part| part.tail.len() == PART_TAIL));
        let long = make_marker(&"n".repeat(9999));
        assert!(long.len() < 4096, "a pipe may split what is longer");
        assert_eq!(heard(&[&long[..], b"x"].concat(), 9).bytes, 1);
    }
}
