//! `fleet merge`: reports of many machines, healthy and not, as files, as streams, and hostile.
//!
//! - `site`: a small cluster, made of the report of a real run;
//! - `merge`: what is compared, who is missing, exit codes;
//! - `streams`: documents and lines as carriers deliver them;
//! - `hostile`: reports that want to do harm;
//! - `formats`: every format, and the numbers for Prometheus.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests build the reports that are merged, and may fail"
)]

mod formats;
mod hostile;
mod merge;
pub(crate) mod site;
mod streams;
