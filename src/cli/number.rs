//! Numbers on the command line.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use data::fault::Number;
use data::{Fault, faults};

/// Returns a parser of whole numbers in a range.
pub(super) fn whole<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, Fault> + Clone
where
    T: FromStr + PartialOrd + Display + Copy + Number,
{
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            faults::WholeNumberExpected { least: *range.start(), most: *range.end() }.fault()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_of_the_range_are_refused() {
        let read = whole(1_u32..=9);
        assert_eq!(read("9").ok(), Some(9));
        for text in ["0", "10", "-1", "x", "", "1.5"] {
            let fault = read(text).unwrap_err();
            assert_eq!(fault.to_string(), "expected a whole number from 1 to 9", "{text}");
        }
    }
}
