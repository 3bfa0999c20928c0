//! From a candidate line to hits.
//!
//! A filter over all literals selects the lines to examine. The literals on such a line select the
//! signatures to try; the expressions never run on any other line.

use std::borrow::Cow;
use std::cell::{Cell, LazyCell};
use std::ops::{Deref, Range};
use std::sync::LazyLock;

use line_filter::LineFilter;

use super::codes::{self, StatedCode};
use super::frame::{self, Frame};
use super::gravity::{self, Gravity};
use super::line_fields::{self, Fields, Level};
use super::role::Role;
use super::signature::Signature;
use super::signature_table::signatures;
use super::{advice_text, fallback, handled_errors, prefix, text, traceback};
use crate::link::is_status;
use crate::{families, table};
use data::causes;

pub(super) use self::raised::{examine_cut, examine_raised};

mod raised;

/// A recognized text or code in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The signature's id, or `<family>:<code>`.
    pub rule: String,
    /// The cause, or the kind of context; empty for a code of unknown cause.
    pub cause: String,
    /// Its role in the failure.
    pub role: Role,
    /// How specific it is, 1 to 100.
    pub weight: u8,
    /// Named parts of the text.
    pub captures: Vec<(&'static str, String)>,
    /// The fields of the line.
    pub fields: Fields,
    /// The severity of the line, independent of the cause.
    pub gravity: Gravity,
    /// The bytes of the line by which it was recognized.
    pub span: Range<usize>,
    /// The line, for display; set for a kept hit.
    pub text: String,
    /// The part of the line by which it was recognized, for display; set for a kept hit.
    pub matched: String,
}

/// The context in which a line was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Context {
    /// Nothing else.
    #[default]
    Alone,
    /// The innermost frame of the traceback above it.
    Frame,
    /// Other lines above it.
    Lines,
}

#[derive(Debug, Default)]
pub(super) struct Findings<'a> {
    /// Signatures and codes, without the text of the line.
    pub hits: Vec<Hit>,
    /// An operator computed on the CPU.
    pub fallback: Option<String>,
    /// The lines above that influenced the result.
    pub context: Context,
    /// The line without escape sequences.
    clean: Cow<'a, [u8]>,
}

impl Findings<'_> {
    /// The line, for display, and the part of it in `span`.
    pub(super) fn text(&self, span: &Range<usize>) -> (String, String) {
        let end = span.end.min(self.clean.len());
        let matched = self.clean.get(span.start..end).unwrap_or_default();
        (text::decode_evidence_at(&self.clean, span.start), text::decode_evidence(matched))
    }
}

/// The action for a literal.
#[derive(Debug, Clone, Copy)]
enum Target {
    Signature(usize),
    Codes,
    Fallback,
    Harmless,
}

struct Prefilter {
    filter: LineFilter,
    /// By literal of the filter.
    targets: Vec<Vec<Target>>,
}

static PREFILTER: LazyLock<Prefilter> = LazyLock::new(|| {
    let mut literals: std::collections::BTreeMap<&'static str, Vec<Target>> =
        std::collections::BTreeMap::new();
    for (index, signature) in signatures().iter().enumerate() {
        for literal in &signature.literals {
            literals.entry(literal).or_default().push(Target::Signature(index));
        }
    }
    for literal in codes::literals().chain(codes::user_literals()) {
        literals.entry(literal).or_default().push(Target::Codes);
    }
    for literal in fallback::LITERALS {
        literals.entry(literal).or_default().push(Target::Fallback);
    }
    for literal in gravity::literals() {
        literals.entry(literal).or_default().push(Target::Harmless);
    }
    // The header has no meaning by itself; the end of the traceback does.
    literals.entry(traceback::HEADER).or_default();
    let bytes = literals.keys().map(|literal| literal.as_bytes()).collect();
    let filter = LineFilter::new(bytes, list_e_codes(), data::HEALTHY_LINES);
    Prefilter { filter, targets: literals.into_values().collect() }
});

/// E-codes in the form of logs.
fn list_e_codes() -> impl Iterator<Item = &'static str> {
    let listed = families().iter().filter(|family| codes::E_FAMILIES.contains(&family.id.as_str()));
    listed.flat_map(table::codes).filter(|code| code.len() == 6)
}

