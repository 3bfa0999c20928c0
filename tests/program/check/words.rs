//! The number of checks. The compiler compares messages and their values with the texts.

#[test]
fn there_are_at_least_75_checks() {
    let count = checks::all().count();
    assert!(count >= 75, "{count}");
}
