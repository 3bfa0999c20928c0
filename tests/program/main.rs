//! The built program from outside: one module per subcommand, and the common conventions.
//!
//! One test program, because each one links all crates.
//!
//! - `any_input`: command lines without a subcommand;
//! - `triage`, `port`, `lint`: issue texts, complete projects, and documents;
//! - `mcp`: the server for agents, message by message;
//! - `check`: complete machines;
//! - `guards`: an attack for each guard;
//! - `convert`, `audit_ops`, `translate_error`, `verify`, `fleet`: the other subcommands;
//! - `compat_matrix`: `compat`, and the matrix itself;
//! - `logs`: log files of `translate-error`;
//! - `report_and_bundle`: `report` and `bundle`;
//! - `data_pack`: valid and invalid data packs, and `data status`;
//! - `verdicts`: the acceptance table of all subcommands;
//! - `cli_conventions`, `formats`, `outputs`: the common options, formats and files;
//! - `gate`: the policy of a site, `--query`, containers without a shell;
//! - `language`: every text in Chinese and within 80 columns;
//! - `json_contract`: every JSON document against its schema, and the inputs of other programs;
//! - `schemas`: the schemas against the types, and against those of the last release.

#[path = "../support/mod.rs"]
mod support;

mod any_input;
mod audit_ops;
mod check;
mod cli_conventions;
mod compat_matrix;
mod convert;
mod data_pack;
mod fleet;
mod formats;
mod gate;
mod guards;
mod json_contract;
mod language;
mod lint;
mod logs;
mod mcp;
mod option_table;
mod outputs;
mod port;
mod report_and_bundle;
mod schemas;
mod translate_error;
mod triage;
mod verdicts;
mod verify;
