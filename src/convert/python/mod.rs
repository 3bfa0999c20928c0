//! Python sources: detects torch names and device strings, and plans their edits.
//!
//! ```text
//! text -> tree (ruff) -> Source -> Walker -> RoleFlow -> Settlement -> ImportInsertion -> plan
//!                           every part writes into Edits
//! ```
//!
//! Each part uses only those above it:
//!
//! - [`names`], [`roles`], [`literal`], [`lines`], [`name_targets`]: words, arguments, strings, lines
//!   and dotted names, without state.
//! - [`source`]: the parsed module, with its [`imports`] and [`definitions`]; it does not
//!   change. `pysyntax::scope` resolves its names.
//! - [`edits`]: the plan, with the ranges that [`npu_branches`] exempts since they handle NPUs
//!   already.
//! - [`installers`]: packages that a program installs itself.
//! - [`cuda_only`], [`cuda_questions`]: tests in front of code that only CUDA can run.
//! - [`name_edits`], [`call_edits`], [`import_edits`], [`environment_edits`], [`provider_options`]:
//!   the edits of one kind of place.
//! - [`call_parameters`]: arguments whose meaning a rule of the callee decides.
//! - [`role_flow`]: carries roles back along [`value_flow`] to where values come from;
//!   [`device_keys`] holds keys of dictionaries until the whole file was walked.
//! - [`walker`], [`walk_expressions`], [`walk_calls`], [`walk_options`]: one walk over the tree, which feeds all of the
//!   above and records a [`string_candidate`] for each string without a role.
//! - [`collisions`]: members of one group that the plan would make equal; they stay, and the file
//!   is planned again.
//! - [`vendor_shims`]: files that replace torch.cuda by another vendor.
//! - [`settlement`], [`import_insertion`], [`mark`], [`transfer`]: after the walk, the decisions that
//!   need the whole plan.
//! - [`explain`]: reasons of tokens that stay, for the ledger.
//! - [`project`] carries names from one file of the tree to another, [`shared_roles`] their roles.

mod call_edits;
mod call_parameters;
mod collisions;
mod cuda_only;
mod cuda_questions;
mod definitions;
mod device_keys;
mod edits;
mod environment_edits;
pub(crate) mod explain;
mod import_edits;
mod import_insertion;
mod imports;
mod installers;
mod lines;
mod literal;
mod mark;
mod name_edits;
mod name_targets;
mod names;
mod npu_branches;
mod project;
#[cfg(test)]
pub(super) mod properties;
mod provider_options;
mod role_flow;
pub(crate) mod roles;
mod settlement;
pub(crate) mod shared_roles;
mod source;
mod string_candidate;
mod test_parameters;
#[cfg(test)]
mod tests;
mod transfer;
mod value_flow;
mod vendor_shims;
mod walk_calls;
mod walk_expressions;
mod walk_options;
mod walker;

use ruff_python_ast::Stmt;
use ruff_python_ast::token::Tokens;
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use self::collisions::{Collision, Why, Withheld, find_build_decisions, find_collisions};
use self::cuda_only::{Guard, find_guards};
use self::edits::Edits;
use self::explain::{Evidence, Subject};
use self::import_insertion::ImportInsertion;
use self::mark::add_marks;
use self::settlement::Settlement;
use self::shared_roles::ShownRoles;
use self::source::Source;
use self::transfer::plan_transfer;
use self::vendor_shims::find_shim;
use self::walker::Walker;

pub use project::{ImportedName, Module, Project, imported_names};

use super::keep_comment;
use super::ledger::tokens;
use super::options::Options;
use super::rules::{Place, Presence, Rule, Rules};
use super::site::FilePlan;
pub use pysyntax::{SyntaxError, body_of, first_error, on_enough_stack, parse, scope};

/// Maximum number of places of one file that are removed from a plan one after the other.
const MAX_WITHHELD: usize = 1000;
/// Maximum number of plans of one file; each removes places of the previous one.
const MAX_ROUNDS: usize = 8;

/// Facts about a file in addition to its text.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The options of the run.
    pub options: &'a Options,
    /// The dotted package of the file inside the converted tree, for relative imports.
    pub package: &'a str,
    /// The dotted name of the file itself.
    pub name: &'a str,
    /// Whether users start this file directly (`-l`).
    pub launch: bool,
    /// Names that other files of the tree bind and import from each other.
    pub project: Option<&'a Project>,
    /// Whether it is a cell of a notebook, which may contain `!command` and `%magic`.
    pub cell: bool,
    /// Whether the file is a test.
    pub test: bool,
    /// Whether the plan includes the reasons why tokens of the ledger stay.
    pub explains: bool,
}

impl<'a> Context<'a> {
    /// The context of a single file without a tree.
    pub fn alone(options: &'a Options) -> Self {
        Self {
            options,
            package: "",
            name: "",
            launch: false,
            project: None,
            cell: false,
            test: false,
            explains: false,
        }
    }

    /// The target of the dotted name of another file of the tree.
    fn exports(&self, path: &str) -> Option<String> {
        self.project?.exports(path).cloned()
    }

    /// Whether another file of the tree imports this name from this file.
    fn is_exported(&self, name: &str) -> bool {
        self.project.is_some_and(|project| project.is_imported(name))
    }

    /// Whether a package is part of the converted tree.
    fn is_own_package(&self, name: &str) -> bool {
        self.project.is_some_and(|project| project.holds(name, self.name, self.package))
    }

