//! JSON with the byte ranges of its strings, as far as a notebook requires it.

use std::ops::Range;

use memchr::memchr2;

use crate::UnparsableText;

/// The maximum nesting; deeper documents are rejected.
const MAX_DEPTH: usize = 128;

/// A value.
#[derive(Debug)]
pub enum Json {
    /// Keys as written, and their values.
    Object(Vec<(Range<usize>, Json)>),
    /// Elements.
    Array(Vec<Json>),
    /// A string: the range between its quotes.
    Text(Range<usize>),
    /// A number, `true`, `false` or `null`.
    Other,
}

impl Json {
    /// Parses a document.
    pub fn read(text: &str) -> Result<Self, UnparsableText> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.blank();
        if reader.at < reader.bytes.len() { reader.wrong() } else { Ok(value) }
    }

    /// The value behind a key of an object.
    pub fn get(&self, text: &str, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(name, _)| &text[name.clone()] == key).map(|(_, value)| value)
    }

    /// The elements of an array; empty for any other value.
    pub fn items(&self) -> &[Self] {
        if let Self::Array(items) = self { items } else { &[] }
    }

    /// A string as written.
    pub fn text<'a>(&self, text: &'a str) -> Option<&'a str> {
        if let Self::Text(range) = self { text.get(range.clone()) } else { None }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong<T>(&self) -> Result<T, UnparsableText> {
        Err(UnparsableText { at: self.at })
    }

    fn blank(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.blank();
        let there = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Result<Json, UnparsableText> {
        if depth > MAX_DEPTH {
            return self.wrong();
        }
        self.blank();
        match self.bytes.get(self.at) {
            Some(b'{') => {
                self.at += 1;
                let mut members = Vec::new();
                if self.eat(b'}') {
                    return Ok(Json::Object(members));
                }
                loop {
                    self.blank();
                    let key = self.string()?;
                    if !self.eat(b':') {
                        return self.wrong();
                    }
                    members.push((key, self.value(depth + 1)?));
                    if self.eat(b'}') {
                        return Ok(Json::Object(members));
                    }
                    if !self.eat(b',') {
                        return self.wrong();
                    }
                }
            }
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                if self.eat(b']') {
                    return Ok(Json::Array(items));
                }
                loop {
                    items.push(self.value(depth + 1)?);
                    if self.eat(b']') {
                        return Ok(Json::Array(items));
                    }
                    if !self.eat(b',') {
                        return self.wrong();
                    }
                }
            }
            Some(b'"') => self.string().map(Json::Text),
            _ => {
                let start = self.at;
                while self
                    .bytes
                    .get(self.at)
                    .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'))
                {
                    self.at += 1;
                }
                if self.at == start { self.wrong() } else { Ok(Json::Other) }
            }
        }
    }

    fn string(&mut self) -> Result<Range<usize>, UnparsableText> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return self.wrong();
        }
        let start = self.at + 1;
        let mut at = start;
        // Fast search, because images are strings of megabytes.
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let Some(found) = memchr2(b'"', b'\\', rest) else { return self.wrong() };
            at += found;
            if rest[found] == b'"' {
                break;
            }
            at += 2;
        }
        self.at = at + 1;
        Ok(start..at)
    }
}
