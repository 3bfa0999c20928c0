//! An upper bound for the nesting of a source, computed before it is parsed.
//!
//! The guard is needed although the parser grows its stack itself: our visitors, those of
//! `ruff_python_ast` and the drop of a tree recurse without such growth, and a hostile file of a
//! few megabytes (`a.b.b.b…`, `not not not …`, `((((…`) would overflow the stack of any thread. So
//! operators and brackets that can nest are counted first, approximately but never too few.

mod quick;

use memchr::{memchr, memchr2, memchr3};

/// Depth that the stack of every thread allows.
pub(super) const SHALLOW: usize = 150;
/// The maximum nesting. CPython itself stops at 200 brackets.
const LIMIT: usize = 5_000;
/// The stack size for sources deeper than [`SHALLOW`], in bytes; only the used part is ever
/// allocated.
pub(super) const STACK: usize = 512 << 20;

/// Whether the stack of every thread is enough for the tree of `text`. If this returns `false`,
/// [`of`] may still find a small enough depth.
pub(super) fn is_shallow(text: &str) -> bool {
    quick::is_shallow(text, SHALLOW)
}

/// An upper bound for the depth of the tree of `text`.
///
/// # Errors
///
/// With the line, from 1, at which it exceeds the limit.
pub(super) fn of(text: &str) -> Result<usize, u32> {
    let bytes = text.as_bytes();
    let mut scan =
        Scan { bytes, at: 0, open: Vec::new(), here: 0, total: 0, deepest: 0, nests: false };
    scan.run();
    if scan.deepest > LIMIT {
        let before = memchr::memchr_iter(b'\n', &bytes[..scan.at]).count();
        return Err(u32::try_from(before + 1).unwrap_or(u32::MAX));
    }
    Ok(scan.deepest)
}

/// The token that a byte in code begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// Nothing that is counted.
    Nothing,
    /// An operator.
    Operator,
    /// A word that is not an operator, by its first letter.
    Word,
    /// A word that may be an operator.
    WordOrOperator,
    Opening,
    Closing,
    /// A separator of elements or statements.
    Separator,
    LineEnd,
    Comment,
    Text,
}

const BEGINS: [Begins; 256] = {
    let mut begins = [Begins::Nothing; 256];
    let mut byte = 0;
    while byte < 128 {
        begins[byte as usize] = match byte {
            b'a' | b'e' | b'f' | b'i' | b'l' | b'n' | b'o' | b'y' => Begins::WordOrOperator,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Begins::Word,
            b'(' | b'[' | b'{' => Begins::Opening,
            b')' | b']' | b'}' => Begins::Closing,
            b',' | b';' => Begins::Separator,
            b'\n' => Begins::LineEnd,
            b'#' => Begins::Comment,
            b'"' | b'\'' => Begins::Text,
            b'.' | b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<'
            | b'>' | b':' => Begins::Operator,
            _ => Begins::Nothing,
        };
        byte += 1;
    }
    begins
};

