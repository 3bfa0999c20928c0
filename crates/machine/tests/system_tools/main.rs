//! Compares the crate with tools of the system: `ld.so` and `readelf`.

#[path = "../../../../tests/support/elf.rs"]
mod elf;
mod elf_writer;
#[cfg(target_env = "gnu")]
mod linker;
