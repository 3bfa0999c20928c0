//! Tokens of the ledger in a Python source: the reason why each token without an edit or report
//! stays.
//!
//! ```text
//! text -> tree -> Walk (meaning of strings and names) -> tokens by lexical kind -> claims
//! ```
//!
//! A claim about a name of the project is open until the definitions of all files are known. Without
//! a witness a token has no claim.

mod calls;
mod meaning;
mod names;
mod siblings;
mod walk;

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use self::meaning::{Meaning, Meanings};
use self::siblings::Siblings;
use self::walk::Walk;
use super::collisions::{Why, Withheld};
use super::npu_branches::merge_ranges;
use super::source::Source;
use super::{Context, Exempt, comments, kept_by_comments};
use crate::ledger::claims::{Planned, by_rule, manual, planned};
use crate::ledger::entry::{Claim, Class, Definition, Reason, Wanted};
use crate::ledger::text_lines::TextLines;
use crate::ledger::tokens::{Token, is_bare, is_device_word};
use crate::ledger::wording;
use crate::rules::{Action, Match, Rule, Rules};
use crate::site::{Decision, FilePlan, Site};
use pysyntax::{SyntaxError, body_of, first_error, on_enough_stack, parse};

/// The claims about the tokens of a file, and the names that it defines.
#[derive(Debug, Default)]
pub(crate) struct Explained {
    pub claims: Vec<Claim>,
    pub definitions: Vec<Definition>,
}

/// The input: the tokens of a text, with the plan for it.
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

/// The facts of a source about its strings and names, kept so that its tree is not needed again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    meanings: Meanings,
    siblings: Siblings,
    comments: Vec<TextRange>,
    exempt: Exempt,
    withheld: Vec<Withheld>,
    /// Words that only select between variants within the file, with the places that show this.
    own_words: Vec<(TextRange, TextRange)>,
    /// The statement that builds CUDA extensions, in a script that does.
    build: Option<TextRange>,
}

impl Evidence {
    /// Adds the places that an earlier plan changes and the final one does not.
    pub(super) fn with_withheld(self, withheld: Vec<Withheld>) -> Self {
        Self { withheld, ..self }
    }

    /// Collects the evidence of a source; `comments` are all its comments.
    pub(super) fn of(
        source: &Source<'_>,
        subject: &Subject<'_>,
        body: &[Stmt],
        comments: Vec<TextRange>,
        exempt: Exempt,
    ) -> Self {
        let lines = TextLines::of(subject.text);
        let meanings = Walk::of(source, subject, &lines).run(body);
        let exempt = Exempt { comments: merge_ranges(exempt.comments), ..exempt };
        let siblings = Siblings::of(body, &lines);
        let shown = subject.plan.shown.as_deref();
        let builds = source.is_build_script() && subject.text.contains("CUDAExtension");
        let statement = |word: &str| {
            body.iter().rev().map(Stmt::range).find(|at| subject.text[*at].contains(word))
        };
        let build = builds.then(|| statement("setup(").or_else(|| statement("CUDAExtension")));
        let build = build.flatten();
        let own_words = shown.map_or_else(Vec::new, |shown| shown.own_words.clone());
        Self { meanings, siblings, comments, exempt, withheld: Vec::new(), own_words, build }
    }

