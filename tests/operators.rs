//! The operator tables against what they were made of: every overload of every wheel whose
//! dispatcher was read, and every registration of every release.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test, and reads the facts beside the project"
)]

use std::path::PathBuf;

use ascend_doctor::ops::dispatch::{Registrations as _, Shipped};
use ascend_doctor::ops::tables::Origin;
use ascend_doctor::ops::{Match, Tables, Target};
use serde_json::Value;

/// The fact tables, where they lie beside the project.
fn facts(name: &str) -> Option<Value> {
    let home = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let places = [home.join("../shared/facts"), home.join("../../shared/facts")];
    let Some(file) = places.iter().map(|place| place.join(name)).find(|file| file.is_file()) else {
        println!("skipped: ../shared/facts/{name} is not here");
        return None;
    };
    Some(serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap())
}

/// Each overload of each wheel is chosen for as the dispatcher of that wheel chose.
#[test]
fn classes_are_those_of_the_dispatcher() {
    let Some(truth) = facts("ops_truth_wheels.json") else { return };
    let tables = Tables::get();
    let mut pairs = 0;
    for (wheel, row) in truth["wheels"].as_object().unwrap() {
        let target = Target::find(tables, wheel).unwrap();
        assert_eq!(target.how, Match::Wheel, "{wheel}");
        let shipped = Shipped { tables, target: &target };
        let mut wrong = Vec::new();
        for (overload, letter) in row["classes"].as_object().unwrap() {
            let class = shipped.class(overload).map(|class| class.letter().to_string());
            if class.as_deref() != letter.as_str() {
                wrong.push((overload, class, letter));
            }
            pairs += 1;
        }
        assert!(wrong.is_empty(), "{wheel}: {wrong:?}");
    }
    assert!(pairs > 20_000, "{pairs}");
}

/// Each release has the registrations of its sources, and no other.
#[test]
fn kernels_are_those_of_the_sources() {
    let Some(facts) = facts("ops_npu_kernels.json") else { return };
    let tables = Tables::get();
    let keys: Vec<&str> =
        facts["columns"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut checked = 0;
    for (at, column) in tables.columns.iter().enumerate() {
        if column.origin == Origin::Wheel {
            continue;
        }
        let key = format!("{}|{}", column.torch, column.release);
        let index = keys.iter().position(|known| *known == key).unwrap();
        for (overload, cells) in facts["rows"].as_object().unwrap() {
            let cell = cells[index].as_str().unwrap_or_default();
            // What is registered for sparse or quantized tensors alone is no kernel for others.
            let there = cell.contains(['N', 'L', 'T']) && !cell.contains('Q');
            let kernel = tables.kernel(overload).and_then(|runs| runs.at(at));
            assert_eq!(kernel.is_some(), there, "{overload} in {key}: {cell}, {kernel:?}");
            checked += 1;
        }
    }
    assert!(checked > 100_000, "{checked}");
}
