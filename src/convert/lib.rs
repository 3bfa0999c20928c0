//! `convert`: rewrites sources from CUDA to Ascend NPU.
//!
//! Must not touch: the machine, renderers, other subcommands. `treeedit` finds, replaces and
//! restores files; `pysyntax` parses Python.
//!
//! ```text
//! walk -> bytes -> encoding -> plan (one module per kind of file) -> edits -> commit -> report
//! ```
//!
//! - [`mod@rules`]: a crate with one row per CUDA name; [`prefilter`] finds files that mention one.
//! - [`plan`]: reads every file and calls the planner of its kind: [`python`], [`notebook`],
//!   [`shell`], [`config`], [`requirements`], [`container`], [`native`], [`rust`].
//! - [`site`]: the decisions about one file: edits, and places that need manual work.
//! - [`encoding`]: bytes of a source file to text and back, unchanged outside edits.
//! - [`environment`], [`value`], [`programs`], [`options`]: variables, device and backend values,
//!   programs that the tree installs, options of the run.
//! - [`mod@write`]: replaces the files in place, unless git lacks their content; [`mod@undo`]: restores them.
//! - [`copy`]: the converted tree as a copy; [`links`]: files with several names.
//! - [`mark`], [`mark_comment`]: comments at places that need manual work, and their text;
//!   [`joined_lines`]: lines between which no comment is possible; [`messages`]: texts for people.
//! - [`ledger`]: every token of CUDA in the tree, in exactly one class.
//! - [`selection`], [`interactive`], [`keep_comment`]: the selection of changes: rules of the run,
//!   answers of the user, comments of a file.
//! - [`report`], [`outcome`], [`diff`], [`page`], [`effort`]: the result as findings, with the written
//!   files, as a patch, side by side, with an estimate.

pub mod config;
pub mod container;
pub mod copy;
pub mod diff;
#[cfg(test)]
mod edit_reversal;
pub mod effort;
pub mod encoding;
pub mod environment;
pub mod interactive;
mod joined_lines;
mod keep_comment;
pub mod ledger;
pub mod links;
mod mark;
mod mark_comment;
pub mod members;
mod messages;
pub mod native;
pub mod notebook;
mod nvidia_keys;
pub mod options;
pub mod outcome;
pub mod page;
mod pins;
pub mod plan;
pub mod prefilter;
pub mod programs;
mod proof;
#[cfg(test)]
mod properties;
pub mod python;
pub mod report;
pub mod requirements;
#[cfg(test)]
mod rule_tests;
pub mod rust;
pub mod selection;
mod settings;
pub mod shell;
pub mod site;
pub mod syntax;
pub mod undo;
pub mod value;
pub mod work;
pub mod write;

pub use ::rules;

use data::data_pack::{Pack, PackError};

/// Decodes the tables of a pack that this layer reads.
///
/// # Errors
///
/// For the first table that its reader refuses.
pub fn check_pack(pack: &'static Pack) -> Result<(), PackError> {
    rules::check_pack(pack)?;
    ledger::tokens::check(pack)
}
