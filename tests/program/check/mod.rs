//! Complete machines, built by `tests/support`, examined as by a user.
//!
//! - `fixtures`: one recipe per failure and per trap, with the expected report;
//! - `healthy`: machines with compatible versions, without findings;
//! - `mutations`: a healthy machine with one file broken at a time;
//! - `bad_input`: invalid machines;
//! - `closed`: directories without access;
//! - `hostile`: hostile options, paths and times;
//! - `layouts`: every kind of machine, and every goal that it serves;
//! - `linker`: the libraries found, and the rules that found them;
//! - `contract`: exit statuses, selections, recordings, determinism, secrets;
//! - `plan`: the steps to a working machine;
//! - `sarif`: requirements of SARIF 2.1.0 on every log;
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
