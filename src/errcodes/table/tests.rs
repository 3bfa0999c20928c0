use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::Kind;

#[test]
fn versions_of_codes_are_read() {
    let row = find_row("acl_rt", "507035").unwrap();
    assert_eq!((row.since.as_str(), row.until.as_str()), ("≤ 8.1.RC1", ""));
    let gone = find_row("runtime", "0x70f0000").unwrap();
    assert_eq!(gone.until, "9.2.0-beta.1");
}

/// The table contains the commit; pages and reports name only the file.
#[test]
fn sources_are_shown_without_their_commit() {
    let text = "# source 0: o/a@0123456789ab:x.h + o/b@0123456789ab:y.h\n\
                # source 1: p-1.whl:a@b.h\ncode\tsource\n1\t0#L3\n2\t1\n";
    let head = Head::new(text);
    assert_eq!(head.parse_row("1\t0#L3").source, "o/a:x.h + o/b:y.h#L3");
    assert_eq!(head.parse_row("2\t1").source, "p-1.whl:a@b.h");
}

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

/// A family has no duplicate row. Rows with the same code differ in another column.
#[test]
fn no_row_occurs_twice() {
    for family in families() {
        let mut seen = BTreeSet::new();
        for row in rows(family) {
            let key = (&row.code, &row.symbol, &row.component, &row.message);
            let new = seen.insert(key);
            // The documents list some log texts under several headings, and the driver some states
            // with several texts; these are not merged.
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
