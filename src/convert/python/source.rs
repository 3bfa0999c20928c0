//! A parsed module: text, options, scopes, imports and definitions, and queries on them. It does
//! not change while edits are planned, so every part may share it.

use std::borrow::Cow;

use ruff_python_ast::{Expr, Stmt, StmtClassDef};
use ruff_text_size::{Ranged as _, TextRange};

use super::Context;
use super::definitions::Definitions;
use super::imports::Imports;
use super::literal;
use super::names::{device_like, nccl_backend, other_backend, other_device};
use super::value_flow::Slot;
use crate::rules::{Match, Rules};
use pysyntax::scope::{Binding, Resolved, ScopeId, Scopes, parts};

/// A parsed module.
pub(super) struct Source<'a> {
    pub text: &'a str,
    pub context: &'a Context<'a>,
    pub scopes: Scopes<'a>,
    pub imports: Imports<'a>,
    pub definitions: Definitions<'a>,
}

impl<'a> Source<'a> {
    /// Parses a module; `kept` are the ranges that comments keep.
    pub(super) fn of(
        text: &'a str,
        body: &'a [Stmt],
        context: &'a Context<'a>,
        kept: &[TextRange],
    ) -> Self {
        let scopes = Scopes::of(body, context.package, &|path| context.exports(path));
        let imports = Imports::of(body, &scopes, context, kept);
        Self { text, context, scopes, imports, definitions: Definitions::of(body) }
    }

    /// Returns the scope that a node opens, or `scope` if it opens none.
    pub(super) fn scope_inside(&self, node: TextRange, scope: ScopeId) -> ScopeId {
        self.scopes.opened_by(node).unwrap_or(scope)
    }

    /// Returns the slot that `expr` reads or assigns.
    pub(super) fn slot(&self, expr: &'a Expr, scope: ScopeId) -> Option<Slot<'a>> {
        match expr {
            Expr::Name(name) => {
                let home = self.scopes.home(name.id.as_str(), scope).unwrap_or(scope);
                Some(Slot::Name(home, name.id.as_str()))
            }
            Expr::Attribute(attribute) if !self.is_of_torch(expr, scope) => {
                Some(Slot::Attr(Cow::Borrowed(attribute.attr.as_str())))
            }
            Expr::Subscript(subscript) => match literal::plain(&subscript.slice) {
                Some(key) => Some(Slot::Key(key)),
                // An element of a list.
                None => self.slot(&subscript.value, scope),
            },
            Expr::Starred(starred) => self.slot(&starred.value, scope),
            _ => None,
        }
    }

    /// Whether a chain of attributes starts at an import of torch.
    pub(super) fn is_of_torch(&self, expr: &Expr, scope: ScopeId) -> bool {
        // The parts after the first name do not change the start of the path.
        let mut first = expr;
        while let Expr::Attribute(attribute) = first {
            first = &attribute.value;
        }
        self.scopes.path(first, scope).is_some_and(|path| path.starts_with("torch"))
    }

    /// Whether an expression is a device, or the text of one, by its form or name.
    pub(super) fn is_device(&self, expr: &Expr, scope: ScopeId) -> bool {
        match expr {
            Expr::Name(name) => device_like(name.id.as_str()),
            Expr::Attribute(attribute) => {
                let name = attribute.attr.as_str();
                name == "type"
                    && !matches!(&*attribute.value, Expr::Name(name) if !device_like(name.id.as_str()) && name.id.as_str().contains("layer"))
                    || device_like(name) && name != "device_count"
            }
            Expr::Subscript(subscript) => match literal::plain(&subscript.slice) {
                Some(key) => device_like(key),
                None => self.is_device(&subscript.value, scope),
            },
            Expr::Call(call) => {
                if self.scopes.path(&call.func, scope).as_deref() == Some("torch.device") {
                    return true;
                }
                match &*call.func {
                    Expr::Attribute(method) => {
                        let name = method.attr.as_str();
                        // `x.type()` is `'torch.npu.FloatTensor'`.
                        name == "type" && call.arguments.is_empty()
                            || device_like(name)
                                && !name.contains("count")
                                && !name.contains("name")
                            || self.is_device(&method.value, scope)
                    }
                    Expr::Name(name) if matches!(name.id.as_str(), "str" | "repr") => {
                        call.arguments.args.first().is_some_and(|arg| self.is_device(arg, scope))
                    }
                    Expr::Name(name) => device_like(name.id.as_str()) && !name.id.contains("count"),
                    _ => false,
                }
            }
            // `'cuda' in [d.type for d in devices]`
            Expr::ListComp(one) => self.is_device(&one.elt, scope),
            Expr::SetComp(one) => self.is_device(&one.elt, scope),
            Expr::Generator(one) => self.is_device(&one.elt, scope),
            _ => false,
        }
    }

    /// The slot from which an expression takes its value, through `str()` and string methods.
    pub(super) fn root(&self, expr: &'a Expr, scope: ScopeId) -> Option<Slot<'a>> {
        match expr {
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(method) if self.scopes.resolve(&call.func, scope).is_none() => {
                    self.root(&method.value, scope)
                }
                Expr::Name(name) if name.id.as_str() == "str" => {
                    call.arguments.args.first().and_then(|arg| self.root(arg, scope))
                }
                func => self.result(func, scope),
            },
            _ => self.slot(expr, scope),
        }
    }

    /// Whether the file builds and installs the project: it calls `setup()` of setuptools.
    pub(super) fn is_build_script(&self) -> bool {
        self.imports.builds()
    }

    /// The slot of the result of a function of the tree.
    pub(super) fn result(&self, func: &Expr, scope: ScopeId) -> Option<Slot<'a>> {
        if let Expr::Name(name) = func
            && let Some((_, [Binding::Function(def)])) =
                self.scopes.bindings(name.id.as_str(), scope)
        {
            return self.scopes.opened_by(def.range()).map(Slot::Returns);
        }
        let path = self.scopes.path(func, scope)?;
        let project = self.context.project?;
        project.own_path(&path, self.context.package).map(Slot::Foreign)
    }

