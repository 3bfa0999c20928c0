//! From offsets to lines.

/// Where the lines of a text begin.
#[derive(Debug)]
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of_text(text: &str) -> Self {
        Self(memchr::memchr_iter(b'\n', text.as_bytes()).collect())
    }

    /// The line of an offset, from 1.
    pub(super) fn of(&self, offset: usize) -> u32 {
        let before = self.0.partition_point(|end| *end < offset);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_in_lines() {
        let lines = Lines::of_text("ab\ncd\n");
        assert_eq!([0, 2, 3, 5, 6].map(|at| lines.of(at)), [1, 1, 2, 2, 3]);
    }
}
