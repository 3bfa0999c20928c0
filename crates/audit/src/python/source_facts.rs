//! Parses one source and walks it.

use ruff_python_ast::{Mod, Stmt};

use pysyntax::scope::{Scopes, relative};
use pysyntax::{SyntaxError, on_enough_stack, parse_module};

use super::facts::{Exports, Facts};
use super::line_index;
use super::walk::{self, Wanted};

/// A source to parse.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    /// The displayed path.
    pub(super) path: &'t str,
    /// The dotted names of its module and of the enclosing package.
    pub(super) module: &'t str,
    pub(super) package: &'t str,
    /// Whether the text consists of the cells of a notebook.
    pub(super) cells: bool,
    pub(super) wanted: Wanted,
}

/// Returns the facts of one source.
///
/// # Errors
///
/// Returns the first syntax error.
pub(super) fn facts(source: Source<'_>) -> Result<Facts, SyntaxError> {
    let Source { text, package, .. } = source;
    on_enough_stack(text, || {
        let tree = parse_module(text, source.cells)?;
        let Mod::Module(tree) = &tree else { return Ok(Facts::default()) };
        let scopes = Scopes::of_statements(&tree.body, package);
        let lines = line_index::LineIndex::of_text(text);
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

/// Returns the offset after the first import of torch; `None` if the source binds `torch_npu`
/// already.
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

/// Returns the module of a wildcard import.
fn star(stmt: &Stmt, package: &str) -> Option<String> {
    let import = stmt.as_import_from_stmt()?;
    import.names.iter().find(|alias| alias.name.as_str() == "*")?;
    let module = import.module.as_ref().map_or("", |module| module.as_str());
    let path =
        if import.level == 0 { module.to_owned() } else { relative(package, import.level, module) };
    Some(path.trim_start_matches('.').to_owned())
}
