//! The repository agrees with itself: documents, dependencies, boundaries of modules.
//!
//! - `documents`: the reference pages and the help texts;
//! - `docs_commands`: commands in documents;
//! - `documented_components`: dependencies and fuzz targets;
//! - `module_boundaries`: modules that may do input and output.

#[path = "../support/mod.rs"]
mod support;

mod docs_commands;
mod documented_components;
mod documents;
mod module_boundaries;
