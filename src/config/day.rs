//! A day of the calendar.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use base::calendar::date;

/// A day of the Gregorian calendar; the order is that of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    of_month: u8,
}

impl Day {
    /// A day that exists.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(Self { year, month, of_month: day })
    }

    /// `2027-01-31`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let plain = [year, month, day].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()));
        if !plain || parts.next().is_some() || (year.len(), month.len(), day.len()) != (4, 2, 2) {
            return None;
        }
        Self::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
    }

    /// The day at a moment, in UTC. Before 1970 it is the first of them.
    pub fn of(moment: SystemTime) -> Self {
        let seconds = moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let days = i64::try_from(seconds / 86_400).unwrap_or_default();
        let (year, month, day) = date(days);
        Self {
            year: u16::try_from(year).unwrap_or(u16::MAX),
            month: u8::try_from(month).unwrap_or(12),
            of_month: u8::try_from(day).unwrap_or(31),
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.of_month)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_days_that_exist_are_read() {
        for good in ["2028-02-29", "2000-02-29", "2027-12-31", "0001-01-01"] {
            assert_eq!(Day::parse(good).unwrap().to_string(), good);
        }
        for bad in ["2027-02-29", "1900-02-29", "2027-13-01", "2027-00-10", "2027-1-01", "27-01-01"]
        {
            assert_eq!(Day::parse(bad), None, "{bad}");
        }
        for bad in ["", "2027-01-01-01", "+027-01-01", "2027-01-01 "] {
            assert_eq!(Day::parse(bad), None, "{bad}");
        }
        assert!(Day::parse("2027-02-01") > Day::parse("2027-01-31"));
    }

    #[test]
    fn moments_are_days() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_305_599, "2026-11-21"),
            (4_107_542_400, "2100-03-01"),
        ] {
            let moment = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(Day::of(moment).to_string(), day, "{seconds}");
        }
    }
}
