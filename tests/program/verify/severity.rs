//! The severity of wrong data of every kind, once and permanently, in every operation and lane.
//!
//! `cargo test --test program verify::severity -- --nocapture` prints the counts.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::simulator::{OLD, RTC, Said, verify};

/// Corruptions of data.
const DAMAGE: [&str; 7] = ["flip", "swap", "nan", "zero", "tail", "poison", "lowbits"];

/// An operation with its lane, and the fault that affects it.
struct Lane {
    name: String,
    /// The place of the fault: once, and permanently.
    places: [String; 2],
    args: Vec<&'static str>,
    variables: Vec<(&'static str, &'static str)>,
    /// Whether results are exact, so that any difference is wrong.
    exact: bool,
}

fn lanes() -> Vec<Lane> {
    let mut lanes = Vec::new();
    let compute = |dtype: &'static str, kernel: usize, what: &str, level: &'static str| Lane {
        name: format!("{what} {dtype}"),
        places: [format!("kernel@{kernel}"), format!("kernel@{kernel}+")],
        args: vec!["--rung", "compute", "--dtype", dtype, "--level", level],
        variables: vec![],
        exact: !what.contains("random"),
    };
    for dtype in ["int32", "fp16", "fp32", "bf16"] {
        lanes.push(compute(dtype, 1, "addition", "quick"));
        if dtype == "int32" {
            continue;
        }
        lanes.push(compute(dtype, 2, "product", "quick"));
        lanes.push(compute(dtype, 3, "product for all cores", "quick"));
        // Bfloat16 has no product of 512.
        let first = if dtype == "bf16" { 4 } else { 5 };
        if dtype != "bf16" {
            lanes.push(compute(dtype, 4, "large product", "standard"));
        }
        lanes.push(compute(dtype, first, "random addition", "standard"));
        lanes.push(compute(dtype, first + 1, "random product", "standard"));
    }
    let memory = |what: &str, once: &str, always: &str| Lane {
        name: what.to_owned(),
        places: [once.to_owned(), always.to_owned()],
        args: vec!["--rung", "memory"],
        variables: vec![],
        exact: true,
    };
    lanes.push(memory("copy to the device", "aclrtMemcpy@2", "aclrtMemcpy@2"));
    lanes.push(memory("copy from the device", "aclrtMemcpy@3", "aclrtMemcpy@3+"));
    lanes.push(memory("copy on the device", "aclrtMemcpyAsync@1", "aclrtMemcpyAsync"));
    lanes.push(Lane {
        name: "own kernel".to_owned(),
        places: ["core@8".to_owned(), "core#7".to_owned()],
        args: vec!["--rung", "kernel"],
        variables: vec![],
        exact: true,
    });
    let fabric = |what: &str, once: &str, always: &str| Lane {
        name: what.to_owned(),
        places: [once.to_owned(), always.to_owned()],
        // A rank with a wrong sum leaves, and the others wait for it.
        args: vec!["--rung", "fabric", "--call-timeout", "3"],
        variables: vec![("ASCSIM_DEVICES", "2")],
        exact: true,
    };
    lanes.push(fabric("copy between devices", "link@2", "link#1-0"));
    lanes.push(fabric("sum", "sum@2#1", "sum#1"));
    lanes
}

/// `none`, `doubtful` or `wrong`, from status and severities; anything else is a contradiction.
fn grade(said: &Said) -> &'static str {
    let findings = said.report["findings"].as_array().unwrap();
    let severities: Vec<&str> =
        findings.iter().map(|finding| finding["severity"].as_str().unwrap()).collect();
    match (said.status, &severities[..]) {
        (Some(0), []) => "none",
        (Some(3), ["warning"]) => "doubtful",
        (Some(1), ["error", ..]) => "wrong",
        _ => "contradiction",
    }
}

#[test]
fn every_kind_of_damage_has_its_severity() {
    let lanes = lanes();
    let cases: Vec<(&Lane, &str, &String)> = lanes
        .iter()
        .flat_map(|lane| {
            DAMAGE
                .iter()
                .flat_map(move |damage| lane.places.iter().map(move |place| (lane, *damage, place)))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let counts: Mutex<BTreeMap<&str, BTreeMap<&str, usize>>> = Mutex::default();
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        // More threads than processors, because ranks wait for each other.
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some((lane, damage, place)) =
                    cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let fault = format!("{place}:{damage}");
                    let libraries = if lane.args.contains(&"compute") { &OLD } else { &RTC };
                    let mut variables = lane.variables.clone();
                    variables.push(("ASCSIM_FAULT", &fault));
                    let said = verify(libraries.path(), &lane.args, &variables);
                    let grade = grade(&said);
                    let right = match (lane.exact, *damage) {
                        // One lowest bit of a rounded result is at most doubtful.
                        (false, "flip") => ["none", "doubtful"].contains(&grade),
                        // A sum in single precision with an error of one last place stays within
                        // its bound.
                        (false, "lowbits") if lane.name == "random product fp32" => grade == "none",
                        _ => grade == "wrong",
                    };
                    if !right {
                        let found = said.found();
                        let what = &lane.name;
                        wrong.lock().unwrap().push(format!("{what}: {fault}: {grade} {found:?}"));
                    }
                    let mut counts = counts.lock().unwrap();
                    *counts.entry(*damage).or_default().entry(grade).or_default() += 1;
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    println!("| damage | wrong | doubtful | none |\n| --- | --- | --- | --- |");
    for (damage, grades) in &counts {
        let count = |grade| grades.get(grade).copied().unwrap_or_default();
        println!("| {damage} | {} | {} | {} |", count("wrong"), count("doubtful"), count("none"));
    }
    println!("| all of {} lanes | {} |", lanes.len(), cases.len());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Regression test: nearly all elements of a random lane were zero, which was a warning with exit
/// status 0.
#[test]
fn zeros_in_a_random_lane_fail() {
    let fault = [("ASCSIM_FAULT", "kernel@10+:zero")];
    let said = verify(OLD.path(), &["--level", "standard", "--rung", "compute"], &fault);
    assert_eq!((said.status, grade(&said)), (Some(1), "wrong"));
}
