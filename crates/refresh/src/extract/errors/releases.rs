//! First and last release that has a code.

/// First and last release of `seen`, out of all releases that were read, oldest first. The first
/// is a bound for codes that are older than what was read: `≤ 8.1.RC1` for the oldest release, and
/// `> 8.1.RC1, ≤ 8.5.0-beta.1` for the next one, since releases between the two are not public. The
/// last is empty for codes that the newest tree has.
pub(super) fn span(seen: &[String], all: &[String]) -> (String, String) {
    let first = seen.first().cloned().unwrap_or_default();
    let since = match all.iter().position(|release| *release == first) {
        Some(0) => format!("≤ {first}"),
        Some(1) => format!("> {}, ≤ {first}", all[0]),
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
        let of = |seen: &[&str]| {
            let seen: Vec<String> = seen.iter().map(|&name| name.to_owned()).collect();
            let (since, until) = span(&seen, &all);
            format!("{since}..{until}")
        };
        assert_eq!(of(&["8.1.RC1", "9.0.0", "9.1.0", "master"]), "≤ 8.1.RC1..");
        assert_eq!(of(&["9.1.0", "master"]), "9.1.0..");
        assert_eq!(of(&["9.0.0"]), "> 8.1.RC1, ≤ 9.0.0..9.0.0");
        assert_eq!(of(&["master"]), "master..");
    }
}