    /// The claims about the tokens, under the final plan.
    fn claims(&self, subject: &Subject<'_>, context: &Context<'_>) -> Vec<Claim> {
        let lines = TextLines::of(subject.text);
        let planned = planned(subject.tokens, subject.plan, subject.written);
        let mut guards = self.exempt.guards.clone();
        guards.sort_by_key(|guard| (guard.branch.start(), guard.branch.end()));
        let mut withheld = self.withheld.clone();
        withheld.sort_by_key(|one| (one.range.start(), one.range.end()));
        let claim = |(token, planned): (&Token, Planned)| {
            let range = token.range();
            let at = text_range(&range);
            let around = |all: &[TextRange]| {
                let after = all.partition_point(|one| one.start() <= at.start());
                all.get(after.checked_sub(1)?).filter(|one| one.contains_range(at)).copied()
            };
            if let Planned::Changed(rule) = planned {
                return Claim::Is(Class::Changed { rule });
            }
            if around(&self.comments).is_some() {
                return Claim::Is(Class::kept(Reason::Comment, lines.line(range.start)));
            }
            if let Some(off) = around(&self.exempt.comments) {
                let line = lines.line(off.start().to_usize());
                return Claim::Is(Class::kept(Reason::SwitchedOff, line));
            }
            let Meanings { strings, names, manual: calls, .. } = &self.meanings;
            let kept = |reason, at: TextRange| {
                Claim::Is(Class::kept(reason, lines.line(at.start().to_usize())))
            };
            let guard = || enclosing(&guards, at, |guard| guard.branch);
            let withheld = || enclosing(&withheld, at, |one| one.range).map(|one| one.why);
            if let Some(class) = planned.class() {
                Claim::Is(class)
            } else if let Some(shim) = self.exempt.shim {
                kept(Reason::VendorShim, shim)
            } else if let Some(class) = self.siblings.class(at) {
                Claim::Is(class)
            } else if let Some(Why::Sibling(sibling)) = withheld() {
                kept(Reason::NpuSibling, sibling)
            } else if let Some(Why::Build(build)) = withheld() {
                kept(Reason::BuildGuard, build)
            } else if let Some(guard) = guard() {
                kept(Reason::CudaOnlyGuard, guard.test)
            } else if let Some((_, witness)) = enclosing(&self.own_words, at, |(word, _)| *word) {
                kept(Reason::OwnName, *witness)
            } else if let Some((_, rule)) = calls.iter().find(|(call, _)| call.contains_range(at)) {
                Claim::Is(if rule.action == Action::Keep { by_rule(rule) } else { manual(rule) })
            } else {
                let claim = match (strings.of(at), names.of(at)) {
                    (Some(meaning), _) => string(subject, context, &lines, token, meaning),
                    (None, Some(meaning)) => meaning.claim(),
                    (None, None) => Claim::Open,
                };
                match (claim, self.build) {
                    (Claim::Open, Some(build)) => kept(Reason::BuildGuard, build),
                    (Claim::Own(name, wanted), Some(build)) => {
                        let line = lines.line(build.start().to_usize());
                        Claim::OwnOr(name, wanted, Class::kept(Reason::BuildGuard, line))
                    }
                    (claim, _) => claim,
                }
            }
        };
        subject.tokens.iter().zip(planned).map(claim).collect()
    }
}

/// Explains the tokens of a Python source with the evidence in its plan, or by parsing it.
///
/// # Errors
///
/// With the first place that does not parse.
pub(crate) fn explain(
    subject: &Subject<'_>,
    context: &Context<'_>,
) -> Result<Explained, SyntaxError> {
    if let Some(evidence) = &subject.plan.evidence {
        return Ok(explained(evidence, subject, context));
    }
    on_enough_stack(subject.text, || {
        let parsed = parse(subject.text, context.cell);
        if let Some(error) = first_error(&parsed, subject.text) {
            return Err(error);
        }
        let Some(body) = body_of(parsed.syntax()) else {
            return Ok(Explained::default());
        };
        let comments = comments(parsed.tokens());
        let off = kept_by_comments(subject.text, &comments);
        let source = Source::of(subject.text, body, context, &off);
        let exempt = Exempt::of(&source, body, off);
        let evidence = Evidence::of(&source, subject, body, comments, exempt);
        Ok(explained(&evidence, subject, context))
    })
}

fn explained(evidence: &Evidence, subject: &Subject<'_>, context: &Context<'_>) -> Explained {
    Explained {
        claims: evidence.claims(subject, context),
        definitions: evidence.meanings.definitions.clone(),
    }
}

