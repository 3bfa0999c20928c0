//! The severity of a line: whether the program that wrote it failed, continued, or writes it in
//! healthy runs too (`data/errors/harmless.toml`).
//!
//! The severity is independent of how exactly a line names its cause; the weight of a signature
//! expresses the latter.

use std::sync::LazyLock;

use serde::Deserialize;

use data::data_pack::{Pack, PackError};

use super::handled_errors;
use super::line_fields::Level;
use super::prefix::{Keys, keys};

/// The severity of a line, the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gravity {
    /// Healthy runs also have this line, whatever its level.
    Harmless,
    /// The program continued after it.
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

/// A line of healthy runs whose level or words indicate a failure.
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

/// Failures that programs write as warnings or information: torch_npu the code of a call during
/// teardown, Linux a stalled processor.
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

/// Texts by which the line filter recognizes a harmless line.
pub(super) fn literals() -> impl Iterator<Item = &'static str> {
    LINES.iter().map(|line| line.text.as_str())
}

/// Returns the severity of `line`, whose prefixes were removed. `harmless` is whether it contains
/// one of the [`literals`].
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
