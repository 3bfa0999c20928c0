//! Text of the examined machine on its way to a terminal, a shell, a report.
#![no_main]

use libfuzzer_sys::fuzz_target;

use base::text::escape;
use machine::sysroot::environ::redact_urls;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let escaped = escape(&text);
    let harmless = |c: char| !c.is_control() || c == '\n' || c == '\t';
    assert!(escaped.chars().all(harmless), "{escaped:?}");
    let redacted = redact_urls(&text);
    assert_eq!(redacted, redact_urls(&redacted), "a second time changes nothing");
});
