//! Timestamps of log lines.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{Date, date};
use serde::{Serialize, Serializer};

/// A timestamp by the clock of the machine that wrote the line, in microseconds since 1970. It has
/// no time zone, because logs do not print one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

/// Microseconds per second.
pub(super) const SECOND: i64 = 1_000_000;
/// The year of timestamps without one: a leap year before the first log.
const NO_YEAR: i64 = 4;
/// The maximum clock difference between machines when a year is inferred, in microseconds.
const DAY: i64 = 86_400 * SECOND;
/// The day at which microseconds start to count.
const EPOCH: Date = date(1970, 1, 1);

impl Time {
    /// Creates a time from its parts; `None` if they are out of range.
    pub fn new(date: (i64, u32, u32), clock: (u32, u32, u32), micros: u32) -> Option<Self> {
        if (1970..=2999).contains(&date.0) { Self::of(date, clock, micros) } else { None }
    }

    /// The same for any year.
    fn of(date: (i64, u32, u32), clock: (u32, u32, u32), micros: u32) -> Option<Self> {
        let (year, month, day) = date;
        let (hour, minute, second) = clock;
        let sound = (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && hour < 24
            && minute < 60
            && second < 61
            && micros < 1_000_000;
        if !sound {
            return None;
        }
        let seconds = days_since_epoch(year, month, day)? * 86_400
            + i64::from(hour) * 3_600
            + i64::from(minute) * 60
            + i64::from(second);
        Some(Self(seconds * SECOND + i64::from(micros)))
    }

    /// Parses a date with or without a time, such as `2025-05-12`, `2025-05-12 20:55` or
    /// `2025-05-12 20:55:44`, or as plogs print it.
    pub fn parse(text: &str) -> Option<Self> {
        let forms = [text.to_owned(), format!("{text}:00"), format!("{text} 00:00:00")];
        forms.iter().find_map(|form| Self::find(form.as_bytes()))
    }

    /// Finds the first date with a time in `line`: `2024-11-28-11:59:30.645.648`,
    /// `2023-01-10 09:25:45,123`, `2023-01-10T09:25:45.123`, `2023/01/10 09:25:45`,
    /// `Thu Nov 28 11:56:34 2024`; without a year `06-10 09:25:45`, `W610 09:25:45.123`,
    /// `Jun 10 09:25:45`.
    pub fn find(line: &[u8]) -> Option<Self> {
        let mut at = 0;
        while let Some(colon) = memchr::memchr(b':', &line[at..]) {
            let colon = at + colon;
            if let Some(time) = Self::parse_around(line, colon) {
                return Some(time);
            }
            at = colon + 1;
        }
        None
    }

    /// Parses the timestamp whose hour ends before the colon at `colon`.
    fn parse_around(line: &[u8], colon: usize) -> Option<Self> {
        let hour = parse_number(line.get(colon.checked_sub(2)?..colon)?)?;
        let minute = parse_number(line.get(colon + 1..colon + 3)?)?;
        if line.get(colon + 3) != Some(&b':') {
            return None;
        }
        let second = parse_number(line.get(colon + 4..colon + 6)?)?;
        let clock = (hour, minute, second);
        let rest = &line[colon + 6..];
        let separator = colon.checked_sub(3)?;
        if !matches!(line[separator], b'-' | b' ' | b'T' | b'_') {
            return None;
        }
        let date = line[..separator].trim_ascii_end();
        if let Some(date) = parse_iso_date(date) {
            return Self::new(date, clock, parse_fraction(rest));
        }
        if let Some((month, day)) = parse_month_day(date).or_else(|| parse_letter_month_day(date)) {
            return Self::of((NO_YEAR, month, day), clock, parse_fraction(rest));
        }
        // `Nov 28 11:56:34 2024`
        let day_at = date.iter().rposition(|byte| *byte == b' ')?;
        let day = parse_number(date[day_at + 1..].trim_ascii())?;
        let month = parse_month(date[..day_at].trim_ascii())?;
        let year = rest.strip_prefix(b" ").and_then(|rest| parse_number(rest.get(..4)?));
        match year.filter(|year| (1970..=2999).contains(year)) {
            Some(year) => Self::new((i64::from(year), month, day), clock, 0),
            None => Self::of((NO_YEAR, month, day), clock, parse_fraction(rest)),
        }
    }

    /// Returns whether the timestamp has a year.
    pub fn has_year(self) -> bool {
        self.0 >= 0
    }

    /// A time without a year, in the year in which it is not later than `latest`, within the clock
    /// difference.
    pub(super) fn with_year_of(self, latest: Self) -> Self {
        if self.has_year() || !latest.has_year() {
            return self;
        }
        let ((_, month, day), micros) = self.split();
        let ((year, ..), _) = latest.split();
        let in_year = |year| Some(Self(days_since_epoch(year, month, day)? * DAY + micros));
        let same_year = in_year(year).filter(|time| time.0 <= latest.0 + DAY);
        same_year.or_else(|| in_year(year - 1)).unwrap_or(self)
    }

    /// Year, month and day, and the microseconds since midnight.
    fn split(self) -> ((i64, u32, u32), i64) {
        let days = SignedDuration::from_hours(self.0.div_euclid(DAY) * 24);
        let date = EPOCH.saturating_add(days);
        let small = |value: i8| u32::try_from(value).unwrap_or(0);
        ((date.year().into(), small(date.month()), small(date.day())), self.0.rem_euclid(DAY))
    }
}

/// Returns the number of days from [`EPOCH`] to a date. A day beyond the end of its month continues
/// into the next month: a line with a wrong date keeps its place among the others.
fn days_since_epoch(year: i64, month: u32, day: u32) -> Option<i64> {
    let first = Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, 1).ok()?;
    Some(EPOCH.duration_until(first).as_hours() / 24 + i64::from(day) - 1)
}

