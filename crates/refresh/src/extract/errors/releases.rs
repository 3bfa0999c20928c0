//! Codes over releases: the union, with the first and the last release that has each code.

use anyhow::{Result, bail};

use crate::repository::Tree;
use crate::table::{Place, SourcedRows};

/// The oldest public CANN release, as an unpacked installation. Releases between it and the first
/// public sources are not public.
pub(super) const TOOLKIT: &str = "8.1.RC1";

/// Codes of one release.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) label: String,
    /// Cells and place of each code, in the order of the source.
    pub(super) rows: Vec<(Vec<String>, Place)>,
}

/// Returns the codes of all releases, oldest release first, as rows with the columns `since` and
/// `until`. The first `key` cells identify a code. Each row is that of the newest release with the
/// code. Rows of the newest release come first, then those that vanished, the latest first.
pub(super) fn union(
    columns: &[&str],
    key: usize,
    releases: &[Release],
) -> Vec<(Vec<String>, Place)> {
    debug_assert!(key <= columns.len());
    let labels: Vec<String> = releases.iter().map(|release| release.label.clone()).collect();
    let mut found: Vec<(Vec<String>, Place)> = Vec::new();
    for release in releases.iter().rev() {
        for (cells, place) in &release.rows {
            if found.iter().any(|(known, _)| known[..key] == cells[..key]) {
                continue;
            }
            let has = |release: &&Release| {
                release.rows.iter().any(|(other, _)| other[..key] == cells[..key])
            };
            let seen: Vec<String> =
                releases.iter().filter(has).map(|release| release.label.clone()).collect();
            let (since, until) = span(&seen, &labels);
            let mut cells = cells.clone();
            cells.extend([since, until]);
            found.push((cells, place.clone()));
        }
    }
    found
}

/// Returns the rows of [`union`] as a table.
pub(super) fn spanned(columns: &[&str], key: usize, releases: &[Release]) -> SourcedRows {
    let mut all = columns.to_vec();
    all.extend(["since", "until"]);
    let mut rows = SourcedRows::new(&all);
    for (cells, place) in union(columns, key, releases) {
        rows.push_row(cells, place);
    }
    rows
}

/// Returns the only file of a tree that matches a pattern. Its directory differs between releases.
pub(super) fn only_file<'t>(tree: &'t Tree, pattern: &str) -> Result<&'t str> {
    match tree.find(pattern)?[..] {
        [path] => Ok(path),
        ref several => {
            bail!("{} ({}): `{pattern}` matches {several:?}", tree.origin(), tree.label)
        }
    }
}

/// Returns the first and last release of `seen`, out of all releases that were read, oldest first.
/// The first is a bound for codes that are older than the releases read: `≤ 8.1.RC1` for the oldest
/// release, and `> 8.1.RC1, ≤ 8.5.0-beta.1` for the next one, because releases between the two are
/// not public. The last is empty for codes in the newest tree.
pub(super) fn span(seen: &[String], all: &[String]) -> (String, String) {
    let first = seen.first().cloned().unwrap_or_default();
    let since = match all.iter().position(|release| *release == first) {
        Some(0) => format!("≤ {first}"),
        Some(1) if all[0] == TOOLKIT => format!("> {TOOLKIT}, ≤ {first}"),
        _ => first,
    };
    let last = seen.last().cloned().unwrap_or_default();
    let until = if all.last() == Some(&last) { String::new() } else { last };
    (since, until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_name_the_first_and_the_last_release() {
        let all = ["8.1.RC1", "9.0.0", "9.1.0", "master"].map(str::to_owned);
        let of = |seen: &[&str], all: &[String]| {
            let seen: Vec<String> = seen.iter().map(|&name| name.to_owned()).collect();
            let (since, until) = span(&seen, all);
            format!("{since}..{until}")
        };
        assert_eq!(of(&["8.1.RC1", "9.0.0", "9.1.0", "master"], &all), "≤ 8.1.RC1..");
        assert_eq!(of(&["9.1.0", "master"], &all), "9.1.0..");
        assert_eq!(of(&["9.0.0"], &all), "> 8.1.RC1, ≤ 9.0.0..9.0.0");
        assert_eq!(of(&["9.1.0", "master"], &all[1..]), "9.1.0..");
        assert_eq!(of(&["master"], &all), "master..");
    }

    #[test]
    fn vanished_codes_follow_those_of_the_newest_release() {
        let release = |label: &str, codes: &[(&str, &str)]| Release {
            label: label.to_owned(),
            rows: codes
                .iter()
                .map(|&(code, text)| (vec![code.to_owned(), text.to_owned()], Place::file(label)))
                .collect(),
        };
        let releases = [
            release("8.5.0", &[("1", "old"), ("2", "gone"), ("3", "also")]),
            release("9.0.0", &[("1", "old"), ("3", "later")]),
            release("master", &[("4", "new"), ("1", "reworded")]),
        ];
        let rows: Vec<String> = union(&["code", "message"], 1, &releases)
            .into_iter()
            .map(|(cells, place)| format!("{} @{}", cells.join("|"), place.source))
            .collect();
        assert_eq!(
            rows,
            [
                "4|new|master| @master",
                "1|reworded|≤ 8.5.0| @master",
                "3|later|≤ 8.5.0|9.0.0 @9.0.0",
                "2|gone|≤ 8.5.0|8.5.0 @8.5.0"
            ]
        );
    }
}
