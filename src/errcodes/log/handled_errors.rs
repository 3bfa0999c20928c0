//! Errors that a program reports and survives: they are not failures, whatever their wording.
//!
//! Frameworks that were not written for NPUs report at every start the parts that are missing or
//! unsupported, and their replacements. In such lines, only words that name the exact defect count.

use super::line_fields::Level;
use super::prefix::{Keys, keys};

/// The minimum weight of words that count although the program that wrote them continued.
pub(super) const EXACT: u8 = 60;

/// Texts about replacements, and Python's warnings.
static INSTEAD: Keys = keys![
    b" replaced with ",
    b" replaced by ",
    b" repalce with ",
    b"esetting to ",
    b" will be ignored",
    b" is ignored",
    b" are ignored",
    b"will be disabled",
    b"alling back to ",
    b"alls back to ",
    b" fall back to ",
    b"eprecationWarning: ",
    b" UserWarning: ",
    b" FutureWarning: ",
    b" RuntimeWarning: ",
    b" ImportWarning: ",
];

/// A failed import that was caught.
static IMPORT: Keys = keys![b"ailed to import "];
/// Texts before the message of an uncaught exception, and in errors that CANN reports.
static RAISED: Keys = keys![b"Error: Failed to import ", b"Error: failed to import ", b"[PID: "];

/// The maximum weight of a hit in a line that is an echo.
pub(super) const ECHO: u8 = 10;

/// The call by which ACL asks the device for the text of an error. If it fails, the device or
/// context no longer exists, and its own report is not part of the failure.
static ASKING: Keys = keys![b"rtGetDevMsg", b"GetDevErrMsg", b"device error msg handler"];

/// Whether `line` only reports that the text of another error is unavailable.
pub(super) fn is_echo(line: &[u8]) -> bool {
    ASKING.is_in(line)
}

/// Markers of the end of a rank in the report of torchrun.
const ENDED: [&[u8]; 2] = [b"exitcode ", b"traceback : Signal "];
/// The heading above the one rank that failed first.
const FIRST: &[u8] = b"Root Cause (first observed failure):";

/// Whether `line` reports the end of a process, in the report of torchrun.
pub(super) fn is_end_of_process(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    ENDED.iter().any(|start| line.starts_with(start))
}

/// Whether `line` reports the end of a rank that was not the first to fail: torchrun ends the
/// others, finally by SIGKILL. `above` are the lines before it.
pub(super) fn is_later_failure(line: &[u8], above: &[u8]) -> bool {
    if !is_end_of_process(line) {
        return false;
    }
    // Each entry begins with its number, on a separate line.
    let mut lines = above.rsplit(|byte| *byte == b'\n');
    let number = lines.by_ref().take(12).find(|line| {
        let line = line.trim_ascii();
        let digits = line.strip_suffix(b"]:").and_then(|line| line.rsplit(|b| *b == b'[').next());
        digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
    });
    let is_first = |line: &[u8]| memchr::memmem::find(line, FIRST).is_some();
    number.is_some() && !lines.next().is_some_and(is_first)
}

/// Whether the program that wrote `line` continued.
pub(super) fn is_handled(line: &[u8], level: Level) -> bool {
    match level {
        Level::Noise | Level::Info | Level::Warning => true,
        Level::Unknown if INSTEAD.is_in(line) => true,
        Level::Unknown | Level::Error => IMPORT.is_in(line) && !RAISED.is_in(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_to_ask_for_the_words_of_an_error_is_no_error() {
        for (line, echo) in [
            ("rtGetDevMsg execute failed, reason=[context pointer null]", true),
            ("ctx is NULL![FUNC:GetDevErrMsg][FILE:api_impl.cc][LINE:5315]", true),
            ("rtMemGetInfoEx execute failed, reason=[context pointer null]", false),
        ] {
            assert_eq!(is_echo(line.as_bytes()), echo, "{line}");
        }
    }

    #[test]
    fn torchrun_ends_the_ranks_that_did_not_fail_first() {
        let entry = |number: u32| {
            format!(
                "[{number}]:\n  time      : 2026-09-07_13:03:29\n  rank      : 0 (local_rank: 0)\n"
            )
        };
        let first = format!("Root Cause (first observed failure):\n{}", entry(3));
        let others = format!("Failures:\n{}", entry(1));
        for line in
            ["  exitcode  : -9 (pid: 9)", "  traceback : Signal 9 (SIGKILL) received by PID 9"]
        {
            assert!(is_later_failure(line.as_bytes(), others.as_bytes()), "{line}");
            assert!(!is_later_failure(line.as_bytes(), first.as_bytes()), "{line}");
            assert!(!is_later_failure(line.as_bytes(), b""), "{line}");
        }
        let line = b"failed (exitcode: -9) local_rank: 0 (pid: 9) of binary: python";
        assert!(!is_later_failure(line, others.as_bytes()));
    }

    #[test]
    fn what_is_done_instead_is_no_failure() {
        for (line, level, handled) in [
            ("parameter=cascade, action: resetting to False", Level::Unknown, true),
            (
                "The float64 type is replaced with float32, double is not supported",
                Level::Unknown,
                true,
            ),
            ("a.py:3: UserWarning: the operator is not supported", Level::Unknown, true),
            ("x is not supported", Level::Warning, true),
            ("x is not supported", Level::Error, false),
            ("Failed to import vllm_ascend_C: No module named 'a.b'", Level::Error, true),
            (
                "RuntimeError: Failed to import a.b because of No module named 'c'",
                Level::Error,
                false,
            ),
            ("ModuleNotFoundError: No module named 'a.b'", Level::Unknown, false),
        ] {
            assert_eq!(is_handled(line.as_bytes(), level), handled, "{line}");
        }
    }
}