/// The end of a word: letters, digits, `_`, and non-ASCII bytes.
fn word_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let beyond = !in_word(u64::from_le_bytes(*eight)) & (EACH * 0x80);
        if beyond != 0 {
            return at + (beyond.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    at + rest.iter().take_while(|byte| word(byte)).count()
}

/// One in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// For eight bytes, the highest bit of each that continues a word. Each addition carries a byte at
/// or above a bound into its highest bit, and never beyond it.
fn in_word(eight: u64) -> u64 {
    let ascii = eight & (EACH * 0x7f);
    let at_least = |bytes: u64, bound: u8| bytes + EACH * u64::from(0x80 - bound);
    let lower = ascii | (EACH * 0x20);
    let letter = at_least(lower, b'a') & !at_least(lower, b'z' + 1);
    let digit = at_least(ascii, b'0') & !at_least(ascii, b'9' + 1);
    let underscore = !at_least(ascii ^ (EACH * u64::from(b'_')), 1);
    eight | letter | digit | underscore
}

/// The lengths of the counted words by first letter, one bit each.
const OPERATORS: [u8; 256] = {
    let mut lengths = [0; 256];
    lengths[b'a' as usize] = 1 << 3 | 1 << 5;
    lengths[b'e' as usize] = 1 << 4;
    lengths[b'f' as usize] = 1 << 3;
    lengths[b'i' as usize] = 1 << 2;
    lengths[b'l' as usize] = 1 << 6;
    lengths[b'n' as usize] = 1 << 3;
    lengths[b'o' as usize] = 1 << 2;
    lengths[b'y' as usize] = 1 << 5;
    lengths
};

/// Whether a byte in a string has a special meaning.
const IN_STRING: [bool; 256] = {
    let mut counts = [false; 256];
    let bytes = b"\\\n{([}])\"'";
    let mut at = 0;
    while at < bytes.len() {
        counts[bytes[at] as usize] = true;
        at += 1;
    }
    counts
};

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    /// The counts around each open bracket.
    open: Vec<usize>,
    /// Operators since the last comma or the like on this level.
    here: usize,
    /// `here` of all levels around.
    total: usize,
    deepest: usize,
    /// There was a formatted string, whose quotes may be nested: from then on, apparent text may be
    /// code.
    nests: bool,
}

