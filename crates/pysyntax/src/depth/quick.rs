//! Recognizes most sources without deep nesting, 64 bytes at a time.
//!
//! No tree is deeper than the number of tokens in its statement, plus the blocks around it. Nearly
//! all statements are short, so counting tokens is enough, without knowing their kinds. Most are so
//! short that even the number of their bytes is below the limit; tokens are counted only in the
//! others. In a list over many lines, each line that ends in a comma counts separately. Cases that
//! this cannot decide are left to the count of operators ([`super::of`]): a statement with many
//! tokens, and formatted strings that contain others with the same quotes.

use memchr::memchr;
use wide::u8x16;

use super::text_end;

/// The number of bytes processed together.
const BLOCK: usize = 64;
/// The number of bytes compared at once.
const PART: usize = 16;
/// The maximum number of nested brackets that are tracked.
const LEVELS: usize = 32;

/// Whether no statement of a text has more tokens than `limit`. `false` means unknown.
pub(super) fn is_shallow(text: &str, limit: usize) -> bool {
    let bytes = text.as_bytes();
    let tokens = indentation(bytes);
    let mut scan = Scan {
        bytes,
        limit,
        exact: false,
        begin: (0, tokens),
        tokens,
        level: 0,
        outer: [0; LEVELS],
        comma: false,
    };
    let mut at = 0;
    loop {
        let next = if at < bytes.len() {
            scan.block(at)
        } else if scan.tokens <= limit {
            return true;
        } else {
            None
        };
        let Some(next) = next.or_else(|| scan.again()) else { return false };
        at = next;
    }
}

struct Scan<'t> {
    bytes: &'t [u8],
    limit: usize,
    /// Whether tokens are counted instead of bytes.
    exact: bool,
    /// The start of the statement, and its indentation.
    begin: (usize, usize),
    /// Tokens of the statement, or its bytes, minus those of finished elements, plus its
    /// indentation.
    tokens: usize,
    /// The number of open brackets.
    level: usize,
    /// An upper bound of the count when each of them was opened.
    outer: [usize; LEVELS],
    /// Whether a comment follows a comma.
    comma: bool,
}

/// The positions of token kinds in a block, a bit for each byte.
struct Masks {
    /// Starts of tokens; empty if bytes are counted.
    tokens: u64,
    blanks: u64,
    opening: u64,
    closing: u64,
    line_ends: u64,
    single: u64,
    double: u64,
    comments: u64,
    escapes: u64,
}

impl Masks {
    fn of(block: &[u8; BLOCK]) -> Self {
        let mut masks = Self {
            tokens: 0,
            blanks: 0,
            opening: 0,
            closing: 0,
            line_ends: 0,
            single: 0,
            double: 0,
            comments: 0,
            escapes: 0,
        };
        let (parts, _) = block.as_chunks::<PART>();
        // The first bytes go into the lowest bits.
        for part in parts.iter().rev() {
            let bytes = u8x16::new(*part);
            // `[` and `{`, `]` and `}`, and letters of both cases differ by one bit.
            let lower = bytes | u8x16::splat(0x20);
            let is = |byte: u8| bytes.simd_eq(u8x16::splat(byte));
            add(&mut masks.blanks, is(b' ') | is(b'\t'));
            add(&mut masks.opening, is(b'(') | lower.simd_eq(u8x16::splat(b'{')));
            add(&mut masks.closing, is(b')') | lower.simd_eq(u8x16::splat(b'}')));
            add(&mut masks.line_ends, is(b'\n'));
            add(&mut masks.single, is(b'\''));
            add(&mut masks.double, is(b'"'));
            add(&mut masks.comments, is(b'#'));
            add(&mut masks.escapes, is(b'\\'));
        }
        masks
    }

