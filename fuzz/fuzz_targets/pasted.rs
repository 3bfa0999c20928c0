//! The text of an issue, and the facts that it states.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let read = pasted::read(&text);
    let lines = text.split('\n').count();
    for fact in &read.facts {
        let line = fact.line as usize;
        assert!(line >= 1 && line <= lines, "{fact:?} is in none of {lines} lines");
    }
    let disputed = |name: &str| read.conflicts.iter().any(|conflict| conflict.name == name);
    for (at, fact) in read.facts.iter().enumerate() {
        assert!(!disputed(&fact.name), "{fact:?} is disputed");
        assert!(read.facts[..at].iter().all(|other| other.name != fact.name), "{fact:?} twice");
    }
    assert_eq!(read, pasted::read(&text), "a second reading finds the same");
});
