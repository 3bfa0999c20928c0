//! The output of the vendor's code to standard output and error, attributed to functions.
//!
//! Both share one pipe, into which the child writes a [`make_marker`] before every call. A pipe
//! preserves the order of writes, so the output behind a marker was written between the start of
//! that call and the start of the next one: by the function, or by a thread that it started.

use serde::{Deserialize, Serialize};

/// Begins a marker; a zero byte ends it. Text has no zero bytes.
const BEGIN: &[u8] = b"\0ascend-doctor calls ";
/// The longest name in a marker, in bytes.
const MAX_NAME: usize = 256;
/// The maximum number of functions with separate output.
const MAX_PARTS: usize = 16;
/// The size of the end of the output that is kept, in bytes.
const TAIL: usize = 8 << 10;
/// The size of the end of one function's output that is kept, in bytes.
const PART_TAIL: usize = 1 << 10;

/// The marker before the output of `function`. It is short enough that a pipe never splits it.
pub fn make_marker(function: &str) -> Vec<u8> {
    let name = &function.as_bytes()[..function.len().min(MAX_NAME)];
    let name: Vec<u8> = name.iter().copied().filter(|byte| *byte != 0).collect();
    [BEGIN, &name, b"\0"].concat()
}

/// Unexpected output of the vendor's code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VendorOutput {
    /// The number of bytes.
    pub bytes: u64,
    /// The end of the output.
    pub tail: String,
    /// The output of the first functions, in the order of their first output.
    pub parts: Vec<FunctionOutput>,
}

/// The output of one function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionOutput {
    /// Its name; `None` for output before the first call.
    pub function: Option<String>,
    /// The number of bytes.
    pub bytes: u64,
    /// The end of the output.
    pub tail: String,
}

/// Splits the pipe into parts as it is read.
#[derive(Debug, Default)]
pub struct OutputReader {
    /// The possible beginning of a marker.
    pending: Vec<u8>,
    during: Option<String>,
    bytes: u64,
    kept: Vec<u8>,
    parts: Vec<(Option<String>, u64, Vec<u8>)>,
}

impl OutputReader {
    /// Processes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = std::mem::take(&mut self.pending);
        rest.extend_from_slice(bytes);
        let mut rest = &rest[..];
        while let Some(at) = memchr::memchr(0, rest) {
            self.append_text(&rest[..at]);
            rest = &rest[at..];
            let name = match rest.strip_prefix(BEGIN) {
                Some(name) => &name[..name.len().min(MAX_NAME + 1)],
                // It may continue as a marker.
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

    /// The output so far.
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

/// Keeps the last `limit` bytes.
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
        // Not a marker, although it begins like one.
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
