//! Diagnoses Huawei Ascend NPU machines.
//!
//! One direction of data flow, for every subcommand:
//!
//! ```text
//! arguments -> sysroot -> collect -> facts -> checks -> report -> render -> bytes
//! ```
//!
//! - [`sysroot`] is the machine under examination; nothing else reads it.
//! - [`collect`] turns what is read into [`facts`]: plain data, no judgement.
//! - [`checks`] are pure functions from facts to outcomes.
//! - [`data`] is the knowledge that ships in the binary: tables with sources, and all words.
//! - [`version`] knows how the versions of the stack are written and ordered.
//! - [`chip`] knows how generations of chips are named.
//! - [`visible`] is the rule by which the runtime reads `ASCEND_RT_VISIBLE_DEVICES`.
//! - [`ops`] is what is known of operators, release by release.
//! - [`fleet`] brings the reports of many machines together.
//! - [`report`] is the vocabulary that all subcommands speak; [`render`] turns it into bytes.
//! - [`config`] is the file in which a site says what it wants, and what it accepts.
//! - [`redact`] takes secrets out of what is passed on.
//! - `cmd` puts these together, one file per subcommand; `cli` is the command line.
//!
//! Lints hold the walls. `unsafe` is denied, and expected by `verify::vendor` alone, which runs
//! in child processes; `print!` and its like are denied. `clippy.toml`
//! disallows every function that reads or writes files, asks for the environment, starts
//! programs, opens sockets or writes to the terminal. A module with a door through that wall
//! expects the lint and says why: [`sysroot`] (the examined machine), `cmd` (files that the user
//! named, the terminal), [`convert`] (the user's source files). `tests/walls.rs` lists all doors;
//! `scripts/check_walls.py` shows by violations that clippy refuses everything else.

pub mod audit;
pub mod checks;
pub mod cli;
mod cmd;
pub mod config;
pub mod convert;
pub mod explain;
pub mod fleet;
pub mod ops;
pub mod render;
pub mod verify;

pub use cmd::{MachineFiles, complaint, parse, run, usage};
