//! Classifies places in a Python source as far as a search needs it: code, used strings, or
//! comments and documentation.
//!
//! Not a parser: it scans the bytes once, up to the requested place. Everything that it does not
//! support (quotes within the braces of an f-string, files that are not UTF-8) counts as code.

use memchr::{memchr2, memchr3};

/// The kind of a part of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Code.
    Code,
    /// A string that is used as a value.
    Text,
    /// A comment, or a string that is a statement: documentation.
    Words,
}

/// The parts of a source, one after the other.
pub(super) struct Contexts<'t> {
    bytes: &'t [u8],
    /// The current part: its start, its end and its kind.
    start: usize,
    end: usize,
    kind: Kind,
    /// The number of open brackets at this point.
    depth: usize,
    /// Whether the bytes are UTF-8, so that ASCII bytes are characters; `None` until first needed.
    sound: Option<bool>,
}

impl<'t> Contexts<'t> {
    pub(super) fn of(bytes: &'t [u8]) -> Self {
        Self { bytes, start: 0, end: 0, kind: Kind::Code, depth: 0, sound: None }
    }

    /// The kind of the part at `place`; must be called with ascending places.
    pub(super) fn at(&mut self, place: usize) -> Kind {
        // In other encodings a quote or a backslash may be the second byte of a letter.
        let sound = *self.sound.get_or_insert_with(|| std::str::from_utf8(self.bytes).is_ok());
        if !sound || place < self.start {
            return Kind::Code;
        }
        while self.end <= place && self.end < self.bytes.len() {
            self.advance();
        }
        self.kind
    }

    fn advance(&mut self) {
        self.start = self.end;
        match self.bytes[self.start] {
            b'#' => {
                self.kind = Kind::Words;
                self.end = self.line_end(self.start);
            }
            b'"' | b'\'' => self.string(),
            _ => {
                self.kind = Kind::Code;
                self.code();
            }
        }
    }

    fn line_end(&self, from: usize) -> usize {
        memchr2(b'\n', b'\r', &self.bytes[from..]).map_or(self.bytes.len(), |at| from + at)
    }

    fn code(&mut self) {
        while let Some(&byte) = self.bytes.get(self.end) {
            match byte {
                b'#' | b'"' | b'\'' => return,
                b'(' | b'[' | b'{' => self.depth += 1,
                b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.end += 1;
        }
    }

    fn string(&mut self) {
        let quote = self.bytes[self.start];
        let begins = self.depth == 0 && self.begins_statement();
        let triple = self.bytes[self.start..].starts_with(&[quote; 3]);
        let mut at = self.start + if triple { 3 } else { 1 };
        self.end = loop {
            let rest = &self.bytes[at.min(self.bytes.len())..];
            // A line end closes an unterminated string.
            let Some(found) = memchr3(quote, b'\\', b'\n', rest) else { break self.bytes.len() };
            at += found;
            match self.bytes[at] {
                b'\\' if self.bytes[at + 1..].starts_with(b"\r\n") => at += 3,
                b'\\' => at += 2,
                b'\n' if !triple => break at,
                b'\n' => at += 1,
                _ if !triple => break at + 1,
                _ if self.bytes[at..].starts_with(&[quote; 3]) => break at + 3,
                _ => at += 1,
            }
        };
        let alone = begins && self.ends_statement();
        self.kind = if alone { Kind::Words } else { Kind::Text };
    }

    /// Whether only the prefix of the string precedes it on its line, and the line begins a
    /// statement.
    fn begins_statement(&self) -> bool {
        let before = &self.bytes[..self.start];
        // F-strings and bytes are not documentation.
        let end = before.iter().rposition(|byte| !matches!(byte, b'r' | b'R' | b'u' | b'U'));
        let before = &before[..end.map_or(0, |at| at + 1)];
        let end = before.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\x0c'));
        let Some(end) = end else { return true };
        let lines = &before[..=end];
        let stem = lines.strip_suffix(b"\n").or_else(|| lines.strip_suffix(b"\r"));
        stem.is_some_and(|stem| !stem.strip_suffix(b"\r").unwrap_or(stem).ends_with(b"\\"))
    }

    fn ends_statement(&self) -> bool {
        let rest = &self.bytes[self.end..];
        let next = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        matches!(next, None | Some(b'\n' | b'\r' | b'#' | b';'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind of the part around each `@` of a source.
    fn kinds(source: &str) -> Vec<Kind> {
        let mut contexts = Contexts::of(source.as_bytes());
        source.match_indices('@').map(|(at, _)| contexts.at(at)).collect()
    }

    #[test]
    fn code_text_and_words() {
        use Kind::{Code, Text, Words};
        assert_eq!(kinds("@x = '@'  # @ '\n@\n"), [Code, Text, Words, Code]);
        assert_eq!(kinds("'''@\n'@' \\'''@'''\n@"), [Words, Words, Words, Code]);
        assert_eq!(kinds("x = '\\'@'\ny = \"'@\" + @"), [Text, Text, Code]);
        assert_eq!(kinds("# @\r@\r'@'\r@"), [Words, Code, Words, Code]);
    }

    #[test]
    fn only_a_string_alone_is_documentation() {
        for source in [
            "'@'",
            "def f():\n    r'''@'''\n",
            "class A:\n    x = 1\n    \"\"\"@\"\"\"  # x\n",
            "\u{c}'@'; y = 1\n",
        ] {
            assert_eq!(kinds(source), [Kind::Words], "{source}");
        }
        for source in [
            "f(\n'''@'''\n)",
            "x = \\\n'@'\n",
            "x = \\\r\n'@'\n",
            "'@'.f()\n",
            "'@' 'x'\n",
            "'@' \\\n'x'\n",
            "f'@'\n",
            "b'@'\n",
            "{\n'x':\n'@'\n}",
            "if x: '@'\n",
        ] {
            assert_eq!(kinds(source), [Kind::Text], "{source}");
        }
    }

    #[test]
    fn a_string_that_is_not_closed_ends_with_its_line() {
        assert_eq!(kinds("x = '@\n@\n"), [Kind::Text, Kind::Code]);
        assert_eq!(kinds("x = '''@\n@\n"), [Kind::Text, Kind::Text]);
        assert_eq!(kinds("x = 'a\\\r\n@'\n@\n"), [Kind::Text, Kind::Code]);
    }

    #[test]
    fn other_encodings_are_not_interpreted() {
        let source = b"# caf\xe9 @\n";
        assert_eq!(Contexts::of(source).at(7), Kind::Code);
    }
}
