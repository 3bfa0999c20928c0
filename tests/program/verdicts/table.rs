//! All rows of the table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::row::{Answer, Row, Table};

/// The rows of each subcommand.
const TABLES: [&str; 9] = [
    include_str!("check_healthy.toml"),
    include_str!("check_broken.toml"),
    include_str!("check_repaired.toml"),
    include_str!("check_states.toml"),
    include_str!("logs.toml"),
    include_str!("convert.toml"),
    include_str!("audit_ops.toml"),
    include_str!("verify.toml"),
    include_str!("fleet.toml"),
];

/// Lookups, which have no verdict.
const LOOKUPS: &str = include_str!("lookups.toml");

/// The number of rows that wait for each issue. These numbers only decrease.
const PENDING: [(&str, usize); 0] = [];

/// All tables; a test may change its copy.
pub(crate) fn tables() -> Vec<Table> {
    let texts = TABLES.iter().chain([&LOOKUPS]);
    texts.map(|text| toml::from_str(text).unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// The difference from the expectation.
fn complaint(row: &Row, answer: &Answer) -> Option<String> {
    let right = row.status == answer.status
        && row.verdict.as_deref() == answer.verdict()
        && row.goal.as_deref() == answer.goal();
    (!right).then(|| {
        format!(
            "{}: wanted {} {} {}, got {} {} {}: {} (contradicted {:?}, not examined {:?})",
            row.name,
            row.goal.as_deref().unwrap_or("-"),
            row.verdict.as_deref().unwrap_or("-"),
            row.status,
            answer.goal().unwrap_or("-"),
            answer.verdict().unwrap_or("-"),
            answer.status,
            answer.says(),
            answer.required("contradicted"),
            answer.required("not_examined"),
        )
    })
}

#[test]
fn every_row_gets_its_verdict() {
    let tables = tables();
    let rows: Vec<(&Table, &Row)> =
        tables.iter().flat_map(|table| table.row.iter().map(move |row| (table, row))).collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let wanted = std::env::var("ROW").unwrap_or_default();
    let work = || {
        while let Some((table, row)) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !row.name.contains(&wanted) {
                continue;
            }
            let answer = row.run(&table.command);
            match (complaint(row, &answer), &row.pending) {
                (Some(complaint), None) => wrong.lock().unwrap().push(complaint),
                (None, Some(_)) => {
                    wrong.lock().unwrap().push(format!("{}: right, but pending", row.name));
                }
                _ => {}
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// A row that must not pass has a twin that must: otherwise a program that never passes would be
/// correct.
#[test]
fn every_row_that_must_not_pass_has_a_twin() {
    let tables = tables();
    let mut rows = BTreeMap::new();
    for row in tables.iter().flat_map(|table| &table.row) {
        assert!(rows.insert(&row.name, row).is_none(), "{} twice", row.name);
    }
    assert!(rows.len() >= 120, "{} rows", rows.len());
    let passes =
        |row: &Row| row.status == 0 && row.verdict.as_deref().is_none_or(|is| is == "pass");
    for row in rows.values().filter(|row| !passes(row)) {
        let twin = row.twin.as_ref().unwrap_or_else(|| panic!("{} has no twin", row.name));
        let twin = rows.get(twin).unwrap_or_else(|| panic!("{}: no row {twin}", row.name));
        assert!(passes(twin), "{}: {} does not pass", row.name, twin.name);
        assert!(
            row.verdict.is_none() || twin.verdict.is_some(),
            "{}: {} is not judged",
            row.name,
            twin.name
        );
    }
}

#[test]
fn pending_rows_are_counted() {
    let tables = tables();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in tables.iter().flat_map(|table| &table.row) {
        if let Some(subject) = &row.pending {
            *counts.entry(subject).or_default() += 1;
        }
    }
    assert_eq!(counts, PENDING.into_iter().collect());
    let verdicts: BTreeSet<_> =
        tables.iter().flat_map(|table| &table.row).filter_map(|row| row.verdict.as_ref()).collect();
    assert_eq!(verdicts.len(), 3);
}