/// `06-10` behind a blank, or at the start: loggers of vLLM.
fn parse_month_day(date: &[u8]) -> Option<(u32, u32)> {
    let start = date.len().checked_sub(5)?;
    let [.., b'-', _, _] = date else { return None };
    let alone = start == 0 || matches!(date[start - 1], b' ' | b'[' | b'(');
    alone.then_some((parse_number(&date[start..start + 2])?, parse_number(&date[start + 3..])?))
}

/// `W610`, `E1231`: loggers of C++.
fn parse_letter_month_day(date: &[u8]) -> Option<(u32, u32)> {
    let digits = date.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let letter = date.len().checked_sub(digits + 1)?;
    let alone = letter == 0 || matches!(date[letter - 1], b' ' | b'[' | b':');
    if !matches!(digits, 3 | 4) || !matches!(date[letter], b'I' | b'W' | b'E' | b'F') || !alone {
        return None;
    }
    let (month, day) = date[letter + 1..].split_at(digits - 2);
    Some((parse_number(month)?, parse_number(day)?))
}

/// `2024-11-28` or `2024/11/28` at the end.
fn parse_iso_date(date: &[u8]) -> Option<(i64, u32, u32)> {
    let date = date.get(date.len().checked_sub(10)?..)?;
    let separated = matches!(date[4], b'-' | b'/') && date[4] == date[7];
    if !separated {
        return None;
    }
    Some((
        i64::from(parse_number(&date[..4])?),
        parse_number(&date[5..7])?,
        parse_number(&date[8..])?,
    ))
}

/// `.645.648`, `.645648`, `,645`: microseconds.
fn parse_fraction(rest: &[u8]) -> u32 {
    if !matches!(rest.first(), Some(b'.' | b',')) {
        return 0;
    }
    let mut micros = 0;
    let mut count = 0;
    for (index, byte) in rest[1..].iter().enumerate() {
        match byte {
            b'0'..=b'9' if count < 6 => {
                micros = micros * 10 + u32::from(byte - b'0');
                count += 1;
            }
            b'.' if index == 3 => {}
            _ => break,
        }
    }
    micros * 10_u32.pow(6 - count)
}

fn parse_number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 4 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
}

