//! Code shared by several test binaries.
#![allow(dead_code, unreachable_pub, reason = "every test binary takes what it needs")]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::format_collect,
    clippy::missing_panics_doc,
    reason = "the tests build the trees that are examined"
)]

pub mod cann;
pub mod elf;
pub mod host;
pub mod machine;
pub mod python;
pub mod recipe;
pub mod scan;
pub mod text;
pub mod torch;
pub mod tree;
pub mod unprivileged;
pub mod versions;
