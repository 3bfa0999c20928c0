//! Rewriting sources from CUDA to Ascend NPU.
//!
//! ```text
//! walk -> bytes -> encoding -> plan (one module per kind of file) -> edits -> commit -> report
//! ```
//!
//! - [`walk`] finds the files; nothing outside the roots, nothing that is ignored.
//! - [`rules`] is what is known of every CUDA name: `data/convert_rules.toml`.
//! - [`encoding`] turns the bytes of a source file into text and back so that no byte outside
//!   an edit changes.
//! - [`environment`] knows the values of environment variables by their own grammar.
//! - [`kind`] tells what a file is.
//! - [`python`] decides about Python sources; what it asks for stands in [`options`].
//! - [`notebook`], [`shell`], [`config`], [`requirements`], [`container`], [`native`] and [`rust`]
//!   plan the files of their kind.
//! - [`value`] tells devices and backends among the values of options and keys.
//! - [`programs`] are those that the tree installs: their options are known.
//! - [`plan`] reads every file and asks the planner of its kind; [`needle`] spares it most.
//! - [`git`] tells what must not be overwritten unasked; [`commit`] replaces the files, all or
//!   none, after [`journal`] has what [`undo`] needs; [`denied`] says why one cannot be
//!   replaced; [`copy`] writes elsewhere instead.
//! - [`links`] tells of files with several names.
//! - [`mark`] puts comments where a person has to look, [`messages`] rewrites what people read.
//! - [`diff`] shows it as a patch, [`page`] side by side, [`report`] says it in words ([`effort`]: with an estimate).
//! - [`site`] is what is decided about one file: its edits, and the places that a person has
//!   to look at.

pub mod config;
pub mod container;
pub mod copy;
pub mod diff;
pub mod effort;
pub mod encoding;
pub mod environment;
pub mod links;
mod mark;
mod messages;
pub mod native;
pub mod needle;
pub mod notebook;
pub mod options;
pub mod page;
pub mod plan;
pub mod programs;
#[cfg(test)]
mod properties;
pub mod python;
pub mod report;
pub mod requirements;
pub mod rules;
pub mod rust;
pub mod shell;
pub mod site;
pub mod syntax;
pub mod value;
mod words;
