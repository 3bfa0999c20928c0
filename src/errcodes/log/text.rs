//! Converts bytes of a log to text for display and for expressions.

use std::borrow::Cow;

/// The maximum length of a line kept as evidence, in bytes.
const EVIDENCE: usize = 600;

/// Removes terminal escape sequences: CSI, OSC, and two-byte ones.
pub(super) fn strip_escapes(line: &[u8]) -> Cow<'_, [u8]> {
    const ESCAPE: u8 = 0x1b;
    if memchr::memchr(ESCAPE, line).is_none() {
        return Cow::Borrowed(line);
    }
    let mut clean = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr::memchr(ESCAPE, rest) {
        clean.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let length = match rest.first() {
            Some(b'[') => {
                rest.iter().skip(1).position(|byte| (0x40..0x7f).contains(byte)).map(|end| end + 2)
            }
            Some(b']') => rest.iter().position(|byte| *byte == 0x07).map(|end| end + 1),
            Some(_) => Some(1),
            None => None,
        };
        rest = length.map_or(&[], |length| &rest[length..]);
    }
    clean.extend_from_slice(rest);
    Cow::Owned(clean)
}

/// The text shown for a line: decoded, cut if it is long, without trailing blanks. Control
/// characters stay, because renderers escape them.
pub(super) fn decode_evidence(line: &[u8]) -> String {
    decode_evidence_at(line, 0)
}

/// Like [`decode_evidence`]; for a long line, the part around `at`.
pub(super) fn decode_evidence_at(line: &[u8], at: usize) -> String {
    let line = line.trim_ascii_end();
    let start = if at < EVIDENCE / 2 || line.len() <= EVIDENCE {
        0
    } else {
        find_boundary(line, (at - EVIDENCE / 6).min(line.len()))
    };
    let rest = &line[start..];
    let cut = rest.len() > EVIDENCE;
    let part = if cut { &rest[..find_boundary(rest, EVIDENCE)] } else { rest };
    let mut text = decode(part);
    if start > 0 {
        text.insert(0, '…');
    }
    if cut {
        text.push('…');
    }
    text
}

/// Decodes UTF-8, or GBK if the bytes are not UTF-8 and all of them decode as GBK.
pub(super) fn decode(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let (text, malformed) = encoding_rs::GBK.decode_without_bom_handling(bytes);
    if malformed { String::from_utf8_lossy(bytes).into_owned() } else { text.into_owned() }
}

/// The greatest length up to `limit` that splits no UTF-8 character.
fn find_boundary(line: &[u8], limit: usize) -> usize {
    (limit.saturating_sub(3)..=limit)
        .rev()
        .find(|&at| line.get(at).is_none_or(|byte| byte & 0xc0 != 0x80))
        .unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_go() {
        let line = b"\x1b[1;31mERROR\x1b[0m x\x1b]0;title\x07y\x1b";
        assert_eq!(strip_escapes(line).as_ref(), b"ERROR xy");
        assert!(matches!(strip_escapes(b"plain"), Cow::Borrowed(_)));
        assert_eq!(strip_escapes(b"a\x1b[12").as_ref(), b"a");
    }

    #[test]
    fn gbk_is_read_and_what_is_neither_is_marked() {
        let (gbk, _, _) = encoding_rs::GBK.encode("设备内存不足");
        assert_eq!(decode(&gbk), "设备内存不足");
        assert_eq!(decode(b"a\xffb\xff"), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let text = decode_evidence("错".repeat(1000).as_bytes());
        assert!(text.len() < 620 && text.ends_with("错…"), "{text}");
        let line = format!("{}here{}", "错".repeat(1000), "误".repeat(1000));
        let text = decode_evidence_at(line.as_bytes(), 3000);
        assert!(text.len() < 620 && text.contains("here"), "{text}");
        assert!(text.starts_with("…错") && text.ends_with("误…"), "{text}");
    }
}
