//! The text of code cells, and the mapping from it to the bytes of the JSON file.

use std::fmt::Write as _;
use std::ops::Range;

/// Text at a position in the file: unchanged, or one escape.
#[derive(Debug, Clone)]
struct Stretch {
    /// Offset in the joined text.
    text: usize,
    /// Length in the joined text.
    len: usize,
    /// Range in the file.
    file: Range<usize>,
}

impl Stretch {
    fn is_escape(&self) -> bool {
        self.file.len() != self.len
    }
}

/// One cell in the joined text.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its text, without the line end that separates it from the next.
    pub range: Range<usize>,
    /// The end of its last string in the file.
    end: usize,
}

/// All code cells, one after another.
#[derive(Debug, Default)]
pub struct Source {
    /// The joined text, with a line end between cells.
    pub text: String,
    /// The cells.
    pub cells: Vec<Cell>,
    stretches: Vec<Stretch>,
}

impl Source {
    /// Adds a cell of these strings; `false` if one of them is not a JSON string.
    pub fn add(&mut self, file: &str, strings: &[Range<usize>]) -> bool {
        let start = self.text.len();
        let stretches = self.stretches.len();
        for string in strings {
            if self.decode(file, string).is_none() {
                self.text.truncate(start);
                self.stretches.truncate(stretches);
                return false;
            }
        }
        let end = strings.last().map_or(0, |string| string.end);
        if !strings.is_empty() {
            self.cells.push(Cell { range: start..self.text.len(), end });
            self.text.push('\n');
        }
        true
    }

    fn decode(&mut self, file: &str, string: &Range<usize>) -> Option<()> {
        let source = &file[string.clone()];
        let mut at = 0;
        while at < source.len() {
            let plain = source[at..].find('\\').unwrap_or(source.len() - at);
            if plain > 0 {
                let start = string.start + at;
                self.push(&source[at..at + plain], start..start + plain);
                at += plain;
                continue;
            }
            let (c, len) = escape(&source[at..])?;
            let start = string.start + at;
            self.push(c.encode_utf8(&mut [0; 4]), start..start + len);
            at += len;
        }
        Some(())
    }

    fn push(&mut self, text: &str, file: Range<usize>) {
        self.stretches.push(Stretch { text: self.text.len(), len: text.len(), file });
        self.text.push_str(text);
    }

    /// The ranges of a part of the text in the file: one for each string that it touches. `None` if
    /// it begins or ends inside an escape.
    pub fn places(&self, part: &Range<usize>) -> Option<Vec<Range<usize>>> {
        let mut out: Vec<Range<usize>> = Vec::new();
        let first = self.stretches.partition_point(|s| s.text + s.len <= part.start);
        for stretch in &self.stretches[first..] {
            if stretch.text >= part.end {
                break;
            }
            let from = part.start.max(stretch.text) - stretch.text;
            let to = part.end.min(stretch.text + stretch.len) - stretch.text;
            let range = if stretch.is_escape() {
                if from > 0 || to < stretch.len {
                    return None;
                }
                stretch.file.clone()
            } else {
                stretch.file.start + from..stretch.file.start + to
            };
            match out.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => out.push(range),
            }
        }
        Some(out)
    }

    /// The position in the file for an insertion at an offset of the text.
    pub fn point(&self, offset: usize) -> Option<usize> {
        let at = self.stretches.partition_point(|s| s.text + s.len <= offset);
        if let Some(stretch) = self.stretches.get(at)
            && stretch.text <= offset
        {
            if stretch.text == offset {
                return Some(stretch.file.start);
            }
            return (!stretch.is_escape()).then(|| stretch.file.start + offset - stretch.text);
        }
        let cell = self.cells.iter().find(|cell| cell.range.end == offset)?;
        Some(cell.end)
    }

    /// The cell that begins at an offset.
    pub fn beginning(&self, offset: usize) -> Option<usize> {
        self.cells.iter().position(|cell| cell.range.start == offset)
    }
}

/// The character behind a backslash, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let c = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'u' => {
            let unit = |at: usize| u32::from_str_radix(text.get(at..at + 4)?, 16).ok();
            let high = unit(2)?;
            if !(0xd800..0xdc00).contains(&high) {
                return Some((char::from_u32(high)?, 6));
            }
            if text.get(6..8) != Some("\\u") {
                return None;
            }
            let low = unit(8)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
            return Some((char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?, 12));
        }
        _ => return None,
    };
    Some((c, 2))
}

/// A text in the form of a JSON string.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
