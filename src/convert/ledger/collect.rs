//! The ledger of a tree: counts the tokens of all files, explains them in parallel, and settles
//! claims by the names that the whole tree defines.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use foldhash::HashMap;
use rayon::prelude::*;
use treeedit::kind::FileKind;
use treeedit::walk::SourceFile;

use super::entry::{Claim, Class, Definition, DefinitionKind, Entry, Reason, Wanted, Witness};
use super::index::Index;
use super::notebook::NotebookFile;
use super::plain::PlainFile;
use super::tokens::{self, MAX_FILE, Token};
use super::{FileLedger, Ledger};
use crate::options::Options;
use crate::plan::{Plan, SilentFile, text_of};
use crate::python::explain::{Explained, Subject, explain};
use crate::python::{self, Module, Project};
use crate::report::shown;
use crate::site::FilePlan;

/// Maximum number of tokens to classify in one run.
const MAX_RUN: usize = 1_000_000;
/// Maximum number of lines with unexplained tokens to quote for each file.
const MAX_EXCERPTS: usize = 500;
/// Maximum length of a quoted line, in characters.
const MAX_EXCERPT: usize = 200;

/// A file with its plan, or without one.
#[derive(Clone, Copy)]
struct Input<'a> {
    file: &'a SourceFile,
    bytes: &'a [u8],
    plan: &'a FilePlan,
    /// Whether the edits of the plan take effect.
    written: bool,
    /// Whether the file could be read as its kind.
    readable: bool,
}

/// A file whose tokens are explained as far as one file allows.
struct Draft {
    tokens: Vec<Token>,
    places: Vec<(u32, u32)>,
    claims: Vec<Claim>,
    definitions: Vec<Definition>,
    beyond: usize,
    lines: Vec<String>,
}

/// Explains the tokens of all files of a plan; `all` are the files of the tree.
pub(crate) fn collect(
    plan: &Plan,
    all: &[SourceFile],
    options: &Options,
    project: &Project,
) -> Ledger {
    let planned = plan.files.iter().map(|one| Input {
        file: &one.file,
        bytes: &one.before,
        plan: &one.plan,
        written: one.after.is_some(),
        readable: one.problem.is_none() || one.after.is_some(),
    });
    let silent = plan.silent.iter().map(|SilentFile { file, bytes, plan }| Input {
        file,
        bytes,
        plan,
        written: false,
        readable: true,
    });
    let order: HashMap<&Path, usize> =
        all.iter().enumerate().map(|(at, file)| (file.path.as_path(), at)).collect();
    let mut inputs: Vec<Input<'_>> = planned.chain(silent).collect();
    inputs.sort_by_key(|input| order.get(input.file.path.as_path()).copied());
    let mut texts: Vec<Option<Counted>> = inputs
        .par_iter()
        .map(|input| {
            let text = text_of(input.file.kind, input.bytes);
            let (tokens, more) = tokens::find(&text, MAX_FILE);
            (!tokens.is_empty()).then_some(Counted { text, tokens, beyond: more })
        })
        .collect();
    let mut left = MAX_RUN;
    for counted in texts.iter_mut().flatten() {
        let all = counted.tokens.len();
        counted.tokens.truncate(left);
        counted.beyond += all - counted.tokens.len();
        left -= counted.tokens.len();
    }
    let drafts: Vec<Option<Draft>> = inputs
        .par_iter()
        .zip(texts)
        .map(|(input, counted)| Some(draft(input, counted?, options, project)))
        .collect();
    settle(&inputs, drafts, all)
}

/// The tokens of one text.
struct Counted {
    text: String,
    tokens: Vec<Token>,
    /// The number of tokens beyond the limit.
    beyond: usize,
}

fn draft(input: &Input<'_>, counted: Counted, options: &Options, project: &Project) -> Draft {
    let Counted { text, tokens, beyond } = counted;
    let text = text.as_str();
    let Input { plan, written, readable, .. } = *input;
    let name = input.file.path.file_name().unwrap_or_default().to_string_lossy();
    let open = |tokens: &[Token]| (vec![Claim::Open; tokens.len()], Vec::new());
    let (claims, definitions) = match input.file.kind {
        FileKind::Python => {
            let module = Module::of(&input.file.relative.to_string_lossy());
            let context = python::Context {
                package: &module.package,
                name: &module.name,
                project: Some(project),
                ..python::Context::alone(options)
            };
            let test = is_test(&input.file.relative);
            let subject = Subject { text, tokens: &tokens, plan, written, test };
            match explain(&subject, &context) {
                Ok(Explained { claims, definitions }) if claims.len() == tokens.len() => {
                    (claims, definitions)
                }
                _ => open(&tokens),
            }
        }
        FileKind::Notebook => {
            let file = NotebookFile { text, tokens: &tokens, plan, written, options, project };
            file.explain().unwrap_or_else(|| open(&tokens))
        }
        // A text that does not parse as its kind has no reliable comments.
        _ if !readable => open(&tokens),
        kind => PlainFile { kind, name: &name, text, tokens: &tokens, plan, written }.explain(),
    };
    let places = places(text, &tokens);
    let lines = excerpts(text, &tokens, &claims);
    Draft { tokens, places, claims, definitions, beyond, lines }
}

