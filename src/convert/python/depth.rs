//! How deep a source may nest, told before it is parsed.
//!
//! Parsing and walking a tree take stack by its depth, and a hostile file of a few megabytes
//! (`a.b.b.b…`, `not not not …`, `((((…`) would take more than there is. So the operators and
//! brackets that can stand inside each other are counted first, roughly, and never too few.

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
    while scan.at < bytes.len() {
        scan.step();
        if scan.deepest > LIMIT {
            return Err(scan.line);
        }
    }
    Ok(scan.deepest)
}

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
        while self
            .bytes
            .get(self.at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80)
        {
            self.at += 1;
        }
        if let b"not" | b"and" | b"or" | b"if" | b"else" | b"lambda" | b"await" | b"for" | b"in"
        | b"is" | b"yield" = &self.bytes[start..self.at]
        {
            self.count();
        }
    }

    fn skip_to_line_end(&mut self) {
        while self.bytes.get(self.at).is_some_and(|byte| *byte != b'\n') {
            self.at += 1;
        }
    }

    /// Skips a string. What f-strings hold is counted by the brackets of the string, which
    /// are more than those of its expressions.
    fn string(&mut self, quote: u8) {
        let triple = self.bytes[self.at..].starts_with(&[quote; 3]);
        self.at += if triple { 3 } else { 1 };
        let mut braces = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
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
