//! From the bytes of a Python file to text and back, without changing one byte that is not
//! edited: byte order mark, PEP 263 coding line, line ends.

use data::{Fault, faults};
use std::ops::Range;

use encoding_rs::Encoding;
use memchr::memchr;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A replacement in the decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Byte range in the text; empty for an insertion.
    pub range: Range<usize>,
    /// The new text of the range.
    pub text: String,
}

/// Why the bytes of a file cannot be decoded as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// The coding line names an unknown encoding.
    UnknownEncoding(String),
    /// The bytes are not text in the encoding of the file.
    Invalid {
        /// Name of the encoding.
        encoding: String,
        /// Offset of the first byte that is not valid text.
        offset: usize,
    },
    /// Decoding and encoding again does not give the same bytes, so that an edit would change
    /// more than its range.
    NotReversible(String),
    /// A NUL byte: not a source file.
    Nul(usize),
}

impl DecodeError {
    /// The reason as shown to users.
    pub fn fault(&self) -> Fault {
        match self {
            Self::UnknownEncoding(name) => faults::UnknownEncoding { name }.fault(),
            Self::Invalid { encoding, offset } => {
                faults::InvalidEncoding { encoding, offset: *offset }.fault()
            }
            Self::NotReversible(encoding) => faults::NotReversible { encoding }.fault(),
            Self::Nul(offset) => faults::NulAt { offset: *offset }.fault(),
        }
    }
}

data::impl_fault!(DecodeError);

/// A decoded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text without byte order mark.
    pub text: String,
    encoding: &'static Encoding,
    bom: bool,
}

impl Decoded {
    /// Decodes a Python source file as the interpreter does: UTF-8 unless a byte order mark or a
    /// coding line in the first two lines names another encoding (PEP 263).
    pub fn python(bytes: &[u8]) -> Result<Self, DecodeError> {
        if let Some(nul) = memchr(0, bytes) {
            return Err(DecodeError::Nul(nul));
        }
        let (bom, body) = match bytes.strip_prefix(BOM) {
            Some(body) => (true, body),
            None => (false, bytes),
        };
        let encoding = match coding_line(body) {
            Some(name) if !bom => named(&name).ok_or(DecodeError::UnknownEncoding(name))?,
            _ => encoding_rs::UTF_8,
        };
        Self::with(encoding, bom, body)
    }

    /// Decodes a file that must be UTF-8 (notebooks, YAML, shell scripts).
    pub fn utf8(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (bom, body) = match bytes.strip_prefix(BOM) {
            Some(body) => (true, body),
            None => (false, bytes),
        };
        Self::with(encoding_rs::UTF_8, bom, body)
    }

    fn with(encoding: &'static Encoding, bom: bool, body: &[u8]) -> Result<Self, DecodeError> {
        if encoding == encoding_rs::UTF_8 {
            let text = std::str::from_utf8(body).map_err(|error| DecodeError::Invalid {
                encoding: "UTF-8".to_owned(),
                offset: error.valid_up_to() + if bom { BOM.len() } else { 0 },
            })?;
            return Ok(Self { text: text.to_owned(), encoding, bom });
        }
        let name = encoding.name().to_owned();
        let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(body) else {
            return Err(DecodeError::Invalid { encoding: name, offset: 0 });
        };
        let (again, _, lossy) = encoding.encode(&text);
        if lossy || again != body {
            return Err(DecodeError::NotReversible(name));
        }
        Ok(Self { text: text.into_owned(), encoding, bom })
    }

    /// The bytes of the file after `edits`, which must be sorted and must not overlap; all bytes
    /// outside their ranges stay the same. `None` if the new text cannot be encoded.
    pub fn edited(&self, edits: &[Edit]) -> Option<Vec<u8>> {
        let text = apply(&self.text, edits);
        let mut bytes = if self.bom { BOM.to_vec() } else { Vec::new() };
        if self.encoding == encoding_rs::UTF_8 {
            bytes.extend_from_slice(text.as_bytes());
        } else {
            let (encoded, _, lossy) = self.encoding.encode(&text);
            if lossy {
                return None;
            }
            bytes.extend_from_slice(&encoded);
        }
        Some(bytes)
    }
}

/// `text` after `edits`, which must be sorted and must not overlap.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Whether `after` is `before` with exactly these edits: the text outside their ranges is the same,
/// in the same order.
pub fn differs_only_in(before: &str, after: &str, edits: &[Edit]) -> bool {
    let (mut before, mut after, mut at) = (before, after, 0);
    for edit in edits {
        let Some(length) = edit.range.start.checked_sub(at) else { return false };
        let Some((same, rest)) = before.split_at_checked(length) else { return false };
        let Some(new) = after.strip_prefix(same).and_then(|new| new.strip_prefix(&*edit.text))
        else {
            return false;
        };
        let Some((_, rest)) = rest.split_at_checked(edit.range.len()) else { return false };
        (before, after, at) = (rest, new, edit.range.end);
    }
    before == after
}

