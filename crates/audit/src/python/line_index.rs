//! Converts offsets to lines.

use std::cell::Cell;

use memchr::memchr_iter;

/// The lines of a text. Only a few places are looked up, nearly in text order, so the newlines
/// between consecutive lookups are counted instead of building a table.
#[derive(Debug)]
pub(super) struct LineIndex<'t> {
    text: &'t str,
    /// The last offset that was looked up, and the number of newlines before it.
    last: Cell<(usize, usize)>,
}

impl<'t> LineIndex<'t> {
    pub(super) fn of_text(text: &'t str) -> Self {
        Self { text, last: Cell::new((0, 0)) }
    }

    /// Returns the line of an offset, starting at 1.
    pub(super) fn of(&self, offset: usize) -> u32 {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let (last, lines) = self.last.get();
        let lines = if last <= offset {
            lines + memchr_iter(b'\n', &bytes[last..offset]).count()
        } else {
            lines - memchr_iter(b'\n', &bytes[offset..last]).count()
        };
        self.last.set((offset, lines));
        u32::try_from(lines + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_offsets_to_lines() {
        let lines = LineIndex::of_text("ab\ncd\n");
        for (offset, line) in [(0, 1), (5, 2), (2, 1), (3, 2), (6, 3), (9, 3), (0, 1)] {
            assert_eq!(lines.of(offset), line, "{offset}");
        }
    }
}
