//! Compares the reader with the ELF writer of the tests and with another reader, and tests damaged
//! bytes.

use elf::abi::{SHN_UNDEF, STB_GLOBAL};

use super::*;
use crate::elf_writer::{ElfBuilder, HashStyle};

fn sample(hash: HashStyle) -> Vec<u8> {
    let names: Vec<String> = (0..100).map(|index| format!("defined_{index}")).collect();
    ElfBuilder::aarch64()
        .hash(hash)
        .soname("libx.so.1")
        .needed(["liba.so", "libc.so.6"])
        .rpath("/r")
        .runpath("$ORIGIN/../lib")
        .define(names)
        .define_versioned("v", "X_1.0")
        .undefined(["aclrtMalloc", "_ZN3c106detail1fEv"])
        .undefined_weak(["__gmon_start__"])
        .undefined_versioned("memcpy", "libc.so.6", "GLIBC_2.17")
        .require_versions("libstdc++.so.6", ["GLIBCXX_3.4.22", "CXXABI_1.3"])
        .build()
}

#[test]
fn reads_the_dynamic_section() {
    let (object, _) = inspect_bytes(&sample(HashStyle::Gnu)).unwrap();
    assert_eq!(object.arch(), "aarch64");
    let dynamic = &object.dynamic;
    assert_eq!(dynamic.soname.as_deref(), Some("libx.so.1"));
    assert_eq!(dynamic.needed, ["liba.so", "libc.so.6"]);
    assert_eq!(dynamic.rpath.as_deref(), Some("/r"));
    assert_eq!(dynamic.runpath.as_deref(), Some("$ORIGIN/../lib"));
    assert_eq!(dynamic.versions, ["X_1.0"]);
    assert_eq!(dynamic.version_needs[0], ("libc.so.6".to_owned(), vec!["GLIBC_2.17".to_owned()]));
    assert_eq!(dynamic.version_needs[1].1, ["GLIBCXX_3.4.22", "CXXABI_1.3"]);
}

#[test]
fn finds_symbols_through_both_hash_tables() {
    for hash in [HashStyle::Gnu, HashStyle::Sysv] {
        let bytes = sample(hash);
        let source: &[u8] = &bytes;
        let object = Object::read(&source).unwrap();
        for index in 0..100 {
            assert_eq!(object.defines(&source, &format!("defined_{index}")), Ok(Some(true)));
        }
        assert_eq!(object.defines(&source, "v"), Ok(Some(true)));
        for absent in ["defined_100", "", "defined_", "aclrtMalloc", "memcpy"] {
            assert_eq!(object.defines(&source, absent), Ok(Some(false)), "{hash:?} {absent}");
        }
        let undefined = object.undefined(&source).unwrap();
        let names: Vec<&str> = undefined.iter().map(|symbol| symbol.name.as_str()).collect();
        assert_eq!(
            names,
            ["_ZN3c106detail1fEv", "aclrtMalloc", "memcpy"],
            "weak ones are left out"
        );
        assert_eq!(undefined[2].library.as_deref(), Some("libc.so.6"));
        assert_eq!(undefined[1].library, None);
    }
}

/// Bytes that count their reads.
struct Counted<'a>(&'a [u8], std::sync::atomic::AtomicUsize);

impl Source for Counted<'_> {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, crate::sysroot::ReadError> {
        self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.0.read_at(buffer, offset)
    }
}

#[test]
fn a_symbol_is_read_once_however_many_ask_for_it() {
    for hash in [HashStyle::Gnu, HashStyle::Sysv] {
        let bytes = sample(hash);
        let source = Counted(&bytes, std::sync::atomic::AtomicUsize::default());
        let object = Object::read(&source).unwrap();
        let look_up = || {
            let before = source.1.load(std::sync::atomic::Ordering::Relaxed);
            for index in 0..200 {
                let found = object.defines(&source, &format!("defined_{index}"));
                assert_eq!(found, Ok(Some(index < 100)), "{hash:?} {index}");
            }
            source.1.load(std::sync::atomic::Ordering::Relaxed) - before
        };
        assert!(look_up() > 0, "{hash:?}");
        assert_eq!(look_up(), 0, "{hash:?}");
    }
}

fn defect(bytes: &[u8]) -> ElfDefect {
    Object::read(&bytes).unwrap_err().into_defect()
}

#[test]
fn reports_defects_of_broken_files() {
    let whole = sample(HashStyle::Gnu);
    assert_eq!(defect(b""), ElfDefect::Empty);
    assert_eq!(defect(b"#!/bin/sh\n"), ElfDefect::NotElf);
    assert_eq!(defect(&[0; 200]), ElfDefect::NotElf);
    let mut other = whole.clone();
    other[4] = 1;
    assert_eq!(defect(&other), ElfDefect::Class);
    let mut other = whole.clone();
    other[5] = 2;
    assert_eq!(defect(&other), ElfDefect::Class);
}

#[test]
fn every_truncation_is_reported() {
    let whole = ElfBuilder::x86_64().define(["f"]).needed(["libc.so.6"]).pad(3000).build();
    for size in 1..whole.len() {
        match defect(&whole[..size]) {
            ElfDefect::Truncated { size: found, expected } => {
                assert!(found == size as u64 && expected > found);
            }
            other => panic!("{size} bytes: {other:?}"),
        }
    }
}

/// Another implementation must read the same from all libraries of this machine.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test reads libraries of this machine")]
fn agrees_with_crate_elf() {
    let dirs =
        ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64"];
    let files = dirs.iter().filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().flatten();
    let files = files.filter(|file| file.file_name().to_string_lossy().contains(".so"));
    // The test binary exists on every machine.
    let own = std::env::current_exe().unwrap();
    let mut compared = 0;
    for path in std::iter::once(own).chain(files.map(|file| file.path()).take(60)) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let source: &[u8] = &bytes;
        let Ok(object) = Object::read(&source) else { continue };
        let other = elf::ElfBytes::<elf::endian::AnyEndian>::minimal_parse(source).unwrap();
        let Ok(Some((symbols, strings))) = other.dynamic_symbol_table() else { continue };
        let mut undefined = Vec::new();
        for symbol in symbols.iter().skip(1) {
            let name = strings.get(symbol.st_name as usize).unwrap();
            if symbol.st_shndx == SHN_UNDEF {
                if symbol.st_bind() == STB_GLOBAL {
                    undefined.push(name.to_owned());
                }
            } else if symbol.st_bind() == STB_GLOBAL {
                assert_eq!(object.defines(&source, name), Ok(Some(true)), "{path:?} {name}");
            }
        }
        undefined.sort_unstable();
        let ours = object.undefined(&source).unwrap();
        let ours: Vec<String> = ours.into_iter().map(|symbol| symbol.name).collect();
        assert_eq!(ours, undefined, "{path:?}");
        compared += 1;
    }
    assert!(compared > 0, "no library of this machine could be compared");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]
    #[test]
    fn damaged_bytes_never_panic(
        sysv in proptest::bool::ANY,
        changes in proptest::collection::vec((0_usize..6000, proptest::num::u8::ANY), 1..12),
        words in proptest::collection::vec((0_usize..6000, proptest::num::u64::ANY), 0..3),
    ) {
        let mut bytes = sample(if sysv { HashStyle::Sysv } else { HashStyle::Gnu });
        let len = bytes.len();
        for (at, value) in changes {
            bytes[at % len] = value;
        }
        for (at, value) in words {
            let at = at % (len - 8);
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let _ = inspect_bytes(&bytes);
    }
}
