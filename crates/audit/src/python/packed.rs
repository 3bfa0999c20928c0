//! Lists of short items in few allocations.
//!
//! The facts of a file outlive the syntax trees of later files, which consist of thousands of
//! small, short-lived allocations. Thousands of small long-lived allocations between them would
//! spread the trees over fresh memory.

use std::ops::Range;

/// Texts, numbered in the order of their insertion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    all: String,
    /// The end of each text.
    ends: Vec<u32>,
}

impl Texts {
    /// Adds a text given in parts and returns its number.
    pub(super) fn push(&mut self, parts: &[&str]) -> u32 {
        for part in parts {
            self.all.push_str(part);
        }
        self.ends.push(number(self.all.len()));
        number(self.ends.len() - 1)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the text with a number; empty if there is none.
    pub(super) fn of(&self, number: usize) -> &str {
        self.all.get(part(&self.ends, number)).unwrap_or_default()
    }

    /// Returns the bytes of [`Texts::of`], which compare like the text.
    pub(super) fn bytes_of(&self, number: usize) -> &[u8] {
        self.all.as_bytes().get(part(&self.ends, number)).unwrap_or_default()
    }

    /// Iterates over all texts in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.of(number))
    }

    /// Releases unused capacity.
    pub(super) fn settle(&mut self) {
        self.all.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

/// One list for each of several numbered items.
#[derive(Debug, Clone)]
pub(crate) struct Lists<T> {
    all: Vec<T>,
    /// The end of the list of each item.
    ends: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { all: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Lists<T> {
    /// Creates the lists of `count` items from elements with item numbers. The order within a list
    /// is preserved.
    pub(super) fn of(mut numbered: Vec<(u32, T)>, count: usize) -> Self {
        numbered.sort_by_key(|(number, _)| *number);
        let mut lists =
            Self { all: Vec::with_capacity(numbered.len()), ends: Vec::with_capacity(count) };
        for (at, one) in numbered {
            while lists.ends.len() < index(at) {
                lists.end();
            }
            lists.all.push(one);
        }
        while lists.ends.len() < count {
            lists.end();
        }
        lists
    }

    /// Adds the list of the next item and returns the number of the item.
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = T>) -> usize {
        self.all.extend(list);
        self.end();
        self.ends.len() - 1
    }

    /// Ends the list of the next item.
    fn end(&mut self) {
        self.ends.push(number(self.all.len()));
    }

    /// Returns the list of an item.
    pub(super) fn at(&self, number: usize) -> &[T] {
        self.all.get(part(&self.ends, number)).unwrap_or_default()
    }

    /// Returns all lists, concatenated.
    pub(super) fn all(&self) -> &[T] {
        &self.all
    }

    /// Returns all lists, concatenated, for modification.
    pub(super) fn all_mut(&mut self) -> &mut [T] {
        &mut self.all
    }
}

/// Returns the range of a number, given the end of each range.
fn part(ends: &[u32], number: usize) -> Range<usize> {
    let end = |number: usize| ends.get(number).map_or(0, |end| index(*end));
    number.checked_sub(1).map_or(0, end)..end(number)
}

/// Converts an index to a number. A source has at most 16 megabytes, so its items fit.
pub(super) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Converts a number to an index.
pub(super) fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_texts() {
        let mut texts = Texts::default();
        let numbers = [texts.push(&["a", ".", "é"]), texts.push(&[]), texts.push(&["b"])];
        texts.settle();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["a.é", "", "b"]);
        assert_eq!((texts.of(3), texts.of(usize::MAX), texts.len()), ("", "", 3));
    }

    #[test]
    fn lists_keep_order() {
        let lists = Lists::of(vec![(3, 'c'), (1, 'a'), (3, 'b')], 5);
        let all: Vec<&[char]> = (0..6).map(|number| lists.at(number)).collect();
        assert_eq!(all, [&[][..], &['a'], &[], &['c', 'b'], &[], &[]]);
        assert_eq!(Lists::<u8>::default().at(0), &[] as &[u8]);
    }
}