    /// Finds the starts of tokens.
    fn count_tokens(&mut self, block: &[u8; BLOCK]) {
        let mut words = 0;
        let (parts, _) = block.as_chunks::<PART>();
        for part in parts.iter().rev() {
            let bytes = u8x16::new(*part);
            let lower = bytes | u8x16::splat(0x20);
            let other = bytes.simd_eq(u8x16::splat(b'_')) | bytes.simd_ge(u8x16::splat(0x80));
            add(&mut words, within(lower, b'a', b'z') | within(bytes, b'0', b'9') | other);
        }
        // A word that continues from the previous block counts twice.
        self.tokens = words & !(words << 1) | !(words | self.blanks | self.line_ends);
    }
}

/// Shifts in a bit for each byte below the existing ones.
fn add(mask: &mut u64, bytes: u8x16) {
    *mask = *mask << PART | u64::from(bytes.to_bitmask());
}

fn within(bytes: u8x16, first: u8, last: u8) -> u8x16 {
    bytes.simd_ge(u8x16::splat(first)) & bytes.simd_le(u8x16::splat(last))
}

/// All bits from `bit` on.
fn from(bit: usize) -> u64 {
    u64::try_from(bit).ok().and_then(|bit| u64::MAX.checked_shl(bit.try_into().ok()?)).unwrap_or(0)
}

/// The lowest set bit; 64 if there is none.
fn lowest(bits: u64) -> usize {
    bits.trailing_zeros() as usize
}

