//! JSON, and the flow collections of YAML: `{a: [b, "c"]}`.
//!
//! Uses a dedicated tokenizer because every value is needed with its byte range as written:
//! deserializers return values without ranges, and none reads JSON with comments as well as the
//! flow style of YAML.

use super::entries::{Entries, Entry};
use crate::syntax::UnparsableText;

/// Deeper nesting is rejected.
const MAX_DEPTH: usize = 128;

/// The syntax to read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// JSON, with the comments and trailing commas that `.jsonc` files have.
    Json,
    /// YAML.
    Yaml,
}

/// Reads a whole JSON document.
pub(super) fn json<'a>(text: &'a str, entries: &mut Entries<'a>) -> Result<(), UnparsableText> {
    let mut reader = Flow { text, at: 0, style: Style::Json, entries, depth: 0 };
    let mapping = reader.entries.mapping();
    reader.blank();
    // JSON Lines files contain several documents in a row.
    while reader.peek().is_some() {
        reader.value(mapping, &(0..0), false)?;
        reader.blank();
    }
    Ok(())
}

/// The elements of a JSON list of strings; `None` if it is something else.
pub(super) fn strings(text: &str) -> Option<Vec<std::ops::Range<usize>>> {
    let mut entries = Entries::new(text);
    let mut reader = Flow { text, at: 0, style: Style::Json, entries: &mut entries, depth: 0 };
    let mut out = Vec::new();
    reader.blank();
    if reader.peek() != Some(b'[') {
        return None;
    }
    reader.at += 1;
    loop {
        reader.blank();
        match reader.peek()? {
            b']' => return Some(out),
            b',' => reader.at += 1,
            b'"' => out.push(reader.scalar().ok()?),
            _ => return None,
        }
    }
}

/// Reads one flow collection of YAML that begins at `at`; returns where it ends.
pub(super) fn yaml<'a>(
    text: &'a str,
    at: usize,
    mapping: usize,
    key: &std::ops::Range<usize>,
    entries: &mut Entries<'a>,
) -> Result<usize, UnparsableText> {
    let mut reader = Flow { text, at, style: Style::Yaml, entries, depth: 0 };
    reader.value(mapping, key, false)?;
    Ok(reader.at)
}

struct Flow<'a, 'e> {
    text: &'a str,
    at: usize,
    style: Style,
    entries: &'e mut Entries<'a>,
    depth: usize,
}

impl Flow<'_, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong<T>(&self) -> Result<T, UnparsableText> {
        Err(UnparsableText { at: self.at })
    }

    /// Skips blanks and comments.
    fn blank(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'#') if self.style == Style::Yaml => self.line(),
                Some(b'/') if self.style == Style::Json => {
                    let rest = &self.text[self.at..];
                    if rest.starts_with("//") {
                        self.line();
                    } else if let Some(comment) = rest.strip_prefix("/*") {
                        self.at += comment.find("*/").map_or(rest.len(), |at| at + 4);
                    } else {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    fn line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    fn value(
        &mut self,
        mapping: usize,
        key: &std::ops::Range<usize>,
        list: bool,
    ) -> Result<(), UnparsableText> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.wrong();
        }
        match self.peek() {
            Some(b'{') => self.mapping()?,
            Some(b'[') => self.sequence(mapping, key)?,
            Some(_) => {
                let range = self.scalar()?;
                let entry = Entry { mapping, key: key.clone(), value: range, list };
                self.entries.push(entry);
            }
            None => return self.wrong(),
        }
        self.depth -= 1;
        Ok(())
    }

    fn mapping(&mut self) -> Result<(), UnparsableText> {
        self.at += 1;
        let mapping = self.entries.mapping();
        loop {
            self.blank();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                Some(b'{' | b'[') if self.style == Style::Yaml => {
                    // A collection as a key cannot matter.
                    self.value(mapping, &(0..0), true)?;
                }
                Some(_) => {
                    let key = self.scalar()?;
                    self.blank();
                    if self.peek() == Some(b':') {
                        self.at += 1;
                        self.blank();
                        if !matches!(self.peek(), Some(b',' | b'}')) {
                            self.value(mapping, &key, false)?;
                        }
                    } else if self.style == Style::Json {
                        return self.wrong();
                    }
                }
                None => return self.wrong(),
            }
            self.blank();
            if !matches!(self.peek(), Some(b',' | b'}')) {
                return self.wrong();
            }
        }
    }

    fn sequence(
        &mut self,
        mapping: usize,
        key: &std::ops::Range<usize>,
    ) -> Result<(), UnparsableText> {
        self.at += 1;
        loop {
            self.blank();
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => self.value(mapping, key, true)?,
                None => return self.wrong(),
            }
            self.blank();
            // `[a: b]` of YAML.
            if self.peek() == Some(b':') && self.style == Style::Yaml {
                self.at += 1;
                self.blank();
                self.value(mapping, &(0..0), true)?;
                self.blank();
            }
            if !matches!(self.peek(), Some(b',' | b']')) {
                return self.wrong();
            }
        }
    }

    /// A scalar; the range is that of its text without quotes.
    fn scalar(&mut self) -> Result<std::ops::Range<usize>, UnparsableText> {
        let start = self.at;
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) if quote == b'"' || self.style == Style::Yaml => {
                let end = quoted(self.text, start).ok_or(UnparsableText { at: start })?;
                self.at = end;
                Ok(start + 1..end - 1)
            }
            _ => {
                let rest = self.text.as_bytes();
                let mut end = start;
                while let Some(&byte) = rest.get(end) {
                    let stops = match byte {
                        b',' | b'[' | b']' | b'{' | b'}' | b'\n' | b'"' => true,
                        b':' => {
                            self.style == Style::Json
                                || matches!(
                                    rest.get(end + 1),
                                    None | Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b'}' | b']')
                                )
                        }
                        b'#' => {
                            self.style == Style::Yaml
                                && end > start
                                && matches!(rest[end - 1], b' ' | b'\t')
                        }
                        b'/' => {
                            self.style == Style::Json
                                && matches!(rest.get(end + 1), Some(b'/' | b'*'))
                        }
                        _ => false,
                    };
                    if stops {
                        break;
                    }
                    end += 1;
                }
                if end == start {
                    return self.wrong();
                }
                self.at = end;
                let len = self.text[start..end].trim_end().len();
                Ok(start..start + len)
            }
        }
    }
}

/// End of a quoted scalar that begins at `start`, after the closing quote.
pub(super) fn quoted(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(start)?;
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' if quote == b'"' => at += 2,
            byte if byte == quote => {
                if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') {
                    at += 2;
                } else {
                    return Some(at + 1);
                }
            }
            _ => at += 1,
        }
    }
}
