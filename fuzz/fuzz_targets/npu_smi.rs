//! What npu-smi prints.
#![no_main]

use libfuzzer_sys::fuzz_target;

use machine::collect::npu_smi::parse_bytes;

fuzz_target!(|bytes: &[u8]| {
    let parsed = parse_bytes(bytes);
    assert!(parsed.chips.len() <= bytes.len());
    assert_eq!(parsed, parse_bytes(bytes));
});
