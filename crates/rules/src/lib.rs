//! The rules for all CUDA names: `data/convert_rules.toml` and `data/convert/*.toml`.
//!
//! Must not touch: files, the terminal.

mod call;
mod place;
mod presence;
mod rule;
mod table;
#[cfg(test)]
mod tests;
mod texts;
mod words;

pub use call::{INDICES, Parameter};
pub use place::Place;
pub use presence::Presence;
pub use rule::{Action, Class, Match, Rule};
pub use table::{Rules, check_pack};
pub use texts::{Example, RuleText};
