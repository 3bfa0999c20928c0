//! Days and dates of the Gregorian calendar, by the well-known arithmetic on eras of 400 years that
//! begin with the first of March, so that the day of a leap year stands at the end.

/// Days from 0000-03-01, where the first era begins, to 1970-01-01.
const EPOCH: i64 = 719_468;
/// Days of an era.
const ERA: i64 = 146_097;

/// Days since 1970-01-01 of a date: its year, month and day, which are not checked.
pub fn days(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let month = i64::from((month + 9) % 12);
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH
}

/// The year, month and day that lie so many days after 1970-01-01.
pub fn date(days: i64) -> (i64, u32, u32) {
    let shifted = days + EPOCH;
    let of_era = shifted.rem_euclid(ERA);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year + shifted.div_euclid(ERA) * 400 + i64::from(month <= 2);
    let small = |value: i64| u32::try_from(value).unwrap_or(0);
    (year, small(month), small(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_are_the_same() {
        for (at, expected) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (-719_528, (0, 1, 1)),
            (-719_529, (-1, 12, 31)),
        ] {
            assert_eq!(date(at), expected);
        }
        // Each day is one later than the day before, and found again, over three eras.
        for at in (-2 * ERA..ERA).step_by(37) {
            let (year, month, day) = date(at);
            assert_eq!(days(year, month, day), at, "{year}-{month}-{day}");
        }
    }
}
