//! Python sources: which names are torch's, which strings are devices, and what becomes of both.
//!
//! ```text
//! text -> tree (ruff) -> scopes -> walk -> flow of values -> settle -> imports -> plan
//! ```
//!
//! - `pysyntax::scope` says what a name means; [`aware`] where NPUs are handled already.
//! - [`engine`], [`expr`], [`call`], [`api`], [`functions`], [`mod@env`] walk the tree once and
//!   decide what its place decides; [`flow`] carries roles back to where values come from;
//!   [`settle`] decides about the strings that are left.
//! - [`transfer`] says what torch_npu's own replacement at run time does not reach.
//! - [`mark`] puts comments where a person has to look.
//! - [`imports`] and [`insert`] rewrite import statements and add `import torch_npu`.
//! - [`survey`] is what the file defines itself; [`passing`] carries values across calls.
//! - [`onnx`] knows the options of onnxruntime's providers.
//! - [`project`] carries names from one file of the tree to another.
//! - [`names`], [`roles`] and [`literal`] are the words: what looks like a device, which
//!   arguments hold one, what of a string is one.

mod api;
mod aware;
mod call;
mod engine;
mod env;
mod expr;
mod flow;
mod functions;
mod imports;
mod insert;
mod keys;
mod literal;
mod mark;
mod names;
mod onnx;
mod passing;
mod project;
#[cfg(test)]
pub(super) mod properties;
mod roles;
mod settle;
mod survey;
#[cfg(test)]
mod tests;
mod transfer;

use ruff_text_size::{TextRange, TextSize};

pub use project::{Module, Project, Taken, taken};

use super::options::Options;
use super::rules::{Presence, Rule, Rules};
use super::site::FilePlan;
pub use pysyntax::{SyntaxError, body_of, first_error, on_enough_stack, parse, scope};

/// What is known of a file besides its text.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// What the run was asked for.
    pub options: &'a Options,
    /// The dotted package of the file inside the converted tree, for relative imports.
    pub package: &'a str,
    /// The dotted name of the file itself.
    pub name: &'a str,
    /// Whether a person starts this file (`-l`).
    pub launch: bool,
    /// What other files of the tree bind, and what they import of each other.
    pub project: Option<&'a Project>,
    /// Whether it is a cell of a notebook, where `!command` and `%magic` stand too.
    pub cell: bool,
}

impl<'a> Context<'a> {
    /// A file on its own.
    pub fn alone(options: &'a Options) -> Self {
        Self { options, package: "", name: "", launch: false, project: None, cell: false }
    }

    /// What the dotted name of another file of the tree stands for.
    fn exports(&self, path: &str) -> Option<String> {
        self.project?.exports(path).cloned()
    }

    /// Whether another file of the tree takes this name from this one.
    fn is_exported(&self, name: &str) -> bool {
        self.project.is_some_and(|project| project.takes(name))
    }

    /// Whether a package is part of the tree that is converted.
    fn is_own_package(&self, name: &str) -> bool {
        self.project.is_some_and(|project| project.holds(name, self.name, self.package))
    }

    /// Whether the torch_npu that is aimed at has what a rule writes, as far as that is known.
    fn has(&self, rule: &Rule) -> bool {
        self.options
            .target
            .as_ref()
            .is_none_or(|target| Rules::builtin().presence(rule, target) == Presence::Yes)
    }
}

/// The dotted name under which `path` is found on an NPU host, and the rule that says so; `None`
/// if it is the same.
pub fn renamed(path: &str, options: &Options) -> Option<(&'static Rule, String)> {
    let context = Context::alone(options);
    let api::Target::Rewrite { rule, .. } = api::target(path, &context) else { return None };
    imports::moved(path, &context).filter(|new| new != path).map(|new| (rule, new))
}

/// Decides about one Python source.
///
/// # Errors
///
/// With the first place that does not parse.
pub fn plan(text: &str, context: &Context<'_>) -> Result<FilePlan, SyntaxError> {
    on_enough_stack(text, || plan_here(text, context))
}

fn plan_here(text: &str, context: &Context<'_>) -> Result<FilePlan, SyntaxError> {
    let parsed = parse(text, context.cell);
    if let Some(error) = first_error(&parsed, text) {
        return Err(error);
    }
    let Some(body) = body_of(parsed.syntax()) else { return Ok(FilePlan::default()) };
    let comments: Vec<TextRange> = parsed
        .tokens()
        .iter()
        .filter(|token| token.kind().is_comment())
        .map(ruff_text_size::Ranged::range)
        .collect();
    let off = switched_off(text, &comments);
    let mut engine = engine::Engine::new(text, body, off, context);
    engine.run(body);
    if context.options.transfer {
        engine.transfer(body);
        return Ok(engine.planner.finish());
    }
    engine.insert_import(body);
    if context.options.mark {
        engine.mark(body);
    }
    Ok(engine.planner.finish())
}

/// What comments exempt: `# convert: off` to `# convert: on`, and lines with `# noqa: convert`.
fn switched_off(text: &str, comments: &[TextRange]) -> Vec<TextRange> {
    let mut off = Vec::new();
    let mut since: Option<TextSize> = None;
    for &range in comments {
        let comment = text[range].trim_start_matches('#').trim();
        match comment {
            "convert: off" => since = since.or(Some(range.start())),
            "convert: on" => {
                if let Some(start) = since.take() {
                    off.push(TextRange::new(start, range.end()));
                }
            }
            _ if comment.contains("noqa: convert") => {
                let start =
                    text[..range.start().to_usize()].rfind(['\n', '\r']).map_or(0, |at| at + 1);
                off.push(TextRange::new(
                    TextSize::try_from(start).unwrap_or_default(),
                    range.end(),
                ));
            }
            _ => {}
        }
    }
    if let Some(start) = since {
        off.push(TextRange::new(start, TextSize::of(text)));
    }
    off
}
