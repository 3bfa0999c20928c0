//! Python sources as trees: parsing, scopes, names, and the code cells of notebooks.
//!
//! Must not touch: rules, tables, files. It depends only on the language and is independent of
//! torch.

mod cells;
mod depth;
pub mod dotted;
pub mod notebook;
pub mod scope;

use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

/// A text that cannot be parsed in the syntax of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnparsableText {
    /// Byte offset at which parsing stopped: an unclosed construct, or one that nests too deep.
    pub at: usize,
}

/// A source that does not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Line, from 1.
    pub line: u32,
    /// Message of the parser.
    pub message: String,
}

/// Runs `work`, which walks the tree of `text`, on a stack that is large enough.
///
/// # Errors
///
/// Errors of `work`, or a separate error if the text nests deeper than any stack allows.
pub fn on_enough_stack<T: Send>(
    text: &str,
    work: impl FnOnce() -> Result<T, SyntaxError> + Send,
) -> Result<T, SyntaxError> {
    if depth::is_shallow(text) {
        return work();
    }
    match depth::of(text) {
        Ok(depth) if depth <= depth::SHALLOW => work(),
        // Walks recurse: a deep tree gets a larger stack.
        Ok(_) => std::thread::scope(|scope| {
            std::thread::Builder::new()
                .stack_size(depth::STACK)
                .spawn_scoped(scope, work)
                .ok()
                .and_then(|thread| thread.join().ok())
                .unwrap_or_else(|| Err(too_deep(1)))
        }),
        Err(line) => Err(too_deep(line)),
    }
}

fn too_deep(line: u32) -> SyntaxError {
    SyntaxError { line, message: "nested deeper than this tool reads".to_owned() }
}

/// The first syntax error of a text.
pub fn first_error(parsed: &ruff_python_parser::Parsed<Mod>, text: &str) -> Option<SyntaxError> {
    let error = parsed.errors().first()?;
    let offset = error.location.start().to_usize().min(text.len());
    let line = text[..offset].matches('\n').count() + 1;
    Some(SyntaxError {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        message: error.error.to_string(),
    })
}

/// The tree of a source, or of the cells of a notebook, which can also contain `!command` and
/// `%magic` lines. Callers that walk it call [`on_enough_stack`] first.
///
/// # Errors
///
/// With the first syntax error.
pub fn parse_module(text: &str, cells: bool) -> Result<Mod, SyntaxError> {
    let parsed = parse(text, cells);
    first_error(&parsed, text).map_or_else(|| Ok(parsed.into_syntax()), Err)
}

/// The tree of a source with its tokens and errors; `cell` as for [`parse_module`].
pub fn parse(text: &str, cell: bool) -> ruff_python_parser::Parsed<Mod> {
    if cell {
        parse_unchecked(&cells::parsable(text), ParseOptions::from(Mode::Ipython))
    } else {
        parse_unchecked(text, ParseOptions::from(Mode::Module))
    }
}

/// The statements of a module.
pub fn body_of(module: &Mod) -> Option<&[Stmt]> {
    match module {
        Mod::Module(module) => Some(&module.body),
        Mod::Expression(_) => None,
    }
}
