//! Tokens of the ledger in a Python source: why each that no edit and no report accounts for stays.
//!
//! ```text
//! text -> tree -> Walk (meaning of strings and names) -> tokens by lexical kind -> claims
//! ```
//!
//! A claim about a name of the project is open until the definitions of all files are known. Without
//! a witness a token has no claim.

mod calls;
mod meaning;
mod siblings;
mod walk;

use ruff_python_ast::token::TokenKind;
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use self::meaning::{Meaning, Meanings};
use self::siblings::Siblings;
use self::walk::Walk;
use super::source::Source;
use super::{Context, switched_off};
use crate::ledger::claims::{Planned, manual, planned};
use crate::ledger::entry::{Claim, Class, Definition, Reason, Wanted};
use crate::ledger::text_lines::TextLines;
use crate::ledger::tokens::{Token, is_bare};
use crate::ledger::wording;
use crate::site::FilePlan;
use pysyntax::{SyntaxError, body_of, first_error, on_enough_stack, parse};

/// The claims about the tokens of a file, and the names that it defines.
#[derive(Debug, Default)]
pub(crate) struct Explained {
    pub claims: Vec<Claim>,
    pub definitions: Vec<Definition>,
}

/// What is explained: the tokens of a text, with the plan for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    pub plan: &'a FilePlan,
    /// Whether the edits of the plan take effect.
    pub written: bool,
    /// Whether the file is a test.
    pub test: bool,
}

/// Explains the tokens of a Python source.
///
/// # Errors
///
/// With the first place that does not parse.
pub(crate) fn explain(
    subject: &Subject<'_>,
    context: &Context<'_>,
) -> Result<Explained, SyntaxError> {
    on_enough_stack(subject.text, || explain_here(subject, context))
}

fn explain_here(subject: &Subject<'_>, context: &Context<'_>) -> Result<Explained, SyntaxError> {
    let Subject { text, tokens, plan, .. } = *subject;
    let parsed = parse(text, context.cell);
    if let Some(error) = first_error(&parsed, text) {
        return Err(error);
    }
    let Some(body) = body_of(parsed.syntax()) else {
        return Ok(Explained::default());
    };
    let lines = TextLines::of(text);
    let source = Source::of(text, body, context);
    let Meanings { strings, names, manual: calls, definitions } =
        Walk::of(&source, subject, &lines).run(body);
    let siblings = Siblings::of(body, &lines);
    let mut lexical = parsed.tokens().iter().filter(|token| !token.range().is_empty()).peekable();
    let comments: Vec<TextRange> = parsed
        .tokens()
        .iter()
        .filter(|token| token.kind().is_comment())
        .map(ruff_text_size::Ranged::range)
        .collect();
    let off = switched_off(text, &comments);
    let mut claims = Vec::with_capacity(tokens.len());
    for (token, planned) in tokens.iter().zip(planned(tokens, plan, subject.written)) {
        let range = token.range();
        let at = text_range(&range);
        let line = lines.line(range.start);
        while lexical.next_if(|one| one.range().end() <= at.start()).is_some() {}
        let kind = lexical.peek().filter(|one| one.range().start() < at.end()).map(|one| one.kind());
        let is_comment = kind == Some(TokenKind::Comment);
        let exempt = off.iter().find(|off| off.contains_range(at));
        let claim = if let Planned::Changed(rule) = planned {
            Claim::Is(Class::Changed { rule })
        } else if is_comment {
            Claim::Is(Class::kept(Reason::Comment, line))
        } else if let Some(off) = exempt {
            Claim::Is(Class::kept(Reason::SwitchedOff, lines.line(off.start().to_usize())))
        } else if let Some(class) = planned.class() {
            Claim::Is(class)
        } else if let Some(class) = siblings.class(at) {
            Claim::Is(class)
        } else if let Some(rule) = calls.iter().find(|(call, _)| call.contains_range(at)) {
            Claim::Is(manual(rule.1))
        } else if let Some(meaning) = strings.of(at) {
            string(subject, &lines, token, meaning)
        } else if let Some(meaning) = names.of(at) {
            meaning.claim()
        } else {
            Claim::Open
        };
        claims.push(claim);
    }
    Ok(Explained { claims, definitions })
}

/// The claim about a token in a string.
fn string(
    subject: &Subject<'_>,
    lines: &TextLines<'_>,
    token: &Token,
    (whole, meaning): (TextRange, &Meaning),
) -> Claim {
    let range = token.range();
    let line = lines.line(range.start);
    let content = &subject.text[whole];
    let is_device = is_device(content);
    match meaning {
        Meaning::Plain | Meaning::Test(_) if is_device => Claim::Open,
        Meaning::Plain => {
            if wording::is_address(subject.text, &range) {
                return Claim::Is(Class::kept(Reason::Address, line));
            }
            if wording::is_sentence(content) {
                return Claim::Is(Class::kept(Reason::Prose, line));
            }
            let name = wording::identifier(subject.text, &range);
            match wording::path(subject.text, &range) {
                Some(path) if path.len() > name.len() => Claim::Own(path.to_owned(), Wanted::Path),
                _ if !is_bare(name) => Claim::Own(name.to_owned(), Wanted::Any),
                _ => Claim::Open,
            }
        }
        Meaning::Key(wanted) => Claim::Own(content.to_owned(), *wanted),
        other => other.claim(),
    }
}

/// Whether a text is a device or a backend from end to end.
fn is_device(text: &str) -> bool {
    let text = text.trim_matches(['"', '\'']);
    let head = text.split(':').next().unwrap_or(text);
    is_bare(head)
}

fn text_range(range: &std::ops::Range<usize>) -> TextRange {
    let at = |offset: usize| TextSize::try_from(offset).unwrap_or_default();
    TextRange::new(at(range.start), at(range.end))
}

#[cfg(test)]
mod tests;
