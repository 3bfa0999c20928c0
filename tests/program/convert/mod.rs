//! `convert` from outside: its output, its refusals, and the guarantee that nothing is ever lost.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test builds trees, runs the program on them, and stops at the first surprise"
)]

mod foreign;
mod kill;
mod ledger;
mod output;
mod reports;
mod rights;
mod selected;
mod trees;
mod troubles;
mod undo;
