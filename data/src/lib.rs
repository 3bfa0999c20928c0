//! The tables of this directory and the types that read them: messages, compatibility matrix,
//! hashes of published wheels, error codes, operators, rules.
//!
//! Must not touch: the examined machine, the terminal, files other than its own tables. It decides
//! nothing about a machine. Each table is parsed on first use, and only the table that is needed;
//! the tests next to each reader state what its table must satisfy.

mod catalog;
mod env_vars;
mod faults;
mod known_wheels;
pub mod matrix;
mod own;
#[cfg(any(debug_assertions, test))]
#[path = "../pack.rs"]
mod pack;
mod packed;
mod ui;

pub use catalog::{Catalog, Entry, Family, FixTemplate, MessageTemplate};
pub use env_vars::{AllocKeys, EnvVars};
pub use faults::localize_error;
pub use known_wheels::{KnownWheel, KnownWheels, of_the_package, record_digest};
pub use matrix::Matrix;
pub use own::Mistake;
pub use own::{Lined, OwnFile};
pub use packed::{table, text};
pub use ui::{sentence, word, words};