/// The literals of the prefilter, to measure other programs with the same ones.
pub fn literals() -> Vec<&'static str> {
    let mut all: Vec<&'static str> = signatures()
        .iter()
        .flat_map(|signature| signature.literals.iter().map(String::as_str))
        .chain(codes::literals())
        .chain(fallback::LITERALS)
        .collect();
    all.extend(list_e_codes());
    all.sort_unstable();
    all.dedup();
    all
}

/// The end of the next literal or code in `text` from `start`; lines before it contain none.
pub(super) fn next_candidate(text: &[u8], start: usize) -> Option<usize> {
    PREFILTER.filter.next(text, start).map(|found| found.end)
}

/// All hits of a line; `above` are lines before it.
pub(super) fn examine<'a>(raw: &'a [u8], above: &[u8]) -> Findings<'a> {
    let clean = text::strip_escapes(raw);
    let (line, writer) = prefix::strip(&clean);
    let used_frame = Cell::new(false);
    let frame = LazyCell::new(|| {
        used_frame.set(true);
        frame::find_innermost(above, &writer)
    });
    let level = line_fields::parse_level(line);
    let Targets { wanted, codes: with_codes, fallback: with_fallback, harmless } =
        find_targets(line);
    let mut found = Findings::default();
    if with_fallback {
        found.fallback = fallback::find_operator(line);
    }
    let stated = advice_text::find_start(line);
    let mut matches: Vec<Match<'_>> = Vec::new();
    let codes =
        if with_codes && level > Level::Noise { codes::find(&line[..stated]) } else { Vec::new() };
    let (last_resorts, wanted): (Vec<&'static Signature>, Vec<&'static Signature>) = wanted
        .into_iter()
        .map(|index| &signatures()[index])
        .partition(|signature| signature.is_last_resort());
    let gravity = LazyCell::new(|| gravity::grade(line, level, harmless));
    let attempt = |signature| {
        if is_too_vague(signature, &gravity) {
            return None;
        }
        let matched = match_signature(signature, line, stated, level, &frame)?;
        (!is_repeat(&matched, line, &codes)).then_some(matched)
    };
    matches.extend(wanted.into_iter().filter_map(attempt));
    // Any other match is more specific than an exception, or than the part of CANN that wrote the
    // line.
    let told = matches.iter().any(|matched| matched.signature.role != Role::Context);
    let coded = codes.iter().filter(|code| code.cause.is_some()).map(|code| code.role).max();
    let open = |signature: &&'static Signature| match coded {
        Some(role) => signature.place && role == Role::Wrapper,
        None => true,
    };
    if !told {
        matches.extend(last_resorts.into_iter().filter(open).filter_map(attempt));
    }
    keep_most_specific(&mut matches);
    found.context = match (handled_errors::is_end_of_process(line), used_frame.get()) {
        (true, _) => Context::Lines,
        (false, true) => Context::Frame,
        (false, false) => Context::Alone,
    };
    if matches.is_empty() && codes.is_empty() {
        return found;
    }
    let fields = line_fields::parse_fields(line, writer);
    let prefix = clean.len() - line.len();
    found.hits.extend(matches.into_iter().map(|matched| matched.into_hit(&fields)));
    for code in codes {
        let hit = hit_of_code(code, &fields);
        if !found.hits.iter().any(|other| other.rule == hit.rule) {
            found.hits.push(hit);
        }
    }
    if handled_errors::is_later_failure(line, above) {
        found.hits.retain(|hit| hit.role < Role::Symptom);
    }
    if handled_errors::is_echo(line) {
        found.hits.iter_mut().for_each(reduce_to_echo);
    }
    for hit in &mut found.hits {
        hit.gravity = hit.gravity.min(*gravity);
        // A warning with a code of unknown cause reports no failure. A line of healthy runs with
        // any code reports nothing.
        let is_unknown = hit.cause == causes::vague::UNKNOWN_ERROR;
        let is_noise = hit.gravity == Gravity::Harmless && hit.rule.contains(':');
        if hit.gravity < Gravity::Failure && is_unknown || is_noise {
            hit.cause.clear();
        }
        hit.span = hit.span.start + prefix..hit.span.end + prefix;
    }
    found.clean = clean;
    found
}

