//! `verify` with the simulator (crates/simulator), run as by a user.
//!
//! - `simulator`: installations of simulated libraries, version by version;
//! - `matrix`: one fault at a time, with the expected finding;
//! - `severity`: corruption of every kind in every lane; `times`: slow devices, clean runs;
//! - `cards`: physical identities, health, coverage of cores;
//! - `first_contact`: installations with a missing part; `evidence`: a run in a file;
//! - `kernel`, `fabric`: the later stages;
//! - `contract`: formats, options;
//! - `processes`: children that hang, print, do not exit or leave others behind;
//! - `busy`: devices used by other processes; `disk`: no space;
//! - `abi`: the declared functions against the facts of the official headers.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests build installations and start programs, and may fail"
)]

mod abi;
mod busy;
mod cards;
mod contract;
mod disk;
mod evidence;
mod fabric;
mod first_contact;
mod kernel;
mod matrix;
mod processes;
mod severity;
pub(crate) mod simulator;
mod times;
