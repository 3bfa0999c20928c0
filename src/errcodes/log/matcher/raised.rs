//! Exceptions without a signature, by the traceback above them: the type and the location.

use std::borrow::Cow;

use super::super::frame::{self, Frame};
use super::super::prefix::{self, Writer};
use super::super::signature::Signature;
use super::super::signature_table::signatures;
use super::super::{advice_text, gravity, line_fields, text, traceback};
use super::{Findings, Gravity, Hit, KIND, examine};
use data::causes;

/// The start of a frame.
const FRAME: &[u8] = b"File \"";

/// The result for the last line of a traceback in which [`examine`] finds nothing: an exception,
/// whatever its type. The line begins at `start`.
pub(in super::super) fn examine_raised<'a>(
    raw: &'a [u8],
    above: &[u8],
    start: usize,
) -> Findings<'a> {
    let mut found = examine(raw, above);
    let known = !found.hits.is_empty();
    found.hits.clear();
    let (line, writer) = prefix::strip(raw);
    let Some((kind, words)) = traceback::parse_exception(&raw[start..]) else { return found };
    if known
        || gravity::grade(line, line_fields::parse_level(line), false) < Gravity::Failure
        || advice_text::find_start(line) < line.len()
    {
        return found;
    }
    let frame = frame::find_innermost(above, &writer);
    let said = [(KIND, kind), ("text", words)];
    let said = said.map(|(name, value)| (name, text::decode_evidence(value)));
    if let Some(rule) = find_rule() {
        found.hits.push(hit_of(rule, frame, said, (line, writer), start..raw.len()));
        found.clean = Cow::Borrowed(raw);
    }
    found
}

/// The result for a log that ends inside a traceback: the location without the exception. `tail` is
/// the end of the log; the location is that of its innermost frame.
pub(in super::super) fn examine_cut(tail: &[u8]) -> Option<(Findings<'_>, usize)> {
    let at = memchr::memmem::rfind(tail, FRAME)?;
    let start = memchr::memrchr(b'\n', &tail[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &tail[at..]).map_or(tail.len(), |end| at + end);
    let raw = &tail[start..end];
    let (line, writer) = prefix::strip(raw);
    if gravity::grade(line, line_fields::parse_level(line), false) < Gravity::Failure {
        return None;
    }
    let frame = frame::find_innermost(tail, &writer);
    let rule = find_rule()?;
    let span = at - start..raw.len();
    let hits = vec![hit_of(rule, frame, [], (line, writer), span)];
    Some((Findings { hits, clean: Cow::Borrowed(raw), ..Findings::default() }, start))
}

/// The signature for an exception without a more specific one.
fn find_rule() -> Option<&'static Signature> {
    signatures().iter().find(|signature| signature.id == traceback::RULE)
}

/// The cause of an exception raised in `frame`: `rule` attributes exceptions with no better cause
/// to the script. Without a traceback, the script cannot be blamed.
pub(super) fn cause_of(rule: &Signature, frame: Option<&Frame>) -> String {
    let is_of_program = frame.map_or(rule.is_any_exception(), Frame::is_of_program);
    let found = match rule.cause.as_str() {
        causes::framework::USER_SCRIPT_ERROR if is_of_program => causes::framework::PROGRAM_ERROR,
        cause => cause,
    };
    found.to_owned()
}

fn hit_of<const N: usize>(
    rule: &Signature,
    frame: Option<Frame>,
    said: [(&'static str, String); N],
    (line, writer): (&[u8], Writer),
    span: std::ops::Range<usize>,
) -> Hit {
    let cause = cause_of(rule, frame.as_ref());
    let place = frame.map(|frame| ("frame", frame.place));
    let captures = said.into_iter().chain(place).filter(|(_, value)| !value.is_empty());
    Hit {
        rule: rule.id.clone(),
        cause,
        role: rule.role,
        weight: rule.weight,
        captures: captures.collect(),
        fields: line_fields::parse_fields(line, writer),
        gravity: Gravity::Failure,
        span,
        text: String::new(),
        matched: String::new(),
    }
}
