//! Versions of each product: their normal form and their order.

use std::cmp::Ordering;

use pep440_rs::Version;

use crate::document::{Row, text};

/// Normalizes the version of a Python package: `1.11.0.rc2` to `1.11.0rc2`, `1.11.rc1` to
/// `1.11.0rc1`.
pub(super) fn package(version: &str) -> Option<Version> {
    let parsed: Version = version.trim().parse().ok()?;
    let mut release = parsed.release().to_vec();
    release.resize(release.len().max(3), 0);
    Some(parsed.with_release(release))
}

/// Returns a sort key for CANN versions: alphas and betas before candidates, candidates before
/// releases.
pub(super) fn cann_key(version: &str) -> Vec<(u8, u64)> {
    let mut key: Vec<(u8, u64)> = Vec::new();
    for part in version.to_ascii_lowercase().split(['.', '-']) {
        let stages = [("alpha", 0), ("beta", 1), ("rc", 2)];
        let stage =
            stages.into_iter().find_map(|(word, stage)| Some((stage, part.strip_prefix(word)?)));
        let (stage, number) = stage.unwrap_or((4, part));
        key.push((stage, number.parse().unwrap_or(0)));
    }
    key.resize(key.len().max(6), (3, 0));
    key
}

/// Returns the numbers in a version; `X` counts as less than 0.
pub(super) fn numbers(version: &str) -> Vec<i64> {
    version.split('.').map(|part| part.parse().unwrap_or(-1)).collect()
}

/// Reduces `26.0 (or …)` and `26.1.0.b061` to a comparable version.
pub(super) fn hdk(version: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in
        version.trim().to_ascii_lowercase().split([' ', '(']).next().unwrap_or_default().split('.')
    {
        let digits = part.strip_prefix("rc").unwrap_or(part);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        parts.push(part.to_owned());
    }
    parts.join(".")
}

/// Normalizes `8.3.rc2` to `8.3.RC2`, because image tags write candidates in lowercase.
pub(super) fn cann(version: &str) -> String {
    version.replace("rc", "RC")
}

/// Sorts the newest first, by a field with Python package versions.
pub(super) fn newest_package(a: &Row, b: &Row) -> Ordering {
    let version = |row: &Row| package(text(row, "version"));
    version(b).cmp(&version(a))
}

/// Sorts the newest CANN first, by the field `version`.
pub(super) fn newest_cann(a: &Row, b: &Row) -> Ordering {
    cann_key(text(b, "version")).cmp(&cann_key(text(a, "version")))
}

/// Sorts the newest CANN first, by the field `cann`, then pairs of the vendor before those of
/// others.
pub(super) fn newest_pair(a: &Row, b: &Row) -> Ordering {
    let levels = ["recommended", "compatible", "reported"];
    let rank = |row: &Row| levels.iter().position(|level| *level == text(row, "level"));
    cann_key(text(b, "cann")).cmp(&cann_key(text(a, "cann"))).then_with(|| rank(a).cmp(&rank(b)))
}

/// Sorts the newest release first, by the field `release`.
pub(super) fn newest_release(a: &Row, b: &Row) -> Ordering {
    numbers(text(b, "release")).cmp(&numbers(text(a, "release")))
}

/// Sorts the newest first, by all numbers in the field `version`: `2.3.2`, then `2.3` for the rest
/// of its line.
pub(super) fn newest_numbers(a: &Row, b: &Row) -> Ordering {
    let all = |row: &Row| -> Vec<u64> {
        let digits = text(row, "version").split(|c: char| !c.is_ascii_digit());
        digits.filter_map(|number| number.parse().ok()).collect()
    };
    all(b).cmp(&all(a))
}

/// Sorts by name.
pub(super) fn by_name(a: &Row, b: &Row) -> Ordering {
    text(a, "name").cmp(text(b, "name"))
}

/// Keeps the order of the source.
pub(super) fn as_listed(_: &Row, _: &Row) -> Ordering {
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_versions_have_a_normal_form() {
        for (given, normal) in [
            ("1.11.0.rc2", "1.11.0rc2"),
            ("1.11.rc1", "1.11.0rc1"),
            (" 2.7.1.post8 ", "2.7.1.post8"),
        ] {
            assert_eq!(package(given).unwrap().to_string(), normal);
        }
        assert!(package("tr5.x").is_none());
    }

    #[test]
    fn cann_versions_have_an_order() {
        let mut versions =
            ["9.0.0", "8.5.0", "9.0.0-beta.1", "8.3.RC2", "8.3.RC1", "8.3.RC1.alpha001"];
        versions.sort_by_key(|version| cann_key(version));
        assert_eq!(
            versions,
            ["8.3.RC1.alpha001", "8.3.RC1", "8.3.RC2", "8.5.0", "9.0.0-beta.1", "9.0.0"]
        );
    }

    #[test]
    fn driver_numbers_are_cut_from_text() {
        for (given, number) in
            [("25.0.RC1", "25.0.rc1"), ("26.0 (or 25.5)", "26.0"), ("26.1.0.b061", "26.1.0")]
        {
            assert_eq!(hdk(given), number);
        }
    }
}
