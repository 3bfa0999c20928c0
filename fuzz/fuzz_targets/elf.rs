//! Shared objects: every byte of them is hostile.
#![no_main]

use libfuzzer_sys::fuzz_target;

use machine::elf::{inspect_bytes, machine_of};

fuzz_target!(|bytes: &[u8]| {
    let machine = machine_of(&bytes);
    if let Ok((object, undefined)) = inspect_bytes(bytes) {
        assert_eq!(machine, Ok(Some(object.machine)), "both readers of the header agree");
        // A small file must not produce a large result.
        let names: usize = undefined.iter().map(|symbol| symbol.name.len()).sum();
        assert!(names <= 64 << 20, "{names} bytes of names from {} bytes", bytes.len());
        assert!(undefined.is_sorted_by(|a, b| a.name <= b.name));
    }
});
