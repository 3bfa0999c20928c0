//! Comments in files other than Python.

use std::ops::Range;

use treeedit::kind::FileKind;

/// How comments begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `#` at the start of a word.
    Hash,
    /// `#`, and `;` at the start of a line.
    Ini,
    /// `//` and `/* */`.
    Slash,
}

fn style(kind: FileKind, name: &str) -> Style {
    let lower = name.to_ascii_lowercase();
    let ends = |all: &[&str]| all.iter().any(|end| lower.ends_with(end));
    match kind {
        FileKind::Native if ends(&["cmakelists.txt", ".cmake"]) => Style::Hash,
        FileKind::Rust if ends(&[".toml"]) => Style::Hash,
        FileKind::Native | FileKind::Rust => Style::Slash,
        // Some JSON readers accept comments; plain JSON has no `//` or `/*` outside of strings.
        _ if ends(&[".json", ".jsonc"]) => Style::Slash,
        _ if ends(&[".ini", ".cfg"]) => Style::Ini,
        _ => Style::Hash,
    }
}

/// The comments of a text, in its order.
pub(super) fn comments(kind: FileKind, name: &str, text: &str) -> Vec<Range<usize>> {
    match style(kind, name) {
        Style::Slash => slash(text.as_bytes()),
        Style::Hash => lines(text, false),
        Style::Ini => lines(text, true),
    }
}

fn lines(text: &str, semicolon: bool) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bytes = line.as_bytes();
        let mut quote = None;
        for (column, &byte) in bytes.iter().enumerate() {
            let begins = bytes[..column].last().is_none_or(u8::is_ascii_whitespace);
            match (quote, byte) {
                (None, b'#') if begins => {
                    out.push(at + column..at + line.len());
                    break;
                }
                (None, b';')
                    if semicolon && bytes[..column].iter().all(u8::is_ascii_whitespace) =>
                {
                    out.push(at + column..at + line.len());
                    break;
                }
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), byte) if open == byte => quote = None,
                _ => {}
            }
        }
        at += line.len();
    }
    out
}

fn slash(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'/', b'"', &bytes[at.min(bytes.len())..]) {
        let start = at + found;
        let next = bytes.get(start + 1);
        at = match (bytes[start], next) {
            (b'"', _) => string_end(bytes, start),
            (_, Some(b'/')) => {
                let end = memchr::memchr(b'\n', &bytes[start..]);
                let end = end.map_or(bytes.len(), |length| start + length);
                out.push(start..end);
                end
            }
            (_, Some(b'*')) => {
                let end = memchr::memmem::find(&bytes[start + 2..], b"*/");
                let end = end.map_or(bytes.len(), |length| start + 2 + length + 2);
                out.push(start..end);
                end
            }
            _ => start + 1,
        };
    }
    out
}

/// Where a string that begins at `start` ends; the line end if it is not closed.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            b'\n' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: FileKind, name: &str, text: &str) -> Vec<String> {
        comments(kind, name, text)
            .into_iter()
            .map(|range| text[range].trim_end().to_owned())
            .collect()
    }

    #[test]
    fn comments_by_kind() {
        assert_eq!(of(FileKind::Shell, "a.sh", "a # b\necho '# c' $# x#y\n#d"), ["# b", "#d"]);
        assert_eq!(of(FileKind::Config, "a.ini", "; a\nb = 1 ; c\n"), ["; a"]);
        assert_eq!(
            of(FileKind::Native, "a.cu", "a; // b\n/* c\n*/ d(\"// e\"); 1 / 2;"),
            ["// b", "/* c\n*/"]
        );
        assert!(of(FileKind::Config, "a.json", "{\"a\": \"# b\"} # c").is_empty());
        assert_eq!(of(FileKind::Native, "a.c", "/* not closed"), ["/* not closed"]);
        assert!(of(FileKind::Native, "a.c", "\"\\").is_empty());
    }
}
