//! What several test binaries share.
#![allow(dead_code, reason = "every test binary takes what it needs")]

pub mod elf;
