//! A day of the calendar.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::civil::{Date, date};

/// The day at [`UNIX_EPOCH`].
const EPOCH: Date = date(1970, 1, 1);

/// A day of the Gregorian calendar, in chronological order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(Date);

impl Day {
    /// Parses `2027-01-31`. [`Date`] accepts other forms too, which settings must not depend on.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let plain = [year, month, day].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()));
        if !plain || parts.next().is_some() || (year.len(), month.len(), day.len()) != (4, 2, 2) {
            return None;
        }
        Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok().map(Self)
    }

    /// Returns the number of days from this day to a later one; 0 if it is not later.
    pub fn days_until(self, later: Self) -> u64 {
        later.0.duration_since(self.0).as_secs().try_into().unwrap_or(0_u64) / 86_400
    }

    /// Returns the day at a moment, in UTC. Moments before 1970 count as the first day of 1970.
    pub fn of(moment: SystemTime) -> Self {
        let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(EPOCH.saturating_add(since))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn parse_accepts_only_existing_days() {
        for good in
            ["2028-02-29", "2000-02-29", "2027-12-31", "0001-01-01", "0000-01-01", "9999-12-31"]
        {
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
    fn days_are_counted_forward() {
        let days = |from, to| Day::parse(from).unwrap().days_until(Day::parse(to).unwrap());
        assert_eq!(days("2026-11-23", "2027-03-23"), 120);
        assert_eq!(days("2028-02-28", "2028-03-01"), 2);
        assert_eq!(days("2026-11-23", "2026-11-22"), 0);
    }

    #[test]
    fn of_returns_the_utc_day() {
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
