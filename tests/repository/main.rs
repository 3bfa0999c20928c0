//! The repository is consistent: documents, dependencies, boundaries of modules.
//!
//! - `documents`: reference pages, links, help texts;
//! - `docs_commands`: commands in documents;
//! - `channels`: archive names and versions in the files of other tools;
//! - `documented_components`: dependencies and fuzz targets;
//! - `module_boundaries`: modules that may do input and output;
//! - `crate_graph`: dependencies between crates;
//! - `test_conditions`: tests with a condition, and files that tests read;
//! - `private_keys`: no private key is tracked.

#[path = "../support/mod.rs"]
mod support;

mod channels;
mod crate_graph;
mod docs_commands;
mod documented_components;
mod documents;
#[cfg(debug_assertions)]
mod messages;
mod module_boundaries;
mod private_keys;
mod security_model;
mod test_conditions;
mod workspace;
