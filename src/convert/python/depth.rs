//! How deep a source may nest, told before it is parsed.
//!
//! Parsing and walking a tree take stack by its depth, and a hostile file of a few megabytes
//! (`a.b.b.b…`, `not not not …`, `((((…`) would take more than there is. So the operators and
//! brackets that can stand inside each other are counted first, roughly, and never too few.

use memchr::memchr;

/// What the stack of any thread carries.
pub(super) const SHALLOW: usize = 150;
/// The deepest nesting that is read. The interpreter itself stops far below (200 brackets).
const LIMIT: usize = 5_000;
/// The stack for what is deeper than [`SHALLOW`], in bytes; only what is used is ever taken.
pub(super) const STACK: usize = 512 << 20;

/// An upper bound for the depth of the tree of `text`.
///
/// # Errors
///
/// With the line, from 1, where it passes the limit.
pub(super) fn of(text: &str) -> Result<usize, u32> {
    let bytes = text.as_bytes();
    let mut scan = Scan { bytes, at: 0, open: Vec::new(), here: 0, total: 0, deepest: 0, line: 1 };
    while let Some(&byte) = bytes.get(scan.at) {
        if !COUNTS[usize::from(byte)] {
            scan.at += 1;
            continue;
        }
        scan.step();
        if scan.deepest > LIMIT {
            return Err(scan.line);
        }
    }
    Ok(scan.deepest)
}

/// Whether a byte may begin something that counts: most do not.
const COUNTS: [bool; 256] = {
    let mut counts = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        counts[byte as usize] = !matches!(byte, b' ' | b'\t' | b'\r' | b'0'..=b'9' | b'=' | b'!');
        byte += 1;
    }
    counts
};

/// Whether a byte goes on with a word.
const IN_WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        word[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        word[byte as usize + 128] = true;
        byte += 1;
    }
    word
};

/// Whether a byte in a string is more than text.
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
    /// What was counted around each open bracket.
    open: Vec<usize>,
    /// Operators since the last comma or the like on this level.
    here: usize,
    /// `here` of all levels around.
    total: usize,
    deepest: usize,
    line: u32,
}

impl Scan<'_> {
    fn step(&mut self) {
        let byte = self.bytes[self.at];
        match byte {
            b'#' => {
                self.skip_to_line_end();
                return;
            }
            b'"' | b'\'' => {
                self.string(byte);
                return;
            }
            b'(' | b'[' | b'{' => {
                self.count();
                self.open.push(self.here);
                self.total += self.here;
                self.here = 0;
            }
            b')' | b']' | b'}' => {
                if let Some(around) = self.open.pop() {
                    self.total -= around;
                    self.here = around;
                }
            }
            b'\n' => {
                self.line = self.line.saturating_add(1);
                let goes_on = self.at > 0 && self.bytes[self.at - 1] == b'\\';
                if self.open.is_empty() && !goes_on {
                    self.indentation();
                    return;
                }
            }
            b',' | b';' => self.here = 0,
            b'.' | b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<'
            | b'>' | b':' => self.count(),
            _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.word();
                return;
            }
            _ => {}
        }
        self.at += 1;
    }

    fn count(&mut self) {
        self.here += 1;
        self.deepest = self.deepest.max(self.total + self.here + self.open.len());
    }

    /// A new logical line: blocks nest by their indentation.
    fn indentation(&mut self) {
        self.at += 1;
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        self.here = self.at - start;
        self.deepest = self.deepest.max(self.here);
    }

    fn word(&mut self) {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| IN_WORD[usize::from(*byte)]) {
            self.at += 1;
        }
        // The longest of these has six letters.
        if self.at - start > 6 {
            return;
        }
        if let b"not" | b"and" | b"or" | b"if" | b"else" | b"lambda" | b"await" | b"for" | b"in"
        | b"is" | b"yield" = &self.bytes[start..self.at]
        {
            self.count();
        }
    }

    fn skip_to_line_end(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Skips a string. What f-strings hold is counted by the brackets of the string, which
    /// are more than those of its expressions.
    fn string(&mut self, quote: u8) {
        let triple = self.bytes[self.at..].starts_with(&[quote; 3]);
        self.at += if triple { 3 } else { 1 };
        let mut braces = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            if !IN_STRING[usize::from(byte)] {
                self.at += 1;
                continue;
            }
            match byte {
                b'\\' => self.at += 1,
                b'\n' if !triple => return,
                b'\n' => self.line = self.line.saturating_add(1),
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
    fn deep_ones_are_told_with_their_line() {
        for deep in [
            "(".repeat(9_000),
            format!("a{}", ".b".repeat(9_000)),
            "not ".repeat(9_000),
            format!("1{}", "+1".repeat(9_000)),
            "lambda: ".repeat(9_000),
            format!("f{}", "()".repeat(9_000)),
        ] {
            assert_eq!(of(&format!("x = 1\ny = {deep}\n")), Err(2), "{}", &deep[..9]);
        }
        let between = format!("y = 1{}\n", "+1".repeat(1_000));
        assert!(of(&between).unwrap() > SHALLOW);
    }
}