/// The encoding that a coding line in the first two lines names (PEP 263).
fn coding_line(body: &[u8]) -> Option<String> {
    for (number, line) in body.split(|&byte| byte == b'\n').take(2).enumerate() {
        let line = String::from_utf8_lossy(&line[..line.len().min(400)]).into_owned();
        let blank = line.trim_start_matches([' ', '\t', '\x0c', '\r']);
        if let Some(comment) = blank.strip_prefix('#') {
            if let Some(name) = coding_name(comment) {
                return Some(name);
            }
        } else if number == 0 && !blank.trim().is_empty() {
            // The second line counts only after a line that is blank or a comment.
            return None;
        }
    }
    None
}

/// The name after `coding[:=]` in a comment.
fn coding_name(comment: &str) -> Option<String> {
    let after = &comment[comment.find("coding")? + "coding".len()..];
    let after = after.strip_prefix([':', '='])?.trim_start_matches([' ', '\t']);
    let end = after
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(after.len());
    (end > 0).then(|| after[..end].to_owned())
}

/// Python's names for encodings that keep ASCII unchanged.
fn named(name: &str) -> Option<&'static Encoding> {
    let plain = name.to_ascii_lowercase().replace('_', "-");
    match plain.as_str() {
        "utf-8" | "utf8" | "u8" | "utf-8-sig" | "ascii" | "us-ascii" => Some(encoding_rs::UTF_8),
        // WHATWG's windows-1252 maps all 256 bytes one to one, as Latin-1 does; which character
        // a byte stands for does not matter here.
        "latin-1" | "latin1" | "iso-8859-1" | "l1" | "cp1252" => Some(encoding_rs::WINDOWS_1252),
        "gbk" | "cp936" | "gb2312" | "euc-cn" => Some(encoding_rs::GBK),
        "gb18030" => Some(encoding_rs::GB18030),
        "big5" => Some(encoding_rs::BIG5),
        "euc-jp" | "eucjp" => Some(encoding_rs::EUC_JP),
        "shift-jis" | "sjis" | "cp932" => Some(encoding_rs::SHIFT_JIS),
        "euc-kr" => Some(encoding_rs::EUC_KR),
        "koi8-r" => Some(encoding_rs::KOI8_R),
        "cp1251" | "windows-1251" => Some(encoding_rs::WINDOWS_1251),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_decoded_comes_back_byte_for_byte(
            line in proptest::sample::select(vec!["", "# coding: gbk\n", "# coding: latin-1\n"]),
            rest in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let bytes = [line.as_bytes(), &rest].concat();
            if let Ok(decoded) = Decoded::python(&bytes) {
                prop_assert_eq!(decoded.edited(&[]), Some(bytes));
            }
        }
    }

    #[test]
    fn utf8_is_the_default_and_a_mark_is_kept() {
        let decoded = Decoded::python(b"\xef\xbb\xbfx = 'cuda'\r\n").unwrap();
        let edits = [Edit { range: 5..9, text: "npu".to_owned() }];
        assert_eq!(decoded.edited(&edits).unwrap(), b"\xef\xbb\xbfx = 'npu'\r\n");
    }

    #[test]
    fn other_encodings_keep_their_bytes() {
        let source = b"# -*- coding: gbk -*-\n# \xc4\xe3\xba\xc3\nd = 'cuda'\n";
        let decoded = Decoded::python(source).unwrap();
        let at = decoded.text.find("cuda").unwrap();
        let edits = [Edit { range: at..at + 4, text: "npu".to_owned() }];
        assert_eq!(
            decoded.edited(&edits).unwrap(),
            b"# -*- coding: gbk -*-\n# \xc4\xe3\xba\xc3\nd = 'npu'\n"
        );
        let latin = b"#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\n# caf\xe9\n";
        assert_eq!(Decoded::python(latin).unwrap().edited(&[]).unwrap(), latin);
    }

    #[test]
    fn what_changed_outside_the_edits_is_noticed() {
        let edit = |range, text: &str| Edit { range, text: text.to_owned() };
        let edits = [edit(2..4, "xyz"), edit(6..6, "+")];
        assert!(differs_only_in("abcdef", "abxyzef+", &edits));
        assert!(!differs_only_in("abcdef", "abxyzef", &edits));
        assert!(!differs_only_in("abcdef", "aBxyzef+", &edits));
        assert!(!differs_only_in("abcdef", "abxyzeF+", &edits));
        assert!(!differs_only_in("abcdef", "abcdef", &[edit(4..9, "")]));
        assert!(!differs_only_in("abcdef", "abcdef", &[edit(4..5, "e"), edit(3..4, "d")]));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert!(matches!(
            Decoded::python(b"# caf\xe9\n"),
            Err(DecodeError::Invalid { offset: 5, .. })
        ));
        assert!(matches!(Decoded::python(b"a\0b"), Err(DecodeError::Nul(1))));
        assert!(matches!(
            Decoded::python(b"# coding: klingon\n"),
            Err(DecodeError::UnknownEncoding(_))
        ));
    }

    #[test]
    fn a_coding_line_after_code_does_not_count() {
        assert_eq!(coding_line(b"import x\n# coding: gbk\n"), None);
        assert_eq!(coding_line(b"\n# coding: gbk\n"), Some("gbk".to_owned()));
    }
}
