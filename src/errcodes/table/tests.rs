use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::Kind;

#[test]
fn every_line_has_a_cell_for_every_column() {
    for table in TABLES.iter() {
        let head = table.head();
        assert!(head.columns.starts_with(&["code", "symbol", "message"]), "{}", table.id);
        assert!(!head.sources.is_empty(), "{}", table.id);
        for line in head.body.lines().skip(1) {
            assert_eq!(line.split('\t').count(), head.columns.len(), "{}: {line}", table.id);
        }
    }
}

#[test]
fn codes_have_one_spelling_and_rows_a_source() {
    for family in families() {
        for row in rows(family) {
            assert!(!row.source.is_empty(), "{} {}", family.id, row.code);
            assert!(!row.code.is_empty() && row.code.trim() == row.code, "{}", family.id);
            if family.part {
                continue;
            }
            let query = Query::parse(&row.code);
            if let (Query::Number { .. }, Kind::Decimal | Kind::Hex) = (&query, family.kind) {
                assert_eq!(query.spellings(family.kind)[0], row.code, "{}", family.id);
            }
        }
    }
}

/// A family has no row twice. Where one code is there more than once, something tells them apart.
#[test]
fn no_row_occurs_twice() {
    for family in families() {
        let mut seen = BTreeSet::new();
        for row in rows(family) {
            let key = (&row.code, &row.symbol, &row.component, &row.message);
            let new = seen.insert(key);
            // The documents list some words of logs under several headings, and the driver some
            // states with several texts, which are not taken over.
            let known = ["hccl_stage", "dms_state"].contains(&family.id.as_str());
            assert!(new || known, "{} {key:?}", family.id);
        }
    }
}

#[test]
fn every_code_of_every_family_is_found() {
    for family in families().iter().filter(|family| !family.part) {
        for row in rows(family) {
            let found = find(family, &Query::parse(&row.code));
            assert!(found.contains(row), "{} {}", family.id, row.code);
            assert!(find_rows(family, &row.code).contains(row), "{} {}", family.id, row.code);
        }
    }
}

#[test]
fn what_a_code_becomes_exists() {
    let mut codes: BTreeMap<&String, &str> = BTreeMap::new();
    for family in families() {
        for row in rows(family) {
            codes.extend(row.becomes.iter().map(|code| (code, family.id.as_str())));
        }
    }
    assert!(codes.len() > 50);
    for (code, of) in codes {
        assert!(!super::super::look_up(code).is_empty(), "{of}: nothing is {code}");
    }
}

#[test]
fn families_annotate_families_that_exist() {
    for annotating in families() {
        for id in &annotating.annotates {
            let other = family(id).unwrap();
            assert!(other.annotates.is_empty() && other.kind == annotating.kind, "{id}");
        }
    }
}

#[test]
fn cells_say_what_was_escaped() {
    assert_eq!(unescape(r"a\tb\nc\\d"), "a\tb\nc\\d");
    assert_eq!(unescape(r"ends with \"), "ends with ");
}

/// The tables that `data/errors/extracted` is the source of have its rows, in its order.
#[test]
#[expect(clippy::disallowed_methods, reason = "reads the facts of the repository")]
fn tables_have_the_codes_of_the_extracted_facts() {
    let project = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let facts = project.join("data/errors/extracted");
    let mut compared = 0;
    for table in TABLES.iter() {
        let name = table.text().lines().next().unwrap();
        let name = name.split(" from ").nth(1).unwrap().split(';').next().unwrap();
        let Ok(text) = std::fs::read_to_string(facts.join(format!("{name}.json"))) else {
            continue;
        };
        compared += 1;
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expected = json["rows"].as_array().unwrap();
        let rows = rows(family(&table.id).unwrap());
        assert_eq!(rows.len(), expected.len(), "{name}");
        let coded_here = ["aicore_bit", "torch_npu_fault"].contains(&table.id.as_str());
        for (row, fact) in rows.iter().zip(expected).filter(|_| !coded_here) {
            let fact = fact["code"].as_str().unwrap();
            assert_eq!(
                Query::parse(&row.code).spellings(Kind::Decimal),
                Query::parse(fact).spellings(Kind::Decimal),
                "{name}"
            );
        }
    }
    let files = std::fs::read_dir(&facts).unwrap().count();
    assert!(compared > 0 && compared == files, "{compared} of {files} files have a table");
}
