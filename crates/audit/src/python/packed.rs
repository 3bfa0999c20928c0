//! Lists of short things in few allocations.
//!
//! What is kept of a file lies beside the trees of the files that are read after it, which are
//! thousands of small pieces that come and go. Thousands of small pieces that stay between them
//! would spread the trees over memory that nothing has touched yet.

use std::ops::Range;

/// Texts, by the number in which they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    all: String,
    /// Where each of them ends.
    ends: Vec<u32>,
}

impl Texts {
    /// Adds a text that is given in parts; its number.
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

    /// The text of a number; empty where there is none.
    pub(super) fn of(&self, number: usize) -> &str {
        self.all.get(part(&self.ends, number)).unwrap_or_default()
    }

    /// As [`Texts::of`], the bytes, which compare as the text does.
    pub(super) fn bytes_of(&self, number: usize) -> &[u8] {
        self.all.as_bytes().get(part(&self.ends, number)).unwrap_or_default()
    }

    /// All of them, by their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.of(number))
    }

    /// Gives back what memory was taken for more.
    pub(super) fn settle(&mut self) {
        self.all.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

/// A list for each of some things that have numbers.
#[derive(Debug, Clone)]
pub(crate) struct Lists<T> {
    all: Vec<T>,
    /// Where the list of each thing ends.
    ends: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { all: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Lists<T> {
    /// The lists of `count` things, from what stands in them with the number of its thing. Within a
    /// list the order stays.
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

    /// Adds a list for the next thing; its number.
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = T>) -> usize {
        self.all.extend(list);
        self.end();
        self.ends.len() - 1
    }

    /// Ends the list of the next thing with what is there.
    fn end(&mut self) {
        self.ends.push(number(self.all.len()));
    }

    /// The list of a thing.
    pub(super) fn at(&self, number: usize) -> &[T] {
        self.all.get(part(&self.ends, number)).unwrap_or_default()
    }

    /// All lists, one behind the other.
    pub(super) fn all(&self) -> &[T] {
        &self.all
    }

    /// As [`Lists::all`], to change them.
    pub(super) fn all_mut(&mut self) -> &mut [T] {
        &mut self.all
    }
}

/// What belongs to a number, by where that of each number ends.
fn part(ends: &[u32], number: usize) -> Range<usize> {
    let end = |number: usize| ends.get(number).map_or(0, |end| index(*end));
    number.checked_sub(1).map_or(0, end)..end(number)
}

/// A source has 16 megabytes at most, and so have the things in it fewer numbers than there are.
pub(super) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The place of a number in a list.
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
