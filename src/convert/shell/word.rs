//! A word of a script: its text and its ranges in the source.

use std::ops::Range;

/// The placeholder of an expansion in [`Word::text`].
pub(super) const EXPANSION: char = '\0';

/// `$NAME` or `${NAME…}`.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    /// Range of the name.
    pub(super) name: Range<usize>,
    /// Whether it is inside double quotes.
    pub(super) quoted: bool,
    /// The default of `${NAME:-default}` and similar expansions.
    pub(super) default: Option<Box<Word>>,
}

/// A stretch of [`Word::text`] that is the same in the source.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    text: usize,
    source: usize,
    len: usize,
    quoted: bool,
}

/// A word: its text without quotes, with its ranges in the source.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    /// The whole word in the source, with its quotes.
    pub(super) range: Range<usize>,
    /// Its text without quotes and escapes; [`EXPANSION`] for each expansion.
    pub(super) text: String,
    /// Its variables, in order.
    pub(super) variables: Vec<Variable>,
    stretches: Vec<Stretch>,
}

impl Word {
    /// Range in the source of a part of the text, if it is contiguous there.
    pub(super) fn source(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let at = self.stretches.partition_point(|stretch| stretch.text <= part.start);
        let stretch = self.stretches.get(at.checked_sub(1)?)?;
        let offset = part.start - stretch.text;
        (offset + part.len() <= stretch.len)
            .then(|| stretch.source + offset..stretch.source + offset + part.len())
    }

    /// Whether a part of the text is entirely unquoted.
    pub(super) fn unquoted(&self, part: &Range<usize>) -> bool {
        self.stretches
            .iter()
            .filter(|s| s.text < part.end && part.start < s.text + s.len)
            .all(|stretch| !stretch.quoted)
    }

    /// The text, unless it contains an expansion.
    pub(super) fn plain(&self) -> Option<&str> {
        (!self.text.contains(EXPANSION)).then_some(self.text.as_str())
    }

    /// Name and value of `NAME=value`, as parts of the text, and whether the value is appended
    /// (`+=`).
    pub(super) fn assignment(&self) -> Option<(Range<usize>, Range<usize>, bool)> {
        let equals = self.text.find('=')?;
        let adds = self.text[..equals].ends_with('+');
        let end = equals - usize::from(adds);
        let name = &self.text[..end];
        is_name(name).then(|| (0..end, equals + 1..self.text.len(), adds))
    }

    pub(super) fn push(&mut self, text: &str, source: usize, quoted: bool) {
        if text.is_empty() {
            return;
        }
        if let Some(last) = self.stretches.last_mut()
            && last.source + last.len == source
            && last.text + last.len == self.text.len()
            && last.quoted == quoted
        {
            last.len += text.len();
        } else {
            let stretch = Stretch { text: self.text.len(), source, len: text.len(), quoted };
            self.stretches.push(stretch);
        }
        self.text.push_str(text);
    }

    pub(super) fn expansion(&mut self) {
        self.text.push(EXPANSION);
    }
}

/// Whether a text is a name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