/// The innermost frame of the traceback above a line.
pub(super) fn frame_above(raw: &[u8], above: &[u8]) -> Option<Frame> {
    let clean = text::strip_escapes(raw);
    frame::find_innermost(above, &prefix::strip(&clean).1)
}

/// A failed request for the text of an error counts only if there is no other evidence.
fn reduce_to_echo(hit: &mut Hit) {
    if hit.role != Role::Context {
        hit.role = hit.role.min(Role::Symptom);
        hit.weight = hit.weight.min(handled_errors::ECHO);
    }
}

/// The actions for the literals of a line.
#[derive(Default)]
struct Targets {
    /// Signatures to try.
    wanted: Vec<usize>,
    /// Whether to look for codes.
    codes: bool,
    /// Whether to look for an operator on the CPU.
    fallback: bool,
    /// Whether healthy runs also have the line.
    harmless: bool,
}

fn find_targets(line: &[u8]) -> Targets {
    let mut found = Targets::default();
    PREFILTER.filter.all(line, |literal| {
        let Some(literal) = literal else {
            found.codes = true;
            return;
        };
        for target in &PREFILTER.targets[literal] {
            match target {
                Target::Signature(index) if !found.wanted.contains(index) => {
                    found.wanted.push(*index);
                }
                Target::Signature(_) => {}
                Target::Codes => found.codes = true,
                Target::Fallback => found.fallback = true,
                Target::Harmless => found.harmless = true,
            }
        }
    });
    found
}

struct Match<'a> {
    signature: &'static Signature,
    weight: u8,
    start: usize,
    end: usize,
    captures: Vec<(&'static str, &'a [u8])>,
    /// For an exception, the frame that raised it.
    frame: Option<Frame>,
}

/// The group of an expression that is the type of an exception.
const KIND: &str = "kind";

impl Match<'_> {
    fn into_hit(self, fields: &Fields) -> Hit {
        Hit {
            rule: self.signature.id.clone(),
            cause: raised::cause_of(self.signature, self.frame.as_ref()),
            role: self.signature.role,
            weight: self.weight,
            captures: self
                .captures
                .into_iter()
                .map(|(name, value)| (name, text::decode_evidence(value)))
                .chain(self.frame.map(|frame| ("frame", frame.place)))
                .collect(),
            fields: fields.clone(),
            gravity: if self.signature.id == fallback::RULE {
                Gravity::Warning
            } else {
                Gravity::Failure
            },
            span: self.start..self.end,
            text: String::new(),
            matched: String::new(),
        }
    }
}

/// Whether the words of a signature are too vague for a line after which the program continued.
/// Lines of healthy runs are listed exactly in a separate table.
fn is_too_vague(signature: &Signature, gravity: &impl Deref<Target = Gravity>) -> bool {
    let exact = signature.weight >= handled_errors::EXACT || signature.id == fallback::RULE;
    signature.role != Role::Context && (signature.place || !exact) && **gravity == Gravity::Warning
}

/// Whether general words match the registered message of a code in the line, with another meaning
/// than the code: the code is the correct one.
fn is_repeat(matched: &Match<'_>, line: &[u8], codes: &[StatedCode]) -> bool {
    let signature = matched.signature;
    if signature.weight >= handled_errors::EXACT || signature.role == Role::Context {
        return false;
    }
    codes.iter().any(|code| {
        let says_itself = code.role > Role::Wrapper && code.cause.is_some();
        let words = &line[matched.start..matched.end];
        says_itself
            && code.cause != Some(signature.cause.as_str())
            && codes::find_message(code)
                .is_some_and(|message| memchr::memmem::find(message.as_bytes(), words).is_some())
    })
}