fn parse_month(name: &[u8]) -> Option<u32> {
    const NAMES: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let name = name.get(name.len().checked_sub(3)?..)?;
    let at = NAMES.chunks(3).position(|month| month == name)?;
    u32::try_from(at + 1).ok()
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((year, month, day), micros) = self.split();
        let clock = micros / SECOND;
        if self.has_year() {
            write!(out, "{year:04}-")?;
        }
        write!(
            out,
            "{month:02}-{day:02} {:02}:{:02}:{:02}.{:03}",
            clock / 3_600,
            clock / 60 % 60,
            clock % 60,
            micros / 1_000 % 1_000
        )
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "string".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_with_and_without_time() {
        let at = |text: &str| Time::parse(text).unwrap().to_string();
        assert_eq!(at("2025-05-12"), "2025-05-12 00:00:00.000");
        assert_eq!(at("2025-05-12 20:55"), "2025-05-12 20:55:00.000");
        assert_eq!(at("2025-05-12-20:55:44.705.025"), "2025-05-12 20:55:44.705");
        assert!(Time::parse("yesterday").is_none());
    }

    fn shown(line: &str) -> Option<String> {
        Time::find(line.as_bytes()).map(|time| time.to_string())
    }

    #[test]
    fn all_formats_of_timestamps_are_parsed() {
        for (line, time) in [
            (
                "[ERROR] HCCL(1,p):2025-10-24-11:18:29.499.235 [a.cc:1] text",
                "2025-10-24 11:18:29.499",
            ),
            ("2023-01-10 09:25:45,123 - root", "2023-01-10 09:25:45.123"),
            ("2023-01-10T09:25:45.5Z", "2023-01-10 09:25:45.500"),
            ("at 2023/01/10 09:25:45 it", "2023-01-10 09:25:45.000"),
            (
                "Arrival Time:[Thu Nov 28 11:56:34 2024], Discoverer:[1/0]",
                "2024-11-28 11:56:34.000",
            ),
            ("EI0002: [PID: 7277] 2024-02-29-00:00:00.000.001 x", "2024-02-29 00:00:00.000"),
            ("ERROR 09-04 10:00:00 [core.py:702] x", "09-04 10:00:00.000"),
            ("02-29 10:00:00.5 x", "02-29 10:00:00.500"),
            ("[rank7]:[W609 06:57:47.819535026 compiler_depend.ts:877] x", "06-09 06:57:47.819"),
            ("E1231 23:59:59.000001 7 x", "12-31 23:59:59.000"),
            ("Mar 15 03:40:50 host kernel: x", "03-15 03:40:50.000"),
        ] {
            assert_eq!(shown(line).as_deref(), Some(time), "{line}");
        }
    }

    /// Eras of the Gregorian calendar have 400 years.
    #[test]
    fn days_since_epoch_count_leap_years_and_days_beyond_the_month() {
        for ((year, month, day), days) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2000, 3, 1), 11_017),
            ((2001, 2, 29), 11_382),
            ((2001, 3, 1), 11_382),
            ((2999, 12, 31), 376_199),
            ((4, 2, 29), -718_008),
        ] {
            assert_eq!(days_since_epoch(year, month, day), Some(days), "{year}-{month}-{day}");
        }
        for at in (0..376_200).step_by(37) {
            let ((year, month, day), micros) = Time(at * DAY + 5).split();
            assert_eq!((days_since_epoch(year, month, day), micros), (Some(at), 5));
        }
    }

    #[test]
    fn other_numbers_with_colons_are_no_timestamps() {
        for line in [
            "a.cc:12:30",
            "AlgType(level 0-1-2):[x]",
            "12:30:61",
            "2024-13-01 10:00:00",
            "fe80::1:22:33",
            ":",
            "::::::::",
            "9:9:9",
        ] {
            assert_eq!(shown(line), None, "{line}");
        }
    }

    #[test]
    fn time_without_year_gets_the_latest_possible_year() {
        let latest = Time::find(b"2026-01-02 00:00:00").unwrap();
        for (line, time) in [
            ("01-01 10:00:00", "2026-01-01 10:00:00.000"),
            ("01-02 20:00:00", "2026-01-02 20:00:00.000"),
            ("12-31 23:00:00", "2025-12-31 23:00:00.000"),
            ("2024-05-05 23:00:00", "2024-05-05 23:00:00.000"),
        ] {
            let found = Time::find(line.as_bytes()).unwrap();
            assert_eq!(found.with_year_of(latest).to_string(), time);
        }
        let none = Time::find(b"05-05 23:00:00").unwrap();
        assert_eq!(none.with_year_of(none), none);
    }

    #[test]
    fn difference_is_in_microseconds() {
        let early = Time::find(b"2025-12-31-23:59:59.000.000").unwrap();
        let late = Time::find(b"2026-01-01-00:00:01.000.000").unwrap();
        assert_eq!(late.0 - early.0, 2 * SECOND);
    }
}
