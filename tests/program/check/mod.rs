//! Whole machines, built by `tests/support`, examined as a user would.
//!
//! - `fixtures`: one recipe per failure and per trap, with what has to be said about it;
//! - `healthy`: machines inside the compatibility windows, of which nothing may be said;
//! - `mutations`: a healthy machine with one file broken at a time;
//! - `bad_input`: what no machine should look like;
//! - `closed`: directories that may not be looked into;
//! - `hostile`: options, places and moments that are against us;
//! - `layouts`: every kind of machine, and every goal that it serves;
//! - `linker`: which library is found, and by which rule;
//! - `contract`: exit codes, selections, recordings, determinism, secrets;
//! - `plan`: the steps to a working machine;
//! - `sarif`: what the specification of SARIF 2.1.0 asks of every log;
//! - `site`: expectations of a site, and two states of a host;
//! - `words`: messages and their uses.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::match_same_arms,
    reason = "the tests build the trees that are examined, and may fail"
)]

mod bad_input;
mod closed;
mod contract;
mod fixtures;
mod healthy;
mod hostile;
mod layouts;
mod linker;
mod mutations;
mod plan;
mod sarif;
mod site;
mod words;