/// Tries a signature. Advice is not a fact, and lines at info level report no failure.
fn match_signature<'a>(
    signature: &'static Signature,
    line: &'a [u8],
    stated: usize,
    level: Level,
    frame: &impl Deref<Target = Option<Frame>>,
) -> Option<Match<'a>> {
    let context = signature.role == Role::Context;
    if !context && level == Level::Noise {
        return None;
    }
    let part = if context { line } else { &line[..stated] };
    let regex = signature.regex()?;
    let range = regex.find(part)?;
    if !signature.raised_in.is_empty() {
        let package = frame.as_ref().map(|frame| &frame.package)?;
        if !signature.raised_in.contains(package) {
            return None;
        }
    }
    let mut captures = Vec::new();
    if regex.captures_len() > 1
        && let Some(found) = regex.captures(part)
    {
        for name in regex.capture_names().flatten() {
            if let Some(group) = found.name(name) {
                let value = strip_location(group.as_bytes());
                if !value.is_empty() {
                    captures.push((name, value));
                }
            }
        }
    }
    // The text of an exception of another process, which follows, does not belong to this one.
    let only_a_traceback =
        |(name, value): &(&str, &[u8])| *name == "text" && value.starts_with(TRACEBACK);
    if captures.iter().any(only_a_traceback) || has_what_it_wants(&captures) {
        return None;
    }
    // If the writer marked a line as harmless, it is weaker evidence of a cause.
    let less = match level {
        Level::Info => 20,
        Level::Warning => 10,
        _ => 0,
    };
    let weight = signature.weight.saturating_sub(less).max(1);
    let is_exception =
        !signature.raised_in.is_empty() || captures.iter().any(|(name, _)| *name == KIND);
    let frame = if is_exception { frame.as_ref().cloned() } else { None };
    Some(Match { signature, weight, start: range.start(), end: range.end(), captures, frame })
}

/// Whether a text names the required and the installed version and they are equal: then it is not a
/// mismatch, despite its other words. The part behind `+` names the builder.
fn has_what_it_wants(captures: &[(&'static str, &[u8])]) -> bool {
    let version = |wanted: &str| {
        let (_, value) = captures.iter().find(|(name, _)| *name == wanted)?;
        let version = value.split(|byte| *byte == b'+').next()?.trim_ascii();
        Some(version.strip_suffix(b".").unwrap_or(version))
    };
    matches!((version("want"), version("have")), (Some(want), Some(have)) if want == have)
}

/// The first words of a traceback.
const TRACEBACK: &[u8] = b"Traceback (most recent call last)";

/// A value without the source location that CANN writes directly behind it; empty if it is only
/// that location.
fn strip_location(value: &[u8]) -> &[u8] {
    let place = [&b"[FUNC:"[..], b"[FILE:"].iter().any(|place| value.starts_with(place));
    if place { &[] } else { value }
}

/// Keeps only the most specific of several matches of the same words.
fn keep_most_specific(matches: &mut Vec<Match<'_>>) {
    matches.sort_by_key(|matched| std::cmp::Reverse(matched.weight));
    let mut kept: Vec<(usize, usize)> = Vec::new();
    matches.retain(|matched| {
        if matched.signature.role == Role::Context {
            return true;
        }
        let free = kept.iter().all(|(start, end)| matched.end <= *start || matched.start >= *end);
        if free {
            kept.push((matched.start, matched.end));
        }
        free
    });
}

/// A code as a hit. A code without a known cause shows a failure, unless it reports a result.
fn hit_of_code(code: StatedCode, fields: &Fields) -> Hit {
    let (cause, role, weight) = match code.cause {
        Some(cause) => (cause, code.role, code.weight),
        None if is_answer(&code) => ("", code.role, code.weight),
        None => (causes::vague::UNKNOWN_ERROR, Role::Wrapper, 1),
    };
    Hit {
        span: code.at..code.at + code.spelled.len(),
        rule: format!("{}:{}", code.family, code.spelled),
        cause: cause.to_owned(),
        role,
        weight,
        captures: vec![("code", code.spelled)],
        fields: fields.clone(),
        gravity: Gravity::Failure,
        text: String::new(),
        matched: String::new(),
    }
}

fn is_answer(code: &StatedCode) -> bool {
    let answers = table::family(code.family).map(|family| &family.answers);
    let is_listed = answers.is_some_and(|answers| answers.contains(&code.spelled));
    is_listed || is_status(code.family, &code.spelled)
}

#[cfg(test)]
mod tests;
