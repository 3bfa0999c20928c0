//! Cells of notebooks, rewritten so that the parser terminates.
//!
//! If the parser (ruff_python_parser 0.0.10) expects an expression and finds a line that begins
//! with `?`, `/`, `;` or `,`, which is a command of IPython, it panics: it assumes that there is no
//! such line, which is wrong while it recovers from an earlier error. So its input contains no such
//! line: a command is changed to begin with `%`, and a line that continues an open construct of the
//! lines above is joined to the last of them. Everything else keeps its position.

use std::borrow::Cow;

/// First bytes of commands at which the parser may panic.
const STUMBLES: [u8; 4] = [b'?', b'/', b';', b','];

/// The text of cells, with all bytes in their positions and no line that begins like such a
/// command.
pub(super) fn parsable(text: &str) -> Cow<'_, str> {
    let mut at = 0;
    let risky = text.split_inclusive(['\n', '\r']).any(|line| {
        let begin = at + indentation(line.as_bytes());
        at += line.len();
        text.as_bytes().get(begin).is_some_and(|byte| STUMBLES.contains(byte))
    });
    if !risky {
        return Cow::Borrowed(text);
    }
    let mut scan = Scan { bytes: text.as_bytes().to_vec(), level: 0, comments: Vec::new() };
    scan.run();
    // Only complete characters are overwritten.
    String::from_utf8(scan.bytes).map_or(Cow::Borrowed(""), Cow::Owned)
}

fn indentation(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0c)).count()
}

fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

struct Scan {
    bytes: Vec<u8>,
    /// The number of open brackets.
    level: usize,
    /// The ranges of the comments so far.
    comments: Vec<(usize, usize)>,
}

