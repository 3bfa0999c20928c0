//! Reads a machine: files, environment, processes and devices become facts.
//!
//! Must not touch: conclusions. Nothing here decides whether a fact is good, and nothing writes to
//! the examined machine. [`sysroot`] is the only module that reads it; every other module of the
//! program uses that one.
//!
//! - [`sysroot`]: the examined machine, live, as a directory tree or as a recording.
//! - [`collect`]: one collector per part of the stack, from the machine to the facts.
//! - [`elf`]: dynamic sections and symbols of ELF files.
//! - [`link`]: libraries and symbols as the dynamic linker resolves them.
//! - [`log_tails`]: the ends of logs, for `bundle`.
//! - [`manifest`]: files and hashes of wheels, for `check --manifest`.

pub mod collect;
pub mod elf;
#[cfg(test)]
#[path = "../../../tests/support/elf.rs"]
mod elf_writer;
pub mod link;
pub mod log_tails;
pub mod manifest;
pub mod sysroot;
