//! The acceptance table: the results that the contract (docs/contract.md) demands, row by row.
//!
//! - `*.toml`: inputs with goal, verdict and exit status, one file per subcommand;
//! - `row`: writes an input and runs the program on it;
//! - `table`: all rows, and the pending ones;
//! - `settle`: evidence that turns an inconclusive result into a verdict;
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