impl Scan<'_> {
    /// Counts to the end, or to the first position that is too deep.
    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match BEGINS[usize::from(byte)] {
                Begins::Nothing => self.at += 1,
                Begins::Operator => {
                    self.here += 1;
                    self.at += 1;
                }
                Begins::Word => self.at = word_end(self.bytes, self.at),
                Begins::WordOrOperator => self.word(),
                Begins::Opening => {
                    self.here += 1;
                    self.open.push(self.here);
                    self.total += self.here;
                    self.here = 0;
                    self.at += 1;
                    if self.open.len() > LIMIT {
                        self.deepest = self.open.len();
                        return;
                    }
                }
                Begins::Closing => {
                    self.reached();
                    if let Some(around) = self.open.pop() {
                        self.total -= around;
                        self.here = around;
                    }
                    self.at += 1;
                }
                Begins::Separator => {
                    self.reached();
                    self.here = 0;
                    self.at += 1;
                }
                Begins::LineEnd => {
                    self.reached();
                    if self.deepest > LIMIT {
                        return;
                    }
                    let goes_on = self.at > 0 && self.bytes[self.at - 1] == b'\\';
                    if self.open.is_empty() && !goes_on {
                        self.indentation();
                    } else {
                        self.at += 1;
                    }
                }
                Begins::Comment => self.skip_to_line_end(),
                Begins::Text => self.string(byte),
            }
        }
        self.reached();
    }

    /// Updates the maximum depth. The count only grows until a bracket closes or something ends, so
    /// it is updated only then.
    fn reached(&mut self) {
        self.deepest = self.deepest.max(self.total + self.here + self.open.len());
    }

    /// A new logical line: blocks nest by their indentation.
    fn indentation(&mut self) {
        self.at += 1;
        let start = self.at;
        // Nearly all indentations are multiples of four blanks.
        while self.bytes[self.at..].starts_with(b"    ") {
            self.at += 4;
        }
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        self.here = self.at - start;
    }

    fn word(&mut self) {
        let start = self.at;
        self.at = word_end(self.bytes, start);
        // First letter and length already exclude most words.
        let lengths = OPERATORS[usize::from(self.bytes[start])];
        let length = self.at - start;
        if length > 6 || lengths >> length & 1 == 0 {
            return;
        }
        if let b"not" | b"and" | b"or" | b"if" | b"else" | b"lambda" | b"await" | b"for" | b"in"
        | b"is" | b"yield" = &self.bytes[start..self.at]
        {
            self.here += 1;
        }
    }

    fn skip_to_line_end(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Skips a string. The content of f-strings is counted by the brackets in the string, which are
    /// more than those of its expressions.
    fn string(&mut self, quote: u8) {
        let triple = self.bytes[self.at..].starts_with(&[quote; 3]);
        let prefix = &self.bytes[self.at.saturating_sub(2)..self.at];
        self.at += if triple { 3 } else { 1 };
        // Only a formatted string contains more than text: `f"{x}"`, `rf"…"`, `t"…"`.
        self.nests |= prefix.iter().any(|byte| matches!(byte, b'f' | b'F' | b't' | b'T'));
        if !self.nests {
            self.at = text_end(self.bytes, self.at, quote, triple);
            return;
        }
        let mut braces = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            if !IN_STRING[usize::from(byte)] {
                self.at += 1;
                continue;
            }
            match byte {
                b'\\' => self.at += 1,
                b'\n' if !triple => return,
                b'{' | b'(' | b'[' => {
                    braces += 1;
                    self.deepest =
                        self.deepest.max(self.total + self.here + self.open.len() + braces);
                }
                b'}' | b')' | b']' => braces = braces.saturating_sub(1),
                _ if byte == quote => {
                    if !triple {
                        self.at += 1;
                        return;
                    }
                    if self.bytes[self.at..].starts_with(&[quote; 3]) {
                        self.at += 3;
                        return;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

/// The end of a string that contains only text, from behind its first quote.
fn text_end(bytes: &[u8], begin: usize, quote: u8, triple: bool) -> usize {
    let mut at = begin;
    loop {
        let rest = &bytes[at.min(bytes.len())..];
        let found =
            if triple { memchr2(quote, b'\\', rest) } else { memchr3(quote, b'\\', b'\n', rest) };
        let Some(found) = found else { return bytes.len() };
        at += found;
        match rest[found] {
            b'\\' => at += 2,
            b'\n' => return at,
            _ if !triple => return at + 1,
            _ if rest[found..].starts_with(&[quote; 3]) => return at + 3,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_sources_are_shallow() {
        assert!(of("x = [1.5, 2.5, -3.5]\nif a and b:\n    f(x)[0].y('((((')\n").unwrap() < 20);
        let long = format!("x = [{}]\n", "0.5, ".repeat(100_000));
        assert!(of(&long).unwrap() < 5);
    }

    #[test]
    fn truncated_text_is_scanned_to_its_end() {
        for text in ["'\\", "x = '''a\\", "f'\\", "#", "f(", "\n ", "x\\"] {
            assert!(of(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn word_ends_are_found() {
        for byte in 0..=255u8 {
            let word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
            for at in 0..20 {
                let mut bytes = [b'x'; 20];
                bytes[at] = byte;
                assert_eq!(word_end(&bytes, 0), if word { 20 } else { at }, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn strings_are_skipped() {
        for text in [
            "'((((('",
            "\"\"\"((((('\n\"(\\\"\"\"\"",
            "'\\'((((('",
            "b'((((('",
            "'(((((\n",
            "'(((((\\",
        ] {
            assert!(of(text).unwrap() < 3, "{text}");
        }
        for text in
            ["f'{((((x))))}'", "rf\"{((((x))))}\"", "''(((((", "''''(''' + (((((", "b'('((((("]
        {
            assert!(of(text).unwrap() >= 5, "{text}");
        }
    }

    #[test]
    fn too_deep_source_is_reported_with_its_line() {
        for deep in [
            "(".repeat(9_000),
            format!("a{}", ".b".repeat(9_000)),
            "not ".repeat(9_000),
            format!("1{}", "+1".repeat(9_000)),
            "lambda: ".repeat(9_000),
            // Nested quotes: apparent text is code.
            format!("f\"{{\"\" + {} + \"\"}}\"", "(".repeat(9_000)),
            format!("f'{{\"\" + \"a\"}}' + f\"{{\"\" + {}", "[".repeat(9_000)),
            format!("f{}", "()".repeat(9_000)),
        ] {
            assert_eq!(of(&format!("x = 1\ny = {deep}\n")), Err(2), "{}", &deep[..9]);
        }
        let between = format!("y = 1{}\n", "+1".repeat(1_000));
        assert!(of(&between).unwrap() > SHALLOW);
    }
}
