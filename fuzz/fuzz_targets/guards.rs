//! Untrusted texts on their way into a bundle, and to a terminal.
#![no_main]

use libfuzzer_sys::fuzz_target;

use base::redact::{Level, Redactor};
use base::text::{acts_on_terminal, escape_line};

fuzz_target!(|bytes: &[u8]| {
    let mut redactor = Redactor::new(Level::Secrets, []);
    let now = redactor.bytes(bytes).into_owned();
    assert_eq!(*redactor.bytes(&now), *now, "a second time changes nothing");
    let masked = redactor.in_place(bytes);
    assert_eq!(masked.len(), bytes.len());
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines(&masked), lines(bytes), "lines stay lines");
    if let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(bytes) {
        redactor.json(&mut value);
        let text = value.to_string();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }
    // Only characters that join or select symbols may pass.
    let text = String::from_utf8_lossy(bytes);
    let joins = |c: char| matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    assert!(escape_line(&text).chars().all(|c| !acts_on_terminal(c) || joins(c)));
});
