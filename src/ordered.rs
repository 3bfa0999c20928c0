//! Ordered collections and sorting in little code, where speed does not matter.
//!
//! The standard library sorts, and collects into a `BTreeMap` or `BTreeSet`, by a stable sort of
//! some seven kilobytes that is compiled again for each type and each comparison. A hundred of
//! them were a twentieth of the program. What is sorted once in a run, or is short, goes through
//! here: maps and sets are filled one by one, and sorting is done with numbers, by one function.

use std::cmp::Ordering;

/// [`Iterator::collect`] for maps and sets.
pub(crate) trait Gather: Iterator + Sized {
    /// A collection of all items, inserted one by one.
    fn gather<C: Default + Extend<Self::Item>>(self) -> C {
        let mut all = C::default();
        all.extend(self);
        all
    }
}

impl<I: Iterator> Gather for I {}

/// Sorting of slices, stable as that of the standard library and with the same results.
pub(crate) trait Arrange<T> {
    /// As `sort`.
    fn arrange(&mut self)
    where
        T: Ord;

    /// As `sort_by`.
    fn arrange_by(&mut self, compare: impl Fn(&T, &T) -> Ordering);

    /// As `sort_by_key`.
    fn arrange_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K);
}

impl<T> Arrange<T> for [T] {
    fn arrange(&mut self)
    where
        T: Ord,
    {
        self.arrange_by(T::cmp);
    }

    fn arrange_by(&mut self, compare: impl Fn(&T, &T) -> Ordering) {
        let mut places = places(self.len(), &|a, b| compare(&self[a], &self[b]));
        for at in 0..places.len() {
            // Each exchange brings one item to its place.
            while places[at] != at {
                let to = places[at];
                self.swap(at, to);
                places.swap(at, to);
            }
        }
    }

    fn arrange_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        self.arrange_by(|a, b| key(a).cmp(&key(b)));
    }
}

/// The place of each item in order.
fn places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| compare(a, b));
    let mut places = vec![0; count];
    for (place, item) in order.into_iter().enumerate() {
        places[item] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn arranging_is_sorting(items: Vec<(u8, u16)>) {
            let (mut sorted, mut arranged) = (items.clone(), items.clone());
            sorted.sort_unstable();
            arranged.arrange();
            prop_assert_eq!(&sorted, &arranged);
            // Equal keys stay in their order.
            let (mut sorted, mut arranged) = (items.clone(), items);
            sorted.sort_by_key(|(key, _)| key % 4);
            arranged.arrange_by_key(|(key, _)| key % 4);
            prop_assert_eq!(sorted, arranged);
        }

        #[test]
        fn gathering_is_collecting(items: Vec<(u8, u16)>) {
            let collected: BTreeMap<u8, u16> = items.iter().copied().collect();
            prop_assert_eq!(items.iter().copied().gather::<BTreeMap<u8, u16>>(), collected);
            let collected: BTreeSet<(u8, u16)> = items.iter().copied().collect();
            prop_assert_eq!(items.into_iter().gather::<BTreeSet<(u8, u16)>>(), collected);
        }
    }
}