    /// Whether the target version of torch_npu has the replacement of a rule, as far as is known.
    fn has(&self, rule: &Rule) -> bool {
        self.options
            .target
            .as_ref()
            .is_none_or(|target| Rules::builtin().presence(rule, target) == Presence::Yes)
    }
}

/// The dotted name of `path` on an NPU host, and the rule for it; `None` if it is the same.
pub fn renamed(path: &str, options: &Options) -> Option<(&'static Rule, String)> {
    let context = Context::alone(options);
    let name_targets::Target::Rewrite { rule, .. } = name_targets::target(path, &context) else {
        return None;
    };
    name_targets::moved(path, &context).filter(|new| new != path).map(|new| (rule, new))
}

/// Plans one Python source.
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
    let comments = comments(parsed.tokens());
    let kept = kept_by_comments(text, &comments);
    let source = Source::of(text, body, context, &kept);
    let exempt = Exempt::of(&source, body, kept);
    let mut withheld: Vec<Withheld> = Vec::new();
    let mut rounds = 0;
    let builds = source.is_build_script() && text.contains("CUDAExtension");
    let mut plan = loop {
        let plan = plan_once(&source, body, &exempt, &withheld);
        let found = find_collisions(body, text, &plan.edits);
        let mut found: Vec<Withheld> = found.iter().map(Collision::withheld).collect();
        if builds && withheld.is_empty() {
            found.extend(find_build_decisions(body, text, &plan.sites));
        }
        if found.is_empty() {
            break plan;
        }
        // Each round keeps more places, so the rounds end; places that still collide afterwards
        // stay, too.
        withheld.extend(found);
        rounds += 1;
        if withheld.len() > MAX_WITHHELD || rounds > MAX_ROUNDS {
            break FilePlan { edits: Vec::new(), ..plan };
        }
    };
    if context.explains {
        let (tokens, _) = tokens::find(text, tokens::MAX_FILE);
        let subject =
            Subject { text, tokens: &tokens, plan: &plan, written: true, test: context.test };
        let evidence =
            Evidence::of(&source, &subject, body, comments, exempt).with_withheld(withheld);
        plan.evidence = Some(Box::new(evidence));
    }
    Ok(plan)
}

/// The parts of a module that stay, in addition to code that already handles NPUs.
#[derive(Debug, Clone, Default)]
struct Exempt {
    /// Ranges that comments keep.
    comments: Vec<TextRange>,
    /// Tests in front of code that only CUDA can run.
    guards: Vec<Guard>,
    /// The statement that replaces CUDA by another vendor.
    shim: Option<TextRange>,
}

impl Exempt {
    fn of(source: &Source<'_>, body: &[Stmt], comments: Vec<TextRange>) -> Self {
        Self { comments, guards: find_guards(source, body), shim: find_shim(source, body) }
    }
}

/// Plans a module; `withheld` are the places of earlier rounds that stay after all.
fn plan_once(
    source: &Source<'_>,
    body: &[Stmt],
    exempt: &Exempt,
    withheld: &[Withheld],
) -> FilePlan {
    let context = source.context;
    let mut edits = Edits::new(source.text, context, body, exempt.comments.clone());
    for Withheld { range, why } in withheld {
        if *why == Why::Conflict {
            edits.flag_site(Place::Collision, *range);
        }
    }
    edits.keep_all(withheld.iter().map(|one| one.range));
    for guard in &exempt.guards {
        edits.flag_site(Place::CudaOnlyGuard, guard.test);
    }
    edits.keep_all(exempt.guards.iter().map(|guard| guard.test));
    if let (Some(shim), [first, .., last]) = (exempt.shim, body) {
        let rule = Rules::builtin().site(Place::VendorShim);
        edits.note(rule, literal::span(shim), None);
        edits.keep(TextRange::new(first.start(), last.end()));
    }
    let mut walker = Walker::new(source, edits);
    shared_roles::apply(&mut walker.flow, source, body);
    walker.visit_module(body);
    let Walker { flow, candidates, .. } = walker;
    let (mut edits, values) = flow.finish();
    Settlement { source, edits: &mut edits }.settle_all(candidates);
    let shown = context.explains.then(|| ShownRoles {
        roles: shared_roles::collect(&values, source, body),
        open: shared_roles::open_names(&values, source, &edits.planner),
        own_words: shared_roles::own_words(&values, &edits.planner),
    });
    if context.options.transfer {
        return plan_transfer(source, edits, body);
    }
    let Edits { mut planner, needs, .. } = edits;
    ImportInsertion { source, needs: &needs, planner: &mut planner }.insert_import(body);
    if context.options.mark {
        add_marks(&mut planner, body);
    }
    let mut plan = planner.finish();
    plan.shown = shown.map(Box::new);
    plan
}

/// The ranges of all comments.
fn comments(tokens: &Tokens) -> Vec<TextRange> {
    let all = tokens.iter().filter(|token| token.kind().is_comment());
    all.map(ruff_text_size::Ranged::range).collect()
}

/// The ranges that comments keep: lines with `# ascend-doctor: keep` or `# noqa: convert`, and all
/// lines from `# convert: off` to `# convert: on`.
fn kept_by_comments(text: &str, comments: &[TextRange]) -> Vec<TextRange> {
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
            _ if comment.contains("noqa: convert") || keep_comment::keeps(&text[range], "#") => {
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
