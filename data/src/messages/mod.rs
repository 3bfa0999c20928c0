//! One value for each message, written by `cargo xtask messages`.

pub mod causes;
pub mod findings;
pub(crate) mod labels;
pub(crate) mod reasons;
pub(crate) mod sentences;
pub mod signatures;
