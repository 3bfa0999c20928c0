//! Finds the names that hold tensors by how the function uses them elsewhere.

use std::cell::OnceCell;

use foldhash::HashSet;
use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Stmt};

use pysyntax::dotted;
use pysyntax::scope::{ScopeId, Scopes};

use super::api::{self, NameSharing};
use super::classes;

/// Functions of `torch` that call operators and whose first argument is not a tensor.
const MAKERS: &[&str] = &[
    "arange",
    "as_tensor",
    "asarray",
    "bartlett_window",
    "blackman_window",
    "einsum",
    "empty",
    "empty_strided",
    "eye",
    "fftfreq",
    "from_numpy",
    "frombuffer",
    "full",
    "hamming_window",
    "hann_window",
    "kaiser_window",
    "linspace",
    "logspace",
    "normal",
    "ones",
    "rand",
    "randint",
    "randn",
    "randperm",
    "range",
    "rfftfreq",
    "scalar_tensor",
    "tensor",
    "tril_indices",
    "triu_indices",
    "zeros",
];

/// Functions that take a list of tensors.
const OF_LISTS: &[&str] = &[
    "block_diag",
    "broadcast_tensors",
    "cartesian_prod",
    "cat",
    "chain_matmul",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "meshgrid",
    "multi_dot",
    "pad_sequence",
    "row_stack",
    "stack",
    "vstack",
];

/// The names that a function uses as tensors, computed on demand because few functions need them.
#[derive(Debug, Default)]
pub(super) struct TensorNames<'a> {
    body: &'a [Stmt],
    scope: ScopeId,
    found: OnceCell<TensorUses<'a>>,
}

/// Names that are used as tensors.
#[derive(Debug, Default)]
pub(super) struct TensorUses<'a> {
    /// Used with a tensor method: `x.unsqueeze(1)`.
    pub by_method: HashSet<&'a str>,
    /// Passed to a torch function: `torch.relu(x)`.
    pub by_function: HashSet<&'a str>,
    /// Used in a way that arrays also support: `x.shape`.
    pub like_arrays: HashSet<&'a str>,
}

impl<'a> TensorNames<'a> {
    /// Creates the lazy result for the body of a function and the scope that it opens.
    pub(super) fn of(body: &'a [Stmt], scope: ScopeId) -> Self {
        Self { body, scope, found: OnceCell::new() }
    }

    /// Returns the names, and computes them on first use.
    pub(super) fn uses(&self, scopes: &Scopes<'a>) -> &TensorUses<'a> {
        self.found.get_or_init(|| {
            let mut finder = UseVisitor { found: TensorUses::default(), scopes, scope: self.scope };
            finder.visit_body(self.body);
            finder.found
        })
    }
}

struct UseVisitor<'a, 's> {
    found: TensorUses<'a>,
    scopes: &'s Scopes<'a>,
    scope: ScopeId,
}

impl<'a> UseVisitor<'a, '_> {
    /// The first argument of a torch function must be a tensor, or the call raises an error.
    fn given(&mut self, call: &'a ExprCall) {
        let Some(first) = call.arguments.args.first() else { return };
        let elements = match first {
            Expr::Name(_) => std::slice::from_ref(first),
            Expr::List(list) => &list.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            _ => return,
        };
        if !elements.iter().any(Expr::is_name_expr) {
            return;
        }
        let Some(path) = self.scopes.path(&call.func, self.scope) else { return };
        let public = api::public(path.trim_start_matches('.'));
        let name = dotted::last(&public);
        let takes = public.starts_with("torch.")
            && !public.starts_with("torch.ops.")
            && !classes::is_class_name(name)
            && !MAKERS.contains(&name)
            && OF_LISTS.contains(&name) != first.is_name_expr()
            && api::api(&public).is_some();
        if takes {
            let names = elements.iter().filter_map(Expr::as_name_expr);
            self.found.by_function.extend(names.map(|name| name.id.as_str()));
        }
    }
}

impl<'a> Visitor<'a> for UseVisitor<'a, '_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Attribute(attribute) => {
                if let Expr::Name(name) = &*attribute.value
                    && name.id != "self"
                {
                    let word = attribute.attr.as_str();
                    if matches!(word, "shape" | "dtype" | "device" | "is_cuda" | "requires_grad") {
                        self.found.like_arrays.insert(name.id.as_str());
                    } else if api::shared(word) == Some(NameSharing::TensorOnly) {
                        self.found.by_method.insert(name.id.as_str());
                    }
                }
            }
            Expr::Call(call) => self.given(call),
            _ => {}
        }
        walk_expr(self, expr);
    }
}
