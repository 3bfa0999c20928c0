//! `verify` against the simulator (crates/simulator), as a user would run it.
//!
//! - `simulator`: installations of simulated libraries, version by version;
//! - `matrix`: one fault at a time, with what has to be said of it;
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
mod contract;
mod disk;
mod fabric;
mod kernel;
mod matrix;
mod processes;
pub(crate) mod simulator;
