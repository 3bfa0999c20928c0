//! Tests of files that are not in the repository: built packages and published wheels.
//!
//! - `archives`: the packages that `scripts/package.py` builds;
//! - `real_wheels`: the wheels that `scripts/fetch_wheels.py` fetches.
//!
//! `cargo test` does not run this program by default (`test = false` in the manifest).

#[path = "../support/mod.rs"]
mod support;

mod archives;
mod real_wheels;
