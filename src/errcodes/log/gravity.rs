//! How grave a line is: whether the program that wrote it failed, went on, or wrote it in a run in
//! which all is well (`data/errors/harmless.toml`).
//!
//! Gravity is no measure of how exactly a line names its cause; that is the weight of a signature.

use std::sync::LazyLock;

use serde::Deserialize;

use data::data_pack::{Pack, PackError};

use super::handled_errors;
use super::line_fields::Level;
use super::prefix::{Keys, keys};

/// How grave a line is, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gravity {
    /// Healthy runs have this line too, at whatever level it is written.
    Harmless,
    /// The program went on after it.
    Warning,
    /// Something failed.
    Failure,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    line: Vec<Line>,
}

/// A line that healthy runs have although its level or its words tell of a failure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
    #[expect(dead_code, reason = "for maintainers")]
    why: String,
    #[expect(dead_code, reason = "for maintainers")]
    source: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for tests"))]
    example: String,
}

static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| data::table::<File>("errors/harmless").line);

/// Failures that programs write as warnings or information: torch_npu the code of a call while it
/// tears down, Linux a stalled processor.
static FAILURES: Keys = keys![
    b"NPU warning, error code is",
    b"INFO: rcu",
    b"self-detected stall",
    b"soft lockup",
    b"hard LOCKUP",
];

/// Decodes the table of a pack.
pub(super) fn check(pack: &'static Pack) -> Result<(), PackError> {
    pack.table::<File>("errors/harmless").map(drop)
}

/// Texts by which the filter of lines recognizes a harmless one.
pub(super) fn literals() -> impl Iterator<Item = &'static str> {
    LINES.iter().map(|line| line.text.as_str())
}

/// Returns how grave `line` is, from which prefixes were taken. `harmless` tells whether it has one
/// of the [`literals`].
pub(super) fn grade(line: &[u8], level: Level, harmless: bool) -> Gravity {
    if harmless {
        Gravity::Harmless
    } else if handled_errors::is_handled(line, level) && !FAILURES.is_in(line) {
        Gravity::Warning
    } else {
        Gravity::Failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::matcher;

    #[test]
    fn each_example_is_harmless() {
        for line in LINES.iter() {
            assert!(line.example.contains(&line.text), "{}", line.text);
            for hit in matcher::examine(line.example.as_bytes(), b"").hits {
                assert_eq!(hit.gravity, Gravity::Harmless, "{}", line.text);
            }
        }
    }

    #[test]
    fn a_warning_that_states_the_code_of_a_failure_is_one() {
        for (line, level, expected) in [
            (
                "Warning: NPU warning, error code is 507013[Error]:",
                Level::Warning,
                Gravity::Failure,
            ),
            ("INFO: rcu_sched self-detected stall on CPU", Level::Info, Gravity::Failure),
            (
                "INFO: task python:7 blocked for more than 120 seconds",
                Level::Info,
                Gravity::Warning,
            ),
            ("Failed to find function aclrtMallocAlign32", Level::Warning, Gravity::Warning),
            ("Failed to find function aclrtMallocAlign32", Level::Error, Gravity::Failure),
        ] {
            assert_eq!(grade(line.as_bytes(), level, false), expected, "{line}");
        }
    }
}
