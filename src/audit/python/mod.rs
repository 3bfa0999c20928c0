//! Operators that Python sources use, found without running them.
//!
//! ```text
//! text -> tree (ruff) -> scopes -> walk -> facts of each file -> reach -> operators with places
//! ```
//!
//! - [`walk`], [`expr`] and [`call`] go through a file once: names are resolved through imports
//!   and aliases (the scopes of `convert`), and what values are tensors is inferred from what is
//!   done with them ([`kinds`], [`classes`]). [`dead`] knows conditions that never hold on an NPU.
//! - [`api`] says which operators an API, a method or a module calls.
//! - [`mod@facts`] is what remains of a file; [`reach`] follows it through the tree, and, where that
//!   is asked for, through imports ([`files`]).
//!
//! A method counts only of what is a tensor by all signs: `sort` of a list and `split` of a text
//! are no operators. What is reached by some arguments alone is marked so, and what runs while a
//! model is built, or data is prepared, is told apart.

mod api;
mod call;
mod classes;
mod dead;
mod expr;
pub(crate) mod facts;
mod files;
pub(crate) mod hints;
mod kinds;
mod lines;
mod reach;
mod suggest;
#[cfg(test)]
mod tests;
mod walk;

use ruff_python_ast::{Mod, Stmt};

pub use files::{Options, read};

use self::facts::Facts;
use crate::convert::python::scope::{Scopes, relative};
use crate::convert::python::{SyntaxError, on_enough_stack, parse_module};

/// What one source says. `module` is its dotted name, `package` that of what it stands in.
///
/// # Errors
///
/// With the first place that does not parse.
fn facts(text: &str, path: &str, module: &str, package: &str) -> Result<Facts, SyntaxError> {
    on_enough_stack(text, || {
        let tree = parse_module(text)?;
        let mut facts =
            Facts { module: module.to_owned(), path: path.to_owned(), ..Facts::default() };
        let Mod::Module(tree) = &tree else { return Ok(facts) };
        let scopes = Scopes::of(&tree.body, package, &|_| None);
        facts.exports = scopes
            .exports()
            .into_iter()
            .map(|(name, path)| (name, path.trim_start_matches('.').to_owned()))
            .collect();
        facts.stars = tree.body.iter().filter_map(|stmt| star(stmt, package)).collect();
        let lines = lines::Lines::of_text(text);
        walk::walk(text, &tree.body, &scopes, &lines, &mut facts);
        Ok(facts)
    })
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
fn of_text(text: &str) -> crate::audit::Model {
    let facts = facts(text, "model.py", "model", "").expect("the source of a test parses");
    reach::model(vec![facts], &|_| None, false)
}
