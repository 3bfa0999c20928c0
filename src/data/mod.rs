//! The data that ships inside the binary: messages, compatibility matrix, hashes, error codes.
//!
//! Every table is parsed on first use, and only the table that is needed. What a table must
//! satisfy is held by the tests beside its reader.

mod catalog;
mod env_vars;
mod faults;
mod known_wheels;
pub mod matrix;
mod own;
mod packed;
mod ui;

pub use catalog::{Catalog, Entry, Family, FixTemplate, MessageTemplate};
pub use env_vars::{AllocKeys, EnvVars};
pub use faults::localize_error;
pub use known_wheels::{KnownWheel, KnownWheels, of_the_package, record_digest};
pub use matrix::Matrix;
pub use own::Mistake;
pub(crate) use own::{Lined, OwnFile};
pub(crate) use packed::{Packed, table, unpack};
pub use ui::{sentence, word, words};
