//! Version files of CANN, driver and firmware, and the versions and ranges in them.
#![no_main]

use libfuzzer_sys::fuzz_target;

use base::version::{CannVersion, DottedVersion, InnerVersion, PackageRange, RangeList};
use machine::collect::parse_info;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (file, bad) = parse_info("/version.info", &text);
    assert!(file.fields.len() + bad.len() <= text.lines().count());
    let values: Vec<&str> = file.fields.values().map(String::as_str).chain([&*text]).collect();
    for value in &values {
        if let Ok(version) = value.parse::<CannVersion>() {
            let again: CannVersion = version.to_string().parse().expect("what is printed is read");
            assert_eq!(version, again);
            assert!(version.cmp(&again).is_eq());
        }
        if let Ok(version) = value.parse::<DottedVersion>() {
            let again: DottedVersion =
                version.to_string().parse().expect("what is printed is read");
            assert!(version.cmp(&again).is_eq());
        }
        let _ = value.parse::<InnerVersion>().map(|version| (version.line(), version.c_code()));
        if let Ok(range) = value.parse::<PackageRange>() {
            values.iter().for_each(|version| _ = range.accepts(version));
        }
        if let Ok(list) = value.parse::<RangeList>() {
            values.iter().for_each(|version| _ = list.contains(version));
        }
    }
});
