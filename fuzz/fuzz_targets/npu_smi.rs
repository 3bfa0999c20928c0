//! The output of npu-smi.
#![no_main]

use libfuzzer_sys::fuzz_target;

use machine::collect::npu_smi::parse_bytes;
use machine::collect::npu_smi_state::{parse_ecc, parse_states};

fuzz_target!(|bytes: &[u8]| {
    let parsed = parse_bytes(bytes);
    assert!(parsed.chips.len() <= bytes.len());
    assert_eq!(parsed, parse_bytes(bytes));
    let text = String::from_utf8_lossy(bytes);
    let states = parse_states(&text);
    assert!(states.len() <= bytes.len());
    assert_eq!(states, parse_states(&text));
    assert_eq!(parse_ecc(&text), parse_ecc(&text));
});
