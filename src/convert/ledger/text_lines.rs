//! Lines of a text by byte offset.

/// Number of bytes of a line to examine on each side of a token.
const WINDOW: usize = 320;

/// Where the lines of a text begin.
#[derive(Debug)]
pub(crate) struct TextLines<'t> {
    pub(crate) text: &'t str,
    starts: Vec<usize>,
}

impl<'t> TextLines<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    /// The line, from 1, of an offset.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|&start| start <= offset)).unwrap_or(u32::MAX)
    }

    /// The offset at which the line of an offset begins.
    pub(crate) fn start(&self, offset: usize) -> usize {
        let at = self.starts.partition_point(|&start| start <= offset);
        at.checked_sub(1).map_or(0, |at| self.starts[at])
    }

    /// The line of an offset, without its end, and the position of the offset in it. Returns only
    /// the surrounding part of a long line, so that every token costs the same.
    pub(crate) fn around(&self, offset: usize) -> (&'t str, usize) {
        let mut from = self.start(offset).max(offset.saturating_sub(WINDOW)).min(self.text.len());
        while !self.text.is_char_boundary(from) {
            from += 1;
        }
        let mut to = offset.saturating_add(WINDOW).min(self.text.len());
        while !self.text.is_char_boundary(to) {
            to -= 1;
        }
        let rest = &self.text[from..to.max(from)];
        let column = offset.saturating_sub(from);
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        (rest[..end].trim_end_matches('\r'), column)
    }

    /// The text of line `number`, from 1.
    pub(crate) fn number(&self, number: u32) -> Option<&'t str> {
        let start = *self.starts.get((number as usize).checked_sub(1)?)?;
        (start <= self.text.len()).then(|| self.around(start).0)
    }

    /// How many lines there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_long_lines_only_a_part_is_looked_at() {
        let text = "中".repeat(2000);
        let lines = TextLines::of(&text);
        let (part, column) = lines.around(3000);
        assert!(part.len() < 2 * WINDOW + 3 && part[..column].len() <= WINDOW, "{}", part.len());
    }

    #[test]
    fn lines_count_from_one() {
        let lines = TextLines::of("a\r\nbc\n");
        assert_eq!([0, 2, 3, 5, 6].map(|at| lines.line(at)), [1, 1, 2, 2, 3]);
        assert_eq!(lines.around(4), ("bc", 1));
        assert_eq!(
            (lines.number(1), lines.number(3), lines.number(4)),
            (Some("a"), Some(""), None)
        );
    }
}
