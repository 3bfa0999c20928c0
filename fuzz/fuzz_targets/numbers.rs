//! Codes as typed by users, and times in logs.
#![no_main]

use libfuzzer_sys::fuzz_target;

use errcodes::log::Time;
use errcodes::{Query, answer, search, similar};

fuzz_target!(|bytes: &[u8]| {
    if let Some(time) = Time::find(bytes) {
        let shown = time.to_string();
        let again = Time::find(shown.as_bytes()).expect("what is shown is read");
        // Times are printed with milliseconds.
        assert_eq!(time.0.div_euclid(1_000), again.0.div_euclid(1_000), "{shown}");
    }
    let text = String::from_utf8_lossy(bytes);
    if let Query::Number { value, .. } = Query::parse(&text) {
        let again = Query::parse(&value.to_string());
        assert!(matches!(again, Query::Number { value: same, .. } if same == value), "{value}");
    }
    // No user types more.
    let typed: String = text.chars().take(80).collect();
    let found = answer(&typed);
    let upper = answer(&typed.to_uppercase());
    if typed.is_ascii() && !typed.contains("0x") && !typed.contains('(') && !typed.contains('[') {
        assert_eq!(found.matches.len(), upper.matches.len(), "case does not matter: {typed:?}");
    }
    for one in &found.matches {
        let own = answer(&one.row.code);
        assert!(
            own.is_known(),
            "`{}` of {} is found, but not by its code",
            one.row.code,
            one.family.id
        );
    }
    if !found.is_known() && typed.len() <= 16 {
        assert!(similar(&typed, 3).len() <= 3);
        drop(search(&typed));
    }
});
