//! The `ascend-doctor` program: command line, settings, subcommands.
//!
//! It assembles the layers and owns the terminal; the layers below make the decisions. The graph of
//! the crates is in ARCHITECTURE.md.
//!
//! - [`cli`]: the command line.
//! - `cmd`: one module per subcommand.
//! - [`config`]: the settings file of a site.
//! - `schema`: the JSON Schemas of all documents, for tests and `cargo xtask schemas`.

pub mod cli;
mod cmd;
pub mod config;
mod lint;
mod port;
#[cfg(feature = "schema")]
pub mod schema;

pub use cmd::{
    Detected, InputType, MachineFiles, Refusal, Rejection, answer_rejection, format_error, parse,
    print_error, run,
};
