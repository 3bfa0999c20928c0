//! The vocabulary that all layers share: texts in two languages, findings and reports, versions,
//! hashes, redaction.
//!
//! Must not touch: tables of `data/` (no message, code or version of the stack is named here),
//! files, the environment, processes, the terminal. It depends on no other layer.
//!
//! - [`text`]: messages in English and Chinese, templates, escaping.
//! - [`report`]: findings, verdicts of rules, the report of a subcommand.
//! - [`version`]: versions of CANN, drivers and packages, and their order.
//! - [`chip`]: names of chip generations.
//! - [`visible`]: the grammar of `ASCEND_RT_VISIBLE_DEVICES`.
//! - [`redact`]: removes secrets, names and addresses from texts.
//! - [`hash`], [`number`], [`progress`], [`tarball`], [`walk_error`]: small shared parts.

pub mod chip;
pub mod chip_name;
pub mod hash;
pub mod number;
pub mod progress;
pub mod redact;
pub mod report;
pub mod tarball;
pub mod text;
pub mod version;
pub mod visible;
pub mod walk_error;
