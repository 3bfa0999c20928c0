//! Texts for users, over all command lines of the tests: in Chinese on request, and at most 80
//! columns wide in both languages.
//!
//! - `runs`: the command lines and their output;
//! - `english`: finds English sentences between Chinese ones;
//! - `width`: finds lines that are too wide;
//! - `texts`: the tests.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests, and run the program")]

mod english;
mod runs;
mod texts;
mod width;
