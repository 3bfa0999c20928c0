//! How often the first cause of a real log is the one that its maintainers named.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::examined;

/// The folder of labelled logs: `index.json` and what it names.
fn folder() -> PathBuf {
    std::env::var_os("ASCEND_DOCTOR_LOGS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/logs"), PathBuf::from)
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

/// The first of a log is its first finding. The first three are those of the ranking, which lists what
/// follows from another cause, too: that is told with its cause and is no finding of its own.
#[test]
fn the_first_cause_is_the_one_that_maintainers_named() {
    let folder = folder();
    let Ok(index) = std::fs::read_to_string(folder.join("index.json")) else {
        println!("skipped: there are no labelled logs at {}", folder.display());
        return;
    };
    let index: Value = serde_json::from_str(&index).unwrap();
    let rows = index.as_array().or_else(|| index.as_object()?.values().find_map(Value::as_array));
    let rows = rows.unwrap();
    let (mut first, mut third, mut misses) = (0, 0, Vec::new());
    for row in rows {
        let expected = text(row, "expected_label");
        let accepted = |cause: &str| {
            let others = row["accept_labels"].as_array().into_iter().flatten();
            cause == expected || others.into_iter().any(|other| other == cause)
        };
        let found = examined(&folder.join(text(row, "file")));
        let causes: Vec<&str> = found.ranking.iter().map(|one| one.cause.as_str()).collect();
        let place = causes.iter().position(|cause| accepted(cause));
        first += usize::from(place == Some(0));
        third += usize::from(place.is_some_and(|place| place < 3));
        if place != Some(0) || std::env::var_os("ASCEND_DOCTOR_LOGS_ALL").is_some() {
            let best = found.causes.first();
            misses.push(format!(
                "{} {} wants {expected}: {:?} by {:?} {:?}; rejected {:?}",
                text(row, "file"),
                text(row, "id"),
                &causes[..causes.len().min(4)],
                best.map(|best| (&best.evidence[0].rule, best.evidence[0].line, best.confidence)),
                best.map(|best| &best.culprit),
                found.rejected.iter().map(|one| (one.cause.as_str(), one.why)).collect::<Vec<_>>(),
            ));
        }
    }
    let count = rows.len();
    println!("{first} of {count} first, {third} of {count} among the first three of the ranking");
    for miss in &misses {
        println!("  {miss}");
    }
    assert!(first * 100 >= count * 93, "{first} of {count}: {misses:#?}");
    assert!(third * 100 >= count * 98, "{third} of {count}: {misses:#?}");
}