/// The element around `at` of a list in the order of the text; of nested elements, an innermost
/// one.
fn enclosing<T>(all: &[T], at: TextRange, range: impl Fn(&T) -> TextRange) -> Option<&T> {
    /// Maximum number of elements before `at` to examine: nesting is not deeper.
    const NEAR: usize = 16;
    let after = all.partition_point(|one| range(one).start() <= at.start());
    all[..after].iter().rev().take(NEAR).find(|one| range(one).contains_range(at))
}

/// The claim about a token in a string.
fn string(
    subject: &Subject<'_>,
    context: &Context<'_>,
    lines: &TextLines<'_>,
    token: &Token,
    (whole, meaning): (TextRange, &Meaning),
) -> Claim {
    let range = token.range();
    let line = lines.line(range.start);
    let content = start_of(&subject.text[whole]);
    let (text, column) = lines.around(range.start);
    let place = column..(column + range.len()).min(text.len());
    let is_device = is_device(content);
    match meaning {
        // `import_module("tensorrt")` is manual work for the library, other bare words are open.
        Meaning::Plain | Meaning::Test(_) if is_device => {
            library(content, context).map_or(Claim::Open, Claim::Is)
        }
        Meaning::Plain => {
            if wording::is_address(text, &place) {
                return Claim::Is(Class::kept(Reason::Address, line));
            }
            if wording::is_sentence(content) || wording::is_long_text(content) {
                return Claim::Is(Class::kept(Reason::Prose, line));
            }
            let name = wording::identifier(text, &place);
            if let Some(class) = library(content, context) {
                return Claim::Is(class);
            }
            if let Some(rule) = macro_of_extension(content, subject.plan) {
                return Claim::Is(manual(rule));
            }
            match wording::path(text, &place) {
                Some(path) if path.contains('/') => Claim::Own(path.to_owned(), Wanted::Path),
                Some(path) if path.len() > name.len() && is_bare(name) => {
                    Claim::Own(path.to_owned(), Wanted::Path)
                }
                _ if token.is_library() => {
                    library(token.word(), context).map_or(Claim::Open, Claim::Is)
                }
                _ if !is_bare(name) => Claim::Own(name.to_owned(), Wanted::Any),
                _ => Claim::Open,
            }
        }
        Meaning::Key(wanted) => Claim::Own(content.to_owned(), *wanted),
        Meaning::KeyOr(wanted, read) => {
            let key = Class::kept(Reason::TableKey, *read);
            Claim::OwnOr(content.to_owned(), *wanted, key)
        }
        other => other.claim(),
    }
}

/// A library or package with a rule, named by a whole string: `tritonclient[all]`.
fn library(text: &str, context: &Context<'_>) -> Option<Class> {
    let name = text.split(['[', '=', '<', '>', '!', '~']).next().unwrap_or(text).trim();
    let rules = Rules::builtin();
    let known = rules.find(Match::Library, name).or_else(|| rules.find(Match::Package, name));
    if context.is_own_package(name.split('.').next().unwrap_or(name)) {
        return None;
    }
    // `lightning.fabric.utilities`: the module belongs to the library.
    let module =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte));
    let root = || name.split_once('.').filter(|_| module(name)).map(|(root, _)| root);
    let rule = known.or_else(|| rules.find(Match::Library, root()?))?;
    // Device words are not library names.
    (!is_device_word(name)).then(|| match rule.action {
        Action::Flag | Action::Rewrite => manual(rule),
        _ => by_rule(rule),
    })
}

/// A compiler macro in a file that builds a CUDA extension: it belongs to the extension.
fn macro_of_extension(text: &str, plan: &FilePlan) -> Option<&'static Rule> {
    let name = text.trim_start_matches("-D");
    let is_macro = name.bytes().all(|byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'=')
    });
    let builds = |site: &&Site| {
        site.decision == Decision::Flagged && site.rule.name.ends_with("CUDAExtension")
    };
    let site = plan.sites.iter().find(builds).filter(|_| is_macro && name.contains('_'))?;
    Some(site.rule)
}

/// The start of a string, long enough to classify it.
fn start_of(text: &str) -> &str {
    let mut end = text.len().min(640);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether a text as a whole is a device or a backend.
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
