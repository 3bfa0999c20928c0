//! The tables of this directory and the types that read them: messages, compatibility matrix,
//! hashes of published wheels, error codes, operators, rules.
//!
//! A [`data_pack`] replaces all tables for the rest of the process, before the first one is read.
//!
//! Must not touch: the examined machine, the terminal, files other than its own tables. It makes no
//! decisions about a machine. Each table is parsed on first use. The tests next to each reader
//! define the invariants of its table.

mod catalog;
pub mod data_pack;
mod env_vars;
pub mod fault;
#[cfg(test)]
#[path = "../faults.rs"]
mod fault_code;
pub mod faults;
pub mod goals;
pub mod help;
mod known_wheels;
pub mod matrix;
mod message;
mod messages;
#[cfg(any(debug_assertions, test))]
#[path = "../messages.rs"]
mod messages_code;
#[cfg(any(debug_assertions, test))]
#[path = "../pack.rs"]
mod pack;
mod package_index;
mod packed;
mod reference;
pub mod sources;
mod step;
pub mod ui;
mod user_file;
mod verify_limits;

/// Lines of healthy logs, from which the filter of log lines derives which texts are rare.
pub const HEALTHY_LINES: &str = include_str!("../errors/healthy.txt");

pub use catalog::{Catalog, Entry, Family, FixTemplate, MessageTemplate};
pub use env_vars::{AllocKeys, EnvVars};
pub use fault::{Fault, OrFault, describe};
pub use known_wheels::{KnownWheel, KnownWheels, is_of_package, record_digest};
pub use matrix::Matrix;
pub use message::{FindingId, Label, Outcome, RawFinding};
pub use messages::{causes, findings, reasons::Reason, signatures};
pub use package_index::{OfficialPair, PackageIndex, Published, Verdict};
pub use packed::{
    AlreadyRead, as_of, built_in_parts, install, installed, names_below, table, text,
};
#[cfg(debug_assertions)]
pub use packed::{built_in_texts, generated_messages};
pub use reference::{KnownPath, PathTable, Variable, VariableTable};
pub use step::{Component, InstallStep, Phase, Requirement};
pub use user_file::FileError;
pub use user_file::{TableEntries, UserFile, WithLine};
pub use verify_limits::{ChipFigures, TimeLimit, VerifyLimits};
