//! Python tracebacks, from their first line to the exception that ends them, whatever the type of
//! the exception: `pyarrow.lib.ArrowInvalid`, `cv2.error` and `queue.Empty` have no word in common.

use data::signatures;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use regex::bytes::Regex;

/// The first line of a traceback.
pub(super) const HEADER: &str = "Traceback (most recent call last):";

/// The signature under which any other exception is reported.
pub(super) const RULE: &str = signatures::py::ANY;

/// The number of lines after which the search for the end stops.
const LINES: u32 = 600;

/// The type of an exception, and its message.
const EXCEPTION: &str =
    r"(?-u)^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: ?(\S[^\n]{0,200}))?[ \t\r\n]*$";

static EXCEPTIONS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(EXCEPTION).expect("the expression is proved by a test"));

/// Created once, because it searches every examined line.
static HEADERS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(HEADER));

/// Exceptions of a program that a user stops or that ends regularly: they are not failures.
const ENDS: [&str; 4] =
    ["KeyboardInterrupt", "GeneratorExit", "CancelledError", "StopAsyncIteration"];

/// A traceback that has begun.
#[derive(Debug)]
pub(super) struct Traceback {
    /// The prefix that its writer puts before each line.
    prefix: Vec<u8>,
    /// The number of further lines to examine.
    left: u32,
}

/// The meaning of a further line for a traceback.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A frame, or a line of another process.
    Inside,
    /// The exception, which begins there.
    Raised(usize),
    /// Anything else: the traceback was cut off.
    Over,
}

impl Traceback {
    /// The traceback that begins in `line`.
    pub(super) fn begin(line: &[u8]) -> Option<Self> {
        let at = HEADERS.find(line)?;
        let rest = line[at + HEADER.len()..].trim_ascii();
        rest.is_empty().then(|| Self { prefix: line[..at].to_vec(), left: LINES })
    }

    /// Processes the next line.
    pub(super) fn advance(&mut self, line: &[u8]) -> Step {
        self.left -= 1;
        if self.left == 0 {
            return Step::Over;
        }
        match line.strip_prefix(self.prefix.as_slice()) {
            Some(rest) if !rest.trim_ascii().is_empty() && !matches!(rest[0], b' ' | b'\t') => {
                if parse_exception(rest).is_some() {
                    Step::Raised(self.prefix.len())
                } else {
                    Step::Over
                }
            }
            _ => Step::Inside,
        }
    }
}

/// Type and message of an exception, if `line` is one that indicates a failure.
pub(super) fn parse_exception(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let found = EXCEPTIONS.captures(line)?;
    let kind = found.get(1)?.as_bytes();
    let words = found.get(2).map_or(&b""[..], |words| words.as_bytes().trim_ascii_end());
    let name = kind.rsplit(|byte| *byte == b'.').next().unwrap_or(kind);
    // Types of the standard library that are not capitalized are written with their module.
    if !name[0].is_ascii_uppercase() && name.len() == kind.len() {
        return None;
    }
    let leaves = name == b"SystemExit" && words.iter().all(u8::is_ascii_digit);
    let ends = leaves || ENDS.iter().any(|end| end.as_bytes() == name);
    (!ends).then_some((kind, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(text: &str) -> Option<&str> {
        let mut lines = text.lines();
        let mut traceback = Traceback::begin(lines.next()?.as_bytes())?;
        for line in lines {
            match traceback.advance(line.as_bytes()) {
                Step::Inside => {}
                Step::Raised(at) => return Some(&line[at..]),
                Step::Over => return None,
            }
        }
        None
    }

    #[test]
    fn the_first_line_that_is_not_indented_is_the_exception() {
        let of = |end: &str| {
            let header = "[rank0]: Traceback (most recent call last):";
            let frame = "[rank0]:   File \"/x/a.py\", line 3, in f\n[rank0]:     f(x)";
            format!("{header}\n{frame}\n[rank1]: ValueError: of another rank\n[rank0]: {end}\n")
        };
        for end in [
            "pyarrow.lib.ArrowInvalid: Could not convert 'a'",
            "cv2.error: OpenCV(4.10.0) resize.cpp:4152: error: (-215:Assertion failed)",
            "queue.Empty",
            "FusedLayoutContract: x",
            "SystemExit: the configuration has no model",
        ] {
            assert_eq!(end_of(&of(end)), Some(end));
        }
        for end in [
            "KeyboardInterrupt",
            "SystemExit: 1",
            "SystemExit",
            "asyncio.exceptions.CancelledError",
            "step 3 of 4",
            "epoch",
            "loss: 1.2",
            "[W610 10:11:12.105 a.cpp:487] Warning: x",
        ] {
            assert_eq!(end_of(&of(end)), None, "{end}");
        }
    }

    #[test]
    fn a_traceback_that_does_not_end_is_given_up() {
        let mut traceback = Traceback::begin(HEADER.as_bytes()).unwrap();
        let inside =
            (0..2 * LINES).take_while(|_| traceback.advance(b"  x") == Step::Inside).count();
        assert_eq!(inside, LINES as usize - 1);
        assert!(Traceback::begin(b"import torch RuntimeError: Traceback (most recent").is_none());
        assert!(Traceback::begin(b"Traceback (most recent call last): raise").is_none());
    }
}
