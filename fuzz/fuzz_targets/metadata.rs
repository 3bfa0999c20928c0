//! The text files of a dist-info.
#![no_main]

use libfuzzer_sys::fuzz_target;

use machine::collect::python::metadata;

fuzz_target!(|bytes: &[u8]| {
    let meta = metadata::parse(bytes);
    assert!(meta.name.as_ref().is_none_or(|name| !name.is_empty()));
    let text = String::from_utf8_lossy(bytes);
    metadata::wheel_tags(&text);
    metadata::entry_points(&text);
    if let Some(dir) = metadata::editable_dir(&text) {
        assert!(dir.starts_with('/'), "{dir:?} is no absolute path");
    }
});
