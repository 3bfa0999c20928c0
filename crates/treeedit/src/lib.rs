//! Trees of source files: finding them, replacing them all or none, and undoing it.
//!
//! Must not touch: the content of files, rules, tables. It makes no decisions about the written
//! content, and follows no link out of a root.
//!
//! - [`walk`] finds files of a [`kind`] below roots; [`exclude`] leaves some out; [`walk_failure`]
//!   names roots that cannot be walked.
//! - [`git`] finds files with uncommitted changes.
//! - [`commit`] replaces files, all or none, after [`journal`] has the data that [`undo`] needs.
//! - [`replace`] swaps one file for another; [`denial`] names the obstacles; [`backup`] keeps a
//!   copy next to it; [`paths`] needs no file; [`io_overlap`] runs work while the disk is written.

mod backup;
pub mod commit;
pub mod denial;
mod exclude;
pub mod git;
mod ignore_files;
mod io_overlap;
pub mod journal;
pub mod kind;
pub mod paths;
pub mod replace;
pub mod undo;
pub mod walk;
mod walk_failure;