    /// Whether the possible values of `expr` are devices: `'cuda' if x else 'cpu'`,
    /// `'cuda' if torch.cuda.is_available() else None`, `['cpu', 'cuda']`.
    pub(super) fn lists_devices(&self, expr: &Expr) -> bool {
        if !has_leaves(expr) {
            return false;
        }
        let mut leaves = Vec::new();
        let mut asks = false;
        self.leaves(expr, &mut leaves, &mut asks);
        let other = leaves.iter().filter_map(|leaf| literal::plain(leaf)).any(other_device);
        (other || asks) && leaves.iter().any(|leaf| !literal::device(self.text, leaf).is_empty())
    }

    /// Whether the possible values of `expr` are backends of torch.distributed.
    pub(super) fn lists_backends(&self, expr: &Expr) -> bool {
        if !has_leaves(expr) {
            return false;
        }
        let mut leaves = Vec::new();
        let mut asks = false;
        self.leaves(expr, &mut leaves, &mut asks);
        let texts = || leaves.iter().filter_map(|leaf| literal::plain(leaf));
        texts().any(other_backend) && texts().any(nccl_backend)
    }

    fn leaves<'e>(&self, expr: &'e Expr, out: &mut Vec<&'e Expr>, asks: &mut bool) {
        match expr {
            Expr::If(one) => {
                let test = &self.text[one.test.range()];
                *asks |= test.contains("cuda") && test.contains("available");
                self.leaves(&one.body, out, asks);
                self.leaves(&one.orelse, out, asks);
            }
            Expr::BoolOp(op) => op.values.iter().for_each(|one| self.leaves(one, out, asks)),
            Expr::List(list) => list.elts.iter().for_each(|one| self.leaves(one, out, asks)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| self.leaves(one, out, asks)),
            Expr::Set(set) => set.elts.iter().for_each(|one| self.leaves(one, out, asks)),
            _ => out.push(expr),
        }
    }

    /// Whether an object is of a class of this file that defines `cuda` itself.
    pub(super) fn is_of_own_class(
        &self,
        object: &Expr,
        scope: ScopeId,
        class: Option<&StmtClassDef>,
    ) -> bool {
        let defines = |class: &StmtClassDef| {
            class.body.iter().any(|stmt| {
                stmt.as_function_def_stmt().is_some_and(|def| def.name.as_str() == "cuda")
            })
        };
        match object {
            Expr::Name(name) if name.id.as_str() == "self" => class.is_some_and(defines),
            Expr::Name(name) => {
                self.scopes.bindings(name.id.as_str(), scope).is_some_and(|(_, all)| {
                    all.iter().any(|binding| match binding {
                        Binding::Value(value) => {
                            value.is_call_expr() && self.is_of_own_class(value, scope, class)
                        }
                        _ => false,
                    })
                })
            }
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) => {
                    self.scopes.bindings(name.id.as_str(), scope).is_some_and(|(_, all)| {
                        all.iter().any(|binding| match binding {
                            Binding::Class(class) => defines(class),
                            _ => false,
                        })
                    })
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an expression is the result of `get_device_properties`.
    pub(super) fn is_device_properties(&self, expr: &Expr, scope: ScopeId) -> bool {
        match expr {
            Expr::Call(call) => self
                .scopes
                .path(&call.func, scope)
                .is_some_and(|path| path.ends_with(".get_device_properties")),
            Expr::Name(name) => {
                self.scopes.bindings(name.id.as_str(), scope).is_some_and(|(_, all)| {
                    all.iter().any(|binding| match binding {
                        Binding::Value(value) => {
                            value.is_call_expr() && self.is_device_properties(value, scope)
                        }
                        _ => false,
                    })
                })
            }
            _ => false,
        }
    }
}

/// Whether an expression has one of several values: a single value is not a list of devices.
fn has_leaves(expr: &Expr) -> bool {
    matches!(expr, Expr::If(_) | Expr::BoolOp(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Set(_))
}

/// Whether `object.name` is an attribute of an object that another file defines, and not a name of
/// a module: `from models import net`, `net.cuda()`.
pub(super) fn is_of_imported_object(resolved: &Resolved) -> bool {
    if resolved.path.starts_with("torch") {
        return false;
    }
    let attributes = parts(resolved.path.trim_start_matches('.')).saturating_sub(resolved.base);
    if attributes == 0 || !resolved.member && attributes == 1 {
        return false;
    }
    let (above, _) = resolved.path.rsplit_once('.').unwrap_or_default();
    // `numba.cuda` and similar modules.
    let of_cuda = above.split('.').any(|part| part == "cuda");
    let root = above.split('.').next().unwrap_or_default();
    !of_cuda && Rules::builtin().find(Match::Library, root).is_none()
}
