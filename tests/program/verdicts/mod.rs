//! The acceptance table: the answers that the contract (docs/contract.md) demands, row by row.
//!
//! - `*.toml`: inputs with goal, verdict and exit status, one file per subcommand;
//! - `row`: how an input is written and the program run on it;
//! - `table`: all rows, and what is left to do;
//! - `settle`: evidence that turns an inconclusive answer into a verdict;
//! - `healthy`: healthy inputs are never inconclusive.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests write the inputs that are examined, and may fail"
)]

mod healthy;
pub(crate) mod row;
mod settle;
pub(crate) mod table;
