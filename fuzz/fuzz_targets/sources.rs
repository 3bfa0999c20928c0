//! Python sources that `audit-ops` reads: any text, as a file and as a notebook, and the cells of a
//! notebook.
#![no_main]

use libfuzzer_sys::fuzz_target;

use audit::classify::classify;
use audit::environment::TargetEnvironment;
use audit::ops::dispatch::Shipped;
use audit::ops::{Tables, Target};
use audit::{Model, Place, python};

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, body)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(body);
    let backward = first & 4 != 0;
    match first & 3 {
        0 => {
            let _ = python::of_source(&text, true, backward);
        }
        1 => {
            // As cells: the result equals that of a file with the same text, if it parses.
            let cells: Vec<serde_json::Value> = text
                .split_inclusive('\n')
                .collect::<Vec<_>>()
                .chunks(8)
                .map(|lines| serde_json::json!({"cell_type": "code", "source": lines}))
                .collect();
            let notebook = serde_json::json!({"cells": cells, "nbformat": 4});
            if let Ok(model) = python::of_source(&notebook.to_string(), true, backward) {
                checked(&model, &text);
            }
        }
        _ => {
            if let Ok(model) = python::of_source(&text, false, backward) {
                checked(&model, &text);
            }
        }
    }
});

/// Invariants of any input: the result is bounded, its lines exist, and it can be evaluated.
fn checked(model: &Model, text: &str) {
    let lines = text.lines().count() + 1;
    for (op, used) in &model.uses {
        assert!(used.count > 0 && used.maybe + used.setup <= used.count, "{op}: {used:?}");
        assert!(used.places.len() <= 200 && !used.places.is_empty(), "{op}");
        for place in &used.places {
            let Place::Line(_, line) = place else { panic!("{place} is no line") };
            assert!((1..=lines.max(2)).contains(&(*line as usize)), "{place} of {lines}");
        }
    }
    let tables = Tables::get();
    let target = Target::newest(tables).expect("there are tables");
    let registered = &Shipped { tables, target: &target };
    let against = TargetEnvironment {
        registered,
        tables,
        target: &target,
        chip: None,
        cann: None,
        dtype: None,
    };
    assert!(classify(model, against).len() <= model.uses.len());
}
