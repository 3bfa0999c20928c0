//! Resolves the names of a source: dotted paths, local values, and attributes of the enclosing
//! class.

use std::rc::Rc;

use ruff_python_ast::Expr;

use pysyntax::scope::{ScopeId, Scopes, root};

use super::classes::ClassFacts;
use super::constant_conditions;
use super::kinds::Kind;
use super::locals::Locals;
use super::tensor_names::TensorNames;

/// The names that are visible at the current position of the walk.
pub(super) struct Names<'a, 's> {
    pub(super) text: &'a str,
    pub(super) scopes: &'s Scopes<'a>,
    pub(super) scope: ScopeId,
    /// The enclosing class.
    pub(super) class: Option<Rc<ClassFacts<'a>>>,
    /// Values of local names.
    pub(super) locals: Locals<'a>,
    /// Names that the outermost function uses as tensors.
    pub(super) tensors: TensorNames<'a>,
}

/// The names outside of a class, which are not visible in it.
pub(super) struct OuterNames<'a> {
    scope: ScopeId,
    class: Option<Rc<ClassFacts<'a>>>,
    locals: Locals<'a>,
    tensors: TensorNames<'a>,
}

impl<'a, 's> Names<'a, 's> {
    /// Returns the names of a module.
    pub(super) fn of_module(text: &'a str, scopes: &'s Scopes<'a>) -> Self {
        let (locals, tensors) = (Locals::default(), TensorNames::default());
        Self { text, scopes, scope: 0, class: None, locals, tensors }
    }

    /// Enters a class and returns the names outside of it.
    pub(super) fn enter_class(
        &mut self,
        class: Rc<ClassFacts<'a>>,
        scope: ScopeId,
    ) -> OuterNames<'a> {
        OuterNames {
            scope: std::mem::replace(&mut self.scope, scope),
            class: self.class.replace(class),
            locals: std::mem::take(&mut self.locals),
            tensors: std::mem::take(&mut self.tensors),
        }
    }

    /// Leaves a class.
    pub(super) fn leave_class(&mut self, outer: OuterNames<'a>) {
        let OuterNames { scope, class, locals, tensors } = outer;
        (self.scope, self.class, self.locals, self.tensors) = (scope, class, locals, tensors);
    }

    /// Returns the value of an attribute of `self`.
    pub(super) fn attribute(&self, name: &str) -> Option<Kind> {
        self.class.as_ref().and_then(|class| class.attributes.get(name)).copied()
    }

    /// Returns whether the enclosing class prepares data.
    pub(super) fn in_data_class(&self) -> bool {
        self.class.as_ref().is_some_and(|class| class.data)
    }

    /// Returns the dotted name of an expression. The name of a module of the tree has no leading
    /// dot.
    pub(super) fn path(&self, expr: &Expr) -> Option<String> {
        let root = root(expr)?;
        // An import binds only few of the names in a source.
        if root == "self" || !self.scopes.may_resolve(root) || self.local(root).is_some() {
            return None;
        }
        let path = self.scopes.path_within(expr, self.scope)?;
        Some(if path.starts_with('.') { path.trim_start_matches('.').to_owned() } else { path })
    }

    /// Returns the value of a local name.
    pub(super) fn local(&self, name: &str) -> Option<Kind> {
        self.locals.get(name)
    }

    /// Returns the kind of an operand of a language operator. A name of unknown kind counts as a
    /// tensor if the function uses it as one elsewhere.
    pub(super) fn operand(&self, expr: &Expr, kind: Kind) -> Kind {
        match expr {
            Expr::Name(name) if kind == Kind::Maybe => {
                let name = name.id.as_str();
                let evident = self.tensors.uses(self.scopes);
                let used = evident.by_method.contains(name) || evident.by_function.contains(name);
                if used { Kind::Likely } else { kind }
            }
            _ => kind,
        }
    }

    pub(super) fn truth(&self, test: &Expr) -> Option<bool> {
        constant_conditions::truth(test, &|expr| self.path(expr))
    }
}