/// The number of blanks at the start of a text.
fn indentation(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

impl Scan<'_> {
    /// Counts in a block. Returns the next position, or `None` if the count exceeds the limit.
    fn block(&mut self, at: usize) -> Option<usize> {
        let rest = &self.bytes[at..];
        let mut last = [b' '; BLOCK];
        let block = rest.first_chunk().unwrap_or_else(|| {
            last[..rest.len()].copy_from_slice(rest);
            &last
        });
        let mut masks = Masks::of(block);
        if self.exact {
            masks.count_tokens(block);
        }
        let events = masks.line_ends | masks.single | masks.double | masks.comments;
        let mut here = 0;
        loop {
            let next = lowest(events & from(here));
            self.count(&masks, here, next)?;
            if next == BLOCK {
                return Some(at + BLOCK);
            }
            here = match block[next] {
                b'\n' => {
                    self.line_end(at, next, &masks)?;
                    next + 1
                }
                b'#' => {
                    let before = self.bytes[..at + next].trim_ascii_end();
                    self.comma = before.ends_with(b",");
                    let end = lowest(masks.line_ends & from(next));
                    if end == BLOCK {
                        let rest = self.bytes.get(at + BLOCK..).unwrap_or_default();
                        return Some(at + BLOCK + memchr(b'\n', rest).unwrap_or(rest.len()));
                    }
                    end
                }
                quote => {
                    let same = if quote == b'"' { masks.double } else { masks.single };
                    let stops = (same | masks.escapes | masks.line_ends) & from(next + 1);
                    let end = lowest(stops);
                    let plain = !self.is_triple(at + next, quote) && !self.is_formatted(at + next);
                    if plain && end < BLOCK && block[end] != b'\\' {
                        // A line end terminates an unterminated string.
                        if block[end] == quote { end + 1 } else { end }
                    } else {
                        let end = self.string(at + next, quote)?;
                        if end >= at + BLOCK {
                            return Some(end);
                        }
                        end - at
                    }
                }
            };
            if here >= BLOCK {
                return Some(at + BLOCK);
            }
        }
    }

    /// Returns to the start of the statement, to count its tokens; `None` if that was done before.
    fn again(&mut self) -> Option<usize> {
        if std::mem::replace(&mut self.exact, true) {
            return None;
        }
        (self.level, self.comma) = (0, false);
        let (at, indentation) = self.begin;
        self.tokens = indentation;
        Some(at)
    }

    /// Counts the tokens and brackets in a part of a block.
    fn count(&mut self, masks: &Masks, start: usize, end: usize) -> Option<()> {
        let part = from(start) & !from(end);
        self.tokens +=
            if self.exact { (masks.tokens & part).count_ones() as usize } else { end - start };
        let mut brackets = (masks.opening | masks.closing) & part;
        while brackets != 0 {
            let lowest = brackets & brackets.wrapping_neg();
            brackets ^= lowest;
            if masks.opening & lowest == 0 {
                self.level = self.level.saturating_sub(1);
            } else {
                // Some of these tokens are behind the bracket: the count is too high, never too
                // low.
                *self.outer.get_mut(self.level)? = self.tokens;
                self.level += 1;
            }
        }
        Some(())
    }

    /// Handles the end of a line at a position of the block that begins at `block`.
    fn line_end(&mut self, block: usize, place: usize, masks: &Masks) -> Option<()> {
        let at = block + place;
        let before = at.checked_sub(1).and_then(|before| self.bytes.get(before));
        let comma = std::mem::take(&mut self.comma) || before == Some(&b',');
        if self.tokens > self.limit {
            return None;
        }
        match self.level.checked_sub(1) {
            None if before != Some(&b'\\') => {
                let text = lowest(!masks.blanks & from(place + 1));
                self.tokens = if text < BLOCK {
                    text - (place + 1)
                } else {
                    indentation(&self.bytes[at + 1..])
                };
                self.begin = (at + 1, self.tokens);
                self.exact = false;
            }
            Some(level) if comma => self.tokens = *self.outer.get(level)?,
            _ => {}
        }
        Some(())
    }

    fn is_triple(&self, at: usize, quote: u8) -> bool {
        matches!(self.bytes[at..], [a, b, c, ..] if a == quote && b == quote && c == quote)
    }

    /// Whether the string at a quote is formatted, by the letters before it: `f"…"`, `rf"…"`, `t"…"`.
    fn is_formatted(&self, quote: usize) -> bool {
        let letter = |back: usize| {
            quote.checked_sub(back).and_then(|at| self.bytes.get(at)).map(u8::to_ascii_lowercase)
        };
        let formats = |letter| matches!(letter, Some(b'f' | b't'));
        formats(letter(1)) || letter(1) == Some(b'r') && formats(letter(2))
    }

    /// The end of a string; `None` if the string is not plain.
    fn string(&mut self, at: usize, quote: u8) -> Option<usize> {
        let triple = self.is_triple(at, quote);
        let begin = at + if triple { 3 } else { 1 };
        if !self.is_formatted(at) {
            return Some(text_end(self.bytes, begin, quote, triple));
        }
        if triple { None } else { self.formatted(begin, quote) }
    }

    /// The end of a formatted string on one line without its own quote inside. The content of
    /// braces is counted byte by byte.
    fn formatted(&mut self, begin: usize, quote: u8) -> Option<usize> {
        let mut at = begin;
        let mut braces = 0usize;
        loop {
            let byte = *self.bytes.get(at)?;
            let next = self.bytes.get(at + 1).copied();
            match byte {
                b'\n' | b'#' if byte == b'\n' || braces > 0 => return None,
                // `\{` and `\N{…}`.
                b'\\' if braces > 0 || matches!(next, None | Some(b'{' | b'N' | b'\n')) => {
                    return None;
                }
                b'\\' => at += 1,
                _ if byte == quote => return (braces == 0).then_some(at + 1),
                b'"' | b'\'' if braces > 0 => at = self.nested(at, byte)?,
                b'{' if braces == 0 && next == Some(b'{') => at += 1,
                b'{' => braces += 1,
                b'}' => braces = braces.saturating_sub(1),
                _ => {}
            }
            self.tokens += usize::from(braces > 0);
            at += 1;
        }
    }

    /// The last quote of a text-only string within a formatted one.
    fn nested(&self, at: usize, quote: u8) -> Option<usize> {
        if self.is_triple(at, quote) {
            return None;
        }
        let rest = &self.bytes[at + 1..];
        let ends = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\' | b'\n' | b'{' | b'}');
        let end = rest.iter().position(ends)?;
        (rest[end] == quote).then_some(at + 1 + end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
    use ruff_python_ast::{Expr, Stmt};
    use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

    use super::*;

    /// The actual depth of a tree.
    #[derive(Default)]
    struct Depth {
        here: usize,
        most: usize,
    }

    impl Depth {
        fn inside(&mut self, walk: impl FnOnce(&mut Self)) {
            self.here += 1;
            self.most = self.most.max(self.here);
            walk(self);
            self.here -= 1;
        }
    }

    impl<'a> Visitor<'a> for Depth {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            self.inside(|me| walk_stmt(me, stmt));
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            self.inside(|me| walk_expr(me, expr));
        }
    }

    fn depth(text: &str) -> usize {
        let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
        let mut depth = Depth::default();
        if let ruff_python_ast::Mod::Module(module) = parsed.syntax() {
            depth.visit_body(&module.body);
        }
        depth.most
    }

    /// The statement, its expression and its names are not tokens that nest.
    fn holds(text: &str, limit: usize) -> bool {
        !is_shallow(text, limit) || depth(text) <= limit + 3
    }

    #[test]
    fn usual_sources_are_shallow() {
        for text in [
            "x = [1.5, 2.5, -3.5]\nif a and b:\n    f(x)[0].y('((((')\n",
            "\"\"\"A text (( of\n\nlines.\"\"\"\nimport torch  # (((\n",
            "print(f\"{x['a']} of {y:>{w}} {{ \\n\" 'b' + rf'{z}')\n",
            "t = {\n    'a': (1, 2),  # why\n    'b': [3, 4],\n}\n",
            "x = '\\'(((' + r'\\'\n",
        ] {
            assert!(is_shallow(text, 30), "{text}");
        }
        let long = format!("x = [\n{}]\n", "    0.5, 1.5, 'a',\n".repeat(1_000));
        assert!(is_shallow(&long, 30));
        let lines = "    x = y.z(1, '(', \"#\")  # (\n".repeat(1_000);
        assert!(is_shallow(&format!("def f():\n{lines}"), 40));
    }

    #[test]
    fn deep_sources_are_not_shallow() {
        for deep in [
            "(".repeat(200),
            format!("a{}", ".b".repeat(200)),
            "not ".repeat(200),
            format!("1{}", "+1".repeat(200)),
            "lambda: ".repeat(200),
            format!("f\"{{\"\" + {} + \"\"}}\"", "(".repeat(200)),
            format!("f'{{\"'\" + {}", "(".repeat(200)),
            format!("f{}", "()".repeat(200)),
            format!("))))(((({}", "\n))))((((".repeat(200)),
            format!("[{}", "(\n".repeat(200)),
            "\n".repeat(10) + &(0..200).map(|n| " ".repeat(n) + "if x:\n").collect::<String>(),
        ] {
            assert!(!is_shallow(&deep, 150), "{}", &deep[..9]);
        }
    }

    #[test]
    fn all_places_of_a_block_are_alike() {
        for blanks in 0..130 {
            let before = format!("x = 1{}\n", " ".repeat(blanks));
            assert!(is_shallow(&format!("{before}y = '(((((((((('\n"), 10), "{blanks}");
            assert!(is_shallow(&format!("{before}# (((((((((((((\n"), 10), "{blanks}");
            assert!(!is_shallow(&format!("{before}y = ((((((((((0\n"), 10), "{blanks}");
            assert!(!is_shallow(&format!("{before}'a'((((((((((((\n"), 10), "{blanks}");
        }
    }

    proptest! {
        /// Sources reported as shallow are shallow, however broken the text.
        #[test]
        fn no_deep_source_counts_as_shallow(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "(", ")", "[", "]", "{", "}", "'", "\"", "'''", "\"\"\"", "f'", "f\"", "rf'", "#", "\n",
                    "\\\n", "\\", " ", "    ", ",", ",\n", ".", "+", "-", "not ", "a", "b1", "if x:", ":", ";",
                    "lambda:", "=", "()", "{{", "\n    ", "\n  if a:\n", "é", "x = ", "await ", "*", "f'{", "}'",
                ]),
                0..160,
            ),
            limit in 2usize..24,
        ) {
            let text = pieces.concat();
            prop_assert!(holds(&text, limit), "{} {}", depth(&text), limit);
        }
    }
}
