//! `fleet merge`: reports of many machines, healthy and not, as files, as streams, and hostile.
//!
//! - `site`: a small cluster, based on the report of a real run;
//! - `merge`: compared values, missing hosts, exit statuses;
//! - `streams`: documents and lines in the forms of carriers;
//! - `hostile`: malicious reports;
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
