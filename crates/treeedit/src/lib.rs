//! Trees of source files: finding them, replacing them all or none, and undoing it.
//!
//! Must not touch: the content of files, rules, tables. It decides nothing about what is written,
//! and follows no link out of a root.
//!
//! - [`walk`] finds files of a [`kind`] below roots; [`exclude`] leaves some out.
//! - [`git`] answers which files have uncommitted changes.
//! - [`commit`] replaces files, all or none, after [`journal`] has the data that [`undo`] needs.
//! - [`paths`] works on names without reading; [`replace`] swaps one file for another; [`denied`] names what prevents it; [`backup`] keeps a
//!   copy next to it; [`waiting`] overlaps waiting for the disk with work.

mod backup;
pub mod commit;
pub mod denied;
mod exclude;
pub mod git;
pub mod journal;
pub mod kind;
pub mod paths;
pub mod replace;
mod scope_error;
pub mod undo;
mod waiting;
pub mod walk;
