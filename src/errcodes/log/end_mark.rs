//! Detects the end of a finished run in a log: `data/errors/end_marks.toml`.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde::Deserialize;

use data::data_pack::{Pack, PackError};

/// The number of lines searched at the end of a log: launchers write some after the program ended.
const LINES: usize = 40;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    mark: Vec<Mark>,
}

/// A line of a finished run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    text: String,
    #[expect(dead_code, reason = "for maintainers")]
    source: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for tests"))]
    example: String,
}

static MARKS: LazyLock<Vec<Mark>> = LazyLock::new(|| data::table::<File>("errors/end_marks").mark);

static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(MARKS.iter().map(|mark| &mark.text)).ok());

/// Decodes the table of a pack.
pub(super) fn check(pack: &'static Pack) -> Result<(), PackError> {
    pack.table::<File>("errors/end_marks").map(drop)
}

/// Whether the last lines of a log contain an end mark. `tail` is its end, of any length.
pub(super) fn is_finished(tail: &[u8]) -> bool {
    let mut newlines = memchr::memrchr_iter(b'\n', tail);
    let start = newlines.nth(LINES).map_or(0, |at| at + 1);
    FINDER.as_ref().is_some_and(|finder| finder.is_match(&tail[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_example_ends_a_log() {
        for mark in MARKS.iter() {
            assert!(mark.example.contains(&mark.text), "{}", mark.text);
            let log = format!("step 1\n{}\n[INFO] launcher: cleaning up\n", mark.example);
            assert!(is_finished(log.as_bytes()), "{}", mark.text);
        }
    }

    #[test]
    fn a_mark_in_the_middle_ends_nothing() {
        let log = format!("epochs completed in 1 hours\n{}", "step\n".repeat(LINES + 1));
        assert!(!is_finished(log.as_bytes()));
        assert!(!is_finished(b""));
    }
}