impl Scan {
    fn run(&mut self) {
        let mut at = self.line(0);
        while let Some(&byte) = self.bytes.get(at) {
            at = match byte {
                b'\n' | b'\r' => self.line(at + 1),
                b'#' => {
                    let end = self.end_of_line(at);
                    self.comments.push((at, end));
                    end
                }
                b'"' | b'\'' => self.string(at, byte),
                b'\\' => self.escaped(at),
                b'(' | b'[' | b'{' => {
                    self.level += 1;
                    at + 1
                }
                b')' | b']' | b'}' => {
                    self.level = self.level.saturating_sub(1);
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    fn end_of_line(&self, from: usize) -> usize {
        let end = self.bytes[from..].iter().position(|byte| ends_line(*byte));
        end.map_or(self.bytes.len(), |end| from + end)
    }

    /// Handles the beginning of a line outside of strings. Returns the position behind its
    /// indentation, or, for a command, behind the line.
    fn line(&mut self, start: usize) -> usize {
        let at = start + indentation(&self.bytes[start..]);
        if self.level > 0 {
            self.join(at);
            return at;
        }
        match self.bytes.get_mut(at) {
            Some(first) if STUMBLES.contains(first) => *first = b'%',
            Some(b'%' | b'!') => {}
            _ => return at,
        }
        // A backslash continues the command on the next line.
        let mut end = self.end_of_line(at);
        while self.bytes[..end].ends_with(b"\\") && end < self.bytes.len() {
            let next = self.escaped(end - 1);
            end = self.end_of_line(next);
        }
        end
    }

    /// The position behind a backslash and the escaped character or line end.
    fn escaped(&mut self, at: usize) -> usize {
        let mut next = at + 1;
        match self.bytes.get(next) {
            None => return next,
            Some(byte) if !ends_line(*byte) => return next + 1,
            Some(_) => next += if self.bytes[next..].starts_with(b"\r\n") { 2 } else { 1 },
        }
        self.join(next + indentation(&self.bytes[next..]));
        next
    }

    /// The position behind the string that begins at a quote; the end of the line if it is not
    /// terminated.
    fn string(&mut self, start: usize, quote: u8) -> usize {
        let triple = self.bytes[start..].starts_with(&[quote; 3]);
        let mut at = start + if triple { 3 } else { 1 };
        while let Some(&byte) = self.bytes.get(at) {
            at = match byte {
                b'\\' => self.escaped(at),
                b'\n' | b'\r' if !triple => return at,
                b'\n' | b'\r' => {
                    self.join(at + 1 + indentation(&self.bytes[at + 1..]));
                    at + 1
                }
                _ if byte == quote && !triple => return at + 1,
                _ if self.bytes[at..].starts_with(&[quote; 3]) => return at + 3,
                _ => at + 1,
            };
        }
        at
    }

    /// Joins the text at `at`, the first of its line, to the last line above with content, if it
    /// begins with a byte at which the parser may panic; replaces that byte by `%` if there is no
    /// such line.
    fn join(&mut self, at: usize) {
        if !self.bytes.get(at).is_some_and(|byte| STUMBLES.contains(byte)) {
            return;
        }
        let mut end = at;
        loop {
            let text = self.bytes[..end].trim_ascii_end().len();
            let broken = self.bytes[text..end].iter().any(|byte| ends_line(*byte));
            self.bytes[text..end].fill(b' ');
            end = match (self.comments.last(), self.bytes[..text].last()) {
                (_, None) => {
                    self.bytes[at] = b'%';
                    return;
                }
                (Some(&(start, stop)), _) if (start + 1..=stop).contains(&text) => {
                    self.comments.pop();
                    self.bytes[start..stop].fill(b' ');
                    start
                }
                (_, Some(b'\\')) if broken => text - 1,
                _ => return,
            };
            self.bytes[end..at].fill(b' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{on_enough_stack, parse_module};

    #[test]
    fn commands_and_continued_lines_are_distinguished() {
        for (text, expected) in [
            ("x = 1\n!ls\n%time x\n", "x = 1\n!ls\n%time x\n"),
            ("?x\nx = 1\n  /f x\n", "%x\nx = 1\n  %f x\n"),
            ("f(a\n  , b)\n,f a\n", "f(a   , b)\n%f a\n"),
            ("x = (a  # é\n\n  / b)\n", "x = (a          / b)\n"),
            ("x = a \\\n  / b\n", "x = a     / b\n"),
            ("x = a \\\r\n/ b\n", "x = a    / b\n"),
            ("'''a\n/b\n'''\n;c\n", "'''a /b\n'''\n%c\n"),
            ("'\\\\'\n/b\n", "'\\\\'\n%b\n"),
            ("!echo it's \\\n/x (\n?y\n", "!echo it's   /x (\n%y\n"),
            ("(\n/b", "( /b"),
        ] {
            assert_eq!(parsable(text), expected, "{text:?}");
            assert_eq!(parsable(text).len(), text.len());
        }
    }

    /// Found by the fuzz target `sources`: the parser stopped the program.
    #[test]
    fn unparsable_cells_are_errors() {
        for text in
            ["\"\"(]\n;", "f(]\n/x\n", "import torch\nf(]\n  ,x\n", "f(]\n?x\n", "if (\n?\n"]
        {
            assert!(parse_module(text, true).is_err(), "{text:?}");
        }
        let good = "y = f(a\n      , *b)\n?y\n/f x\nz = (y\n     / 2)\n";
        assert!(parse_module(good, true).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn no_line_begins_as_the_parser_does_not_expect(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "(", ")", "[", "]", "{", "}", "'", "\"", "'''", "f'", "#", "\n", "\r\n", "\r", "\\", " ",
                    "\n/", "\n?", "\n;", "\n,", "\n  / a", "%x", "!ls", "=", "x", "é", "def ", "class ", ":", "@",
                    "with ", "lambda", "if ", "match ", "case ", ".", "*", "return ", "0", "\n    ", "\x0c",
                ]),
                0..60,
            ),
        ) {
            let text = pieces.concat();
            let parsable = parsable(&text);
            prop_assert_eq!(parsable.len(), text.len());
            for line in parsable.split(['\n', '\r']) {
                let first = line.as_bytes().get(indentation(line.as_bytes()));
                prop_assert!(!first.is_some_and(|byte| STUMBLES.contains(byte)), "{text:?} {parsable:?}");
            }
            // It terminates in either case.
            let _ = on_enough_stack(&text, || parse_module(&text, true).map(drop));
        }
    }
}
