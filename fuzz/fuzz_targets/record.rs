//! RECORD of an installed package.
#![no_main]

use libfuzzer_sys::fuzz_target;

use machine::manifest::record;

fuzz_target!(|bytes: &[u8]| {
    let record = record::parse(bytes);
    assert!(record.rows.len() + record.bad.len() <= bytes.len() + 1);
    for row in &record.rows {
        assert!(!row.path.contains('\0') && row.path.len() <= 4096);
    }
    assert_eq!(record, record::parse(bytes));
});