/// Lines and columns, from 1; columns count characters.
fn places(text: &str, tokens: &[Token]) -> Vec<(u32, u32)> {
    let (mut line, mut column, mut at) = (1_u32, 1_u32, 0);
    let mut out = Vec::with_capacity(tokens.len());
    for token in tokens {
        for c in text.get(at..token.start).unwrap_or_default().chars() {
            if c == '\n' {
                (line, column) = (line.saturating_add(1), 1);
            } else {
                column = column.saturating_add(1);
            }
        }
        at = token.start;
        out.push((line, column));
    }
    out
}

/// The lines of tokens that may turn out unexplained.
fn excerpts(text: &str, tokens: &[Token], claims: &[Claim]) -> Vec<String> {
    let lines = super::text_lines::TextLines::of(text);
    let mut quoted = 0;
    let of = |(token, claim): (&Token, &Claim)| {
        let may = !matches!(claim, Claim::Is(_)) && quoted < MAX_EXCERPTS;
        quoted += usize::from(may);
        if may {
            lines.around(token.start).0.trim().chars().take(MAX_EXCERPT).collect()
        } else {
            String::new()
        }
    };
    tokens.iter().zip(claims).map(of).collect()
}

/// Whether a path belongs to a test.
pub(crate) fn is_test(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let in_tests = path.components().any(|part| {
        let part = part.as_os_str();
        part == "tests" || part == "test" || part == "testing"
    });
    in_tests || name.starts_with("test_") || name.ends_with("_test") || name == "conftest"
}

/// Settles the claims with the names of the tree.
fn settle(inputs: &[Input<'_>], mut drafts: Vec<Option<Draft>>, all: &[SourceFile]) -> Ledger {
    let mut index = Index::default();
    for file in all {
        let relative = file.relative.to_string_lossy();
        index.add_path(&shown(&file.path).into(), &relative);
    }
    let mut own: Vec<BTreeMap<String, (DefinitionKind, u32)>> = Vec::new();
    for (input, draft) in inputs.iter().zip(&mut drafts) {
        let mut names = BTreeMap::new();
        if let Some(draft) = draft {
            let path: Arc<str> = shown(&input.file.path).into();
            for one in &draft.definitions {
                names.entry(one.name.clone()).or_insert((one.kind, one.line));
            }
            index.add(&path, std::mem::take(&mut draft.definitions));
        }
        own.push(names);
    }
    let files = inputs.iter().zip(drafts).zip(own).filter_map(|((input, draft), own)| {
        let Draft { tokens, places, claims, beyond, lines, .. } = draft?;
        let mut entries = Vec::with_capacity(tokens.len());
        let mut excerpts = Vec::new();
        let all = tokens.into_iter().zip(places).zip(claims).zip(lines);
        for (((token, (line, column)), claim), excerpt) in all {
            let class = match local(&claim, &own) {
                Some(class) => class,
                None => index.decide(claim, token),
            };
            if class == Class::Unexplained {
                excerpts.push(excerpt);
            }
            entries.push(Entry { token, line, column, class });
        }
        Some(FileLedger {
            path: shown(&input.file.path),
            kind: input.file.kind,
            entries,
            beyond,
            excerpts,
        })
    });
    Ledger { files: files.collect() }
}

/// The class of a name that the same file defines.
fn local(claim: &Claim, own: &BTreeMap<String, (DefinitionKind, u32)>) -> Option<Class> {
    let (Claim::Own(name, wanted) | Claim::OwnOr(name, wanted, _)) = claim else { return None };
    let (_, line) = own.get(name)?;
    let fits = match wanted {
        Wanted::Variable => true,
        Wanted::Any => !tokens::is_bare(name) || name.eq_ignore_ascii_case("gpu"),
        Wanted::Parameter | Wanted::Member | Wanted::Path | Wanted::Code => false,
    };
    fits.then_some(Class::Kept { reason: Reason::OwnName, witness: Witness::Line(*line) })
}
