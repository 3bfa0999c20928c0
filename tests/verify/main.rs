//! `verify` against the simulator (crates/sim-*), as a user would run it.
//!
//! - `simulator`: installations of simulated libraries, version by version;
//! - `matrix`: one fault at a time, with what has to be said of it;
//! - `kernel`, `fabric`: the later rungs;
//! - `contract`: processes, formats, options;
//! - `abi`: the declared functions against the facts of the official headers.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests build installations and start programs, and may fail"
)]

mod abi;
mod contract;
mod fabric;
mod kernel;
mod matrix;
mod simulator;
