//! Rewriting sources from CUDA to Ascend NPU.
//!
//! ```text
//! walk -> bytes -> encoding -> plan (one module per kind of file) -> edits -> commit -> report
//! ```
//!
//! - [`rules`] is what is known of every CUDA name: `data/convert_rules.toml`.
//! - [`encoding`] turns the bytes of a source file into text and back so that no byte outside
//!   an edit changes.
//! - [`environment`] knows the values of environment variables by their own grammar.
//! - [`kind`] tells what a file is.
//! - [`python`] decides about Python sources; what it asks for stands in [`options`].
//! - [`shell`] and [`requirements`] plan the files of their kind.
//! - [`value`] tells devices and backends among the values of options and keys.
//! - [`site`] is what is decided about one file: its edits, and the places that a person has
//!   to look at.

pub mod encoding;
pub mod environment;
pub mod kind;
pub mod options;
pub mod python;
pub mod requirements;
pub mod rules;
pub mod shell;
pub mod site;
pub mod value;
