//! Operators that Python sources use, found without running them.
//!
//! ```text
//! text -> tree (ruff) -> scopes -> walk -> facts of each file -> reach -> operators with places
//! ```
//!
//! - [`walk`], [`expr`] and [`call`] go through a file once: names are resolved through imports
//!   and aliases (the scopes of `convert`), and what values are tensors is inferred from what is
//!   done with them ([`kinds`], [`classes`], [`evident`]). [`dead`] knows conditions that never hold on an NPU.
//! - [`documented`] notes calls of which the documents of torch_npu name limits.
//! - [`api`] says which operators an API, a method or a module calls.
//! - [`draft`] collects what is found; [`mod@facts`] is what remains of a file, [`packed`]; [`reach`] follows it through the tree ([`meaning`], [`links`]), and,
//!   where that is asked for, through imports ([`files`]).
//!
//! A method counts only of what is a tensor by all signs: `sort` of a list and `split` of a text
//! are no operators. What is reached by some arguments alone is marked so, and what runs while a
//! model is built, or data is prepared, is told apart.

mod api;
mod call;
mod classes;
mod dead;
mod documented;
mod draft;
mod evident;
mod expr;
pub mod facts;
mod files;
pub mod hints;
mod kinds;
mod lines;
mod links;
mod locals;
mod meaning;
mod packed;
mod reach;
mod suggest;
mod tally;
#[cfg(test)]
mod tests;
mod walk;
mod words;

use ruff_python_ast::{Mod, Stmt};

pub use files::{Options, Tree, Unread, of_source, read, tree};
pub use files::{is_source, text_of};

use self::facts::{Exports, Facts};
use crate::ops::documented as limits;
use pysyntax::scope::{Scopes, relative};
use pysyntax::{SyntaxError, on_enough_stack, parse_module};

/// The operators that every call of an API reaches, of aten without `aten::`.
pub(crate) fn operators_of(path: &str) -> Vec<&'static str> {
    let reach = api::api(&api::public(path));
    let called = reach.into_iter().flat_map(api::Reach::operators);
    called.filter(|one| !one.maybe && !one.backward).map(api::Called::name).collect()
}

/// Unpacks the tables that sources are compared with.
pub fn prepare() {
    let (_, _) = (api::shared(""), hints::method(""));
    let (_, _) = (limits::api(""), limits::limits_argument(""));
}

/// A source that is read.
#[derive(Debug, Clone, Copy, Default)]
struct Source<'t> {
    text: &'t str,
    /// As it is shown.
    path: &'t str,
    /// Its dotted name, and that of the package that it stands in.
    module: &'t str,
    package: &'t str,
    /// It is the cells of a notebook.
    cells: bool,
    wanted: Wanted,
}

/// What is looked for in a source beside its operators.
#[derive(Debug, Clone, Copy, Default)]
struct Wanted {
    /// What a fused operator would compute.
    suggestions: bool,
    /// Methods that are called on what is not known, to know which of imported classes are called.
    calls: bool,
}

/// What one source says.
///
/// # Errors
///
/// With the first place that does not parse.
fn facts(source: Source<'_>) -> Result<Facts, SyntaxError> {
    let Source { text, package, .. } = source;
    on_enough_stack(text, || {
        let tree = parse_module(text, source.cells)?;
        let Mod::Module(tree) = &tree else { return Ok(Facts::default()) };
        let scopes = Scopes::of_statements(&tree.body, package);
        let lines = lines::Lines::of_text(text);
        let wanted = source.wanted;
        let import_at = wanted.suggestions.then(|| import_at(text, &tree.body)).flatten();
        Ok(Facts {
            module: source.module.to_owned(),
            path: source.path.into(),
            exports: Exports::of(&scopes.exports()),
            stars: tree.body.iter().filter_map(|stmt| star(stmt, package)).collect(),
            import_at,
            ..walk::walk(text, &tree.body, &scopes, &lines, wanted)
        })
    })
}

/// Behind the first import of torch, where nothing binds `torch_npu` yet.
fn import_at(text: &str, body: &[Stmt]) -> Option<usize> {
    use ruff_text_size::Ranged as _;
    let root = |module: &str, wanted: &str| module.split('.').next() == Some(wanted);
    // `from torch_npu import …` and `import torch_npu as …` bind other names.
    let binds = |stmt: &Stmt| {
        stmt.as_import_stmt().is_some_and(|import| {
            let mut names = import.names.iter();
            names.any(|alias| alias.asname.is_none() && root(alias.name.as_str(), "torch_npu"))
        })
    };
    let of_torch = |stmt: &Stmt| match stmt {
        Stmt::Import(import) => import.names.iter().any(|alias| root(alias.name.as_str(), "torch")),
        Stmt::ImportFrom(import) => {
            import.level == 0
                && import.module.as_ref().is_some_and(|name| root(name.as_str(), "torch"))
        }
        _ => false,
    };
    if body.iter().any(binds) {
        return None;
    }
    let end = body.iter().find(|stmt| of_torch(stmt))?.end().to_usize();
    text.get(end..)?.find('\n').map(|at| end + at + 1)
}

/// The module of which all names are imported.
fn star(stmt: &Stmt, package: &str) -> Option<String> {
    let import = stmt.as_import_from_stmt()?;
    import.names.iter().find(|alias| alias.name.as_str() == "*")?;
    let module = import.module.as_ref().map_or("", |module| module.as_str());
    let path =
        if import.level == 0 { module.to_owned() } else { relative(package, import.level, module) };
    Some(path.trim_start_matches('.').to_owned())
}

/// What one source uses on its own, without a file.
#[cfg(test)]
fn of_text(text: &str) -> crate::Model {
    let wanted = Wanted { suggestions: true, calls: false };
    let source = Source { text, path: "model.py", module: "model", wanted, ..Source::default() };
    let facts = facts(source).expect("the source of a test parses");
    reach::model(vec![facts.into()], None, false)
}
