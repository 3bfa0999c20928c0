//! Compares the ELF writer of the tests with independent tools: the system's loader and `readelf`.

#![expect(clippy::disallowed_methods, reason = "the test writes files and runs readelf")]
#![expect(clippy::unwrap_used, reason = "a failure is what the test shows")]

use std::process::Command;

use crate::elf::{ElfBuilder, HashStyle, Machine};

fn readelf(bytes: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("libx.so");
    std::fs::write(&path, bytes).unwrap();
    let output = Command::new("readelf").args(["-hldVW", "--dyn-syms"]).arg(&path).output();
    let output = output.expect("cannot start readelf: install binutils");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn readelf_agrees() {
    for hash in [HashStyle::Gnu, HashStyle::Sysv] {
        let bytes = ElfBuilder::aarch64()
            .hash(hash)
            .soname("libx.so.1")
            .needed(["liba.so", "libb.so"])
            .runpath("$ORIGIN")
            .define(["f", "g", "h", "i"])
            .define_versioned("v", "X_1.0")
            .undefined(["need"])
            .undefined_weak(["may"])
            .undefined_versioned("memcpy", "libc.so.6", "GLIBC_2.17")
            .pad(5000)
            .build();
        let text = readelf(&bytes);
        for part in
            ["AArch64", "[libx.so.1]", "[liba.so]", "[$ORIGIN]", "memcpy@GLIBC_2.17", "v@@X_1.0"]
        {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
    }
}

#[test]
fn a_file_ends_where_its_headers_say() {
    let whole = ElfBuilder::new(Machine::X86_64).define(["f"]).build();
    let stripped = ElfBuilder::new(Machine::X86_64).define(["f"]).no_sections().build();
    assert!(stripped.len() < whole.len());
    assert_eq!(whole.len() % 8, 0);
}
