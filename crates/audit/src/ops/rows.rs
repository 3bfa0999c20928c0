//! The rows of the tables below `data/ops/`.

use std::ops::Deref;

/// A row of a table: its cells.
#[derive(Debug, Default)]
pub(crate) struct Row<'t> {
    cells: [&'t str; MOST],
    count: usize,
}

/// The maximum number of columns of a table.
const MOST: usize = 8;

impl<'t> Row<'t> {
    fn push(&mut self, cell: &'t str) {
        if let Some(place) = self.cells.get_mut(self.count) {
            *place = cell;
            self.count += 1;
        }
    }
}

impl<'t> Deref for Row<'t> {
    type Target = [&'t str];

    fn deref(&self) -> &Self::Target {
        &self.cells[..self.count]
    }
}

/// Returns the rows of a table without its comments. The reader allocates nothing and scans the
/// text once, because every run that handles operators reads thousands of rows.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    let mut ends = memchr::memchr2_iter(b'\t', b'\n', text.as_bytes());
    let mut start = 0;
    std::iter::from_fn(move || {
        loop {
            let mut row = Row::default();
            for end in ends.by_ref() {
                row.push(&text[start..end]);
                start = end + 1;
                if text.as_bytes()[end] == b'\n' {
                    break;
                }
            }
            if row.is_empty() && start >= text.len() {
                return None;
            }
            // The last row may have no newline.
            if !text[..start].ends_with('\n') {
                row.push(&text[start..]);
                start = text.len();
            }
            if !row.first().is_some_and(|cell| cell.starts_with('#')) {
                return Some(row);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_apart_as_by_the_library() {
        for text in
            ["", "a", "a\n", "a\tb\n#c\td\n\te\t\nf\tg", "#", "#\n", "\n\na\n", "a\t", "a\t\n"]
        {
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            let expected: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
            let found: Vec<Vec<&str>> = rows(text).map(|row| row.to_vec()).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "lists the tables")]
    fn no_table_has_more_columns() {
        let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/ops");
        for entry in std::fs::read_dir(home).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            let rows = text.lines().filter(|line| !line.starts_with('#'));
            let most = rows.map(|row| row.split('\t').count()).max();
            assert!(most.is_some_and(|most| most <= MOST), "{most:?}");
        }
    }
}
