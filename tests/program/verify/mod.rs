//! `verify` against the simulator (crates/simulator), as a user would run it.
//!
//! - `simulator`: installations of simulated libraries, version by version;
//! - `matrix`: one fault at a time, with what has to be said of it;
//! - `severity`: damage of every kind in every lane; `times`: slow devices, clean runs;
//! - `cards`: physical identities, health, coverage of cores;
//! - `first_contact`: installations that lack a part; `evidence`: a run in a file;
//! - `kernel`, `fabric`: the later rungs;
//! - `contract`: formats, options;
//! - `processes`: children that hang, print, stay or leave others behind;
//! - `busy`: devices that others use; `disk`: no room;
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
