//! The crate against the tools of the system: `ld.so` and `readelf`.

#[path = "../../../../tests/support/elf.rs"]
#[allow(dead_code, unreachable_pub, reason = "other test programs use the rest")]
mod elf;
mod elf_writer;
mod linker;
