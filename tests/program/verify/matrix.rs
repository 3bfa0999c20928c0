//! The fault matrix: one fault at a time, with the expected finding.
//!
//! `cargo test --test program verify::matrix -- --nocapture` prints it.

mod cases;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::cases::{Case, cases};
use super::simulator::{Installation, NEW, OLD, RTC, verify};

/// Runs a case, and returns the deviation from the expectation.
fn run(case: &Case) -> Option<Failure> {
    let both = [OLD.path(), NEW.path()];
    // Each fault on one of the two layouts, alternately. If kernels are counted, the layout with
    // one library for all of them is used.
    let value = case.variables.first().map_or("", |(_, value)| value);
    let turn = if value.contains("kernel") { 0 } else { value.len() % 2 };
    let shared = if case.complete { RTC.path() } else { both[turn] };
    let libraries = case.libraries.as_ref().map_or(shared, Installation::path);
    let args: Vec<&str> = case.args.iter().map(String::as_str).collect();
    let variables: Vec<(&str, &str)> =
        case.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let said = verify(libraries, &args, &variables);
    let found = said.found();
    let as_expected = found.first() == case.found.as_ref()
        && said.status == Some(case.status)
        && (case.found.is_some() || found.is_empty())
        && found.len() <= 1;
    (!as_expected).then(|| Failure {
        unnoticed: case.found.is_some() && (found.is_empty() || said.status == Some(0)),
        said: format!(
            "{}: {variables:?} {args:?}: found {found:?}, status {:?}; expected {:?}, {}",
            case.class, said.status, case.found, case.status
        ),
    })
}

/// A case with an unexpected result.
struct Failure {
    said: String,
    /// Whether the fault occurred without a finding.
    unnoticed: bool,
}

#[test]
fn matrix() {
    let mut cases = cases();
    // The longest waits first, so that none of them remains at the end.
    cases.sort_by_key(|case| !case.args.iter().any(|arg| arg == "--call-timeout"));
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let counts: Mutex<BTreeMap<&str, [usize; 2]>> = Mutex::default();
    std::thread::scope(|scope| {
        // Many cases only wait for a time limit.
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failure = run(case);
                    let mut counts = counts.lock().unwrap();
                    let count = counts.entry(case.class).or_default();
                    count[0] += 1;
                    count[1] += usize::from(failure.is_none());
                    failures.lock().unwrap().extend(failure);
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    println!("| class | cases | as expected |\n| --- | --- | --- |");
    for (class, [all, right]) in &counts {
        println!("| {class} | {all} | {right} |");
    }
    let right: usize = counts.values().map(|count| count[1]).sum();
    println!("| all {} classes | {} | {right} |", counts.len(), cases.len());
    let failures = failures.into_inner().unwrap();
    let said: Vec<&str> = failures.iter().map(|failure| failure.said.as_str()).collect();
    let said = format!("{} of {}:\n{}", failures.len(), cases.len(), said.join("\n"));
    assert!(!failures.iter().any(|failure| failure.unnoticed), "{said}");
    assert!(failures.len() * 100 <= cases.len(), "{said}");
    if !failures.is_empty() {
        println!("{said}");
    }
    assert!(cases.len() >= 250 && counts.len() >= 12);
}
