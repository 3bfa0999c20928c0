//! Collects the bindings of each name of a file, in one walk through its tree.

use ruff_python_ast::visitor::{Visitor, walk_comprehension, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{
    ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt, StmtImport, StmtImportFrom,
};
use ruff_text_size::{Ranged as _, TextRange};

use super::{Binding, Kind, ScopeId, Scopes, relative};
use crate::dotted;

/// A walk through a tree that records bindings.
pub(super) struct Collector<'a, 'e> {
    /// The collected scopes.
    pub(super) scopes: Scopes<'a>,
    current: ScopeId,
    package: String,
    exports: &'e dyn Fn(&str) -> Option<String>,
    /// Whether expressions are visited.
    deep: bool,
}

impl<'a, 'e> Collector<'a, 'e> {
    /// Starts in the module; `package` and `exports` as for [`Scopes::of`]; without `deep`, as for
    /// [`Scopes::of_statements`].
    pub(super) fn new(
        package: &str,
        exports: &'e dyn Fn(&str) -> Option<String>,
        deep: bool,
    ) -> Self {
        Self { scopes: Scopes::empty(), current: 0, package: package.to_owned(), exports, deep }
    }

    fn bind(&mut self, name: &'a str, binding: Binding<'a>) {
        let scope = &mut self.scopes.all[self.current];
        let home = if scope.globals.contains(name) { 0 } else { self.current };
        let resolves = match &binding {
            Binding::Import { .. } => true,
            Binding::Value(value) => value.is_name_expr() || value.is_attribute_expr(),
            _ => false,
        };
        if resolves {
            self.scopes.may_resolve.insert(name);
        }
        self.scopes.names.bind(home, name, binding);
    }

    fn inside(&mut self, node: TextRange, kind: Kind, walk: impl FnOnce(&mut Self)) {
        let outer = self.current;
        self.current = self.scopes.add(Some(outer), kind);
        self.scopes.by_node.push((node, self.current));
        walk(self);
        self.current = outer;
    }

    fn parameters(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            self.bind(parameter.name().as_str(), Binding::Other);
        }
    }

    fn assign(&mut self, target: &'a Expr, value: Option<&'a Expr>) {
        match target {
            Expr::Name(name) => match value {
                // `x = None` before the actual assignment is not a binding.
                Some(Expr::NoneLiteral(_)) => {}
                Some(value) => self.bind(name.id.as_str(), Binding::Value(value)),
                None => self.bind(name.id.as_str(), Binding::Other),
            },
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.assign(target, None)),
            Expr::List(list) => list.elts.iter().for_each(|target| self.assign(target, None)),
            Expr::Starred(starred) => self.assign(&starred.value, None),
            _ => {}
        }
    }

    fn import(&mut self, import: &'a StmtImport) {
        for alias in &import.names {
            let full = alias.name.as_str();
            let top = dotted::first(full);
            let (name, path) =
                alias.asname.as_ref().map_or((top, top), |name| (name.as_str(), full));
            let at = alias.range();
            self.bind(name, Binding::Import { path: path.to_owned(), at, member: false });
        }
    }

    fn import_from(&mut self, import: &'a StmtImportFrom) {
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        let base = if import.level == 0 {
            module.to_owned()
        } else {
            relative(&self.package, import.level, module)
        };
        for alias in &import.names {
            let name = alias.name.as_str();
            let bound = alias.asname.as_ref().map_or(name, |asname| asname.as_str());
            if name == "*" {
                continue;
            }
            let path = dotted::join(&base, name);
            let path = (self.exports)(&path).unwrap_or(path);
            let at = alias.range();
            self.bind(bound, Binding::Import { path, at, member: true });
        }
    }
}

impl<'a> Visitor<'a> for Collector<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Global(global) => {
                for name in &global.names {
                    self.scopes.all[self.current].globals.insert(name.as_str());
                }
            }
            Stmt::FunctionDef(def) => {
                self.bind(def.name.as_str(), Binding::Function(def));
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                for parameter in def.parameters.iter_non_variadic_params() {
                    parameter.default.iter().for_each(|default| self.visit_expr(default));
                }
                self.inside(stmt.range(), Kind::Function, |me| {
                    me.parameters(&def.parameters);
                    me.visit_body(&def.body);
                });
            }
            Stmt::ClassDef(def) => {
                self.bind(def.name.as_str(), Binding::Class(def));
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                def.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                self.inside(stmt.range(), Kind::Class, |me| me.visit_body(&def.body));
            }
            Stmt::Assign(assign) => {
                self.visit_expr(&assign.value);
                for target in &assign.targets {
                    self.assign(target, Some(&assign.value));
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.visit_expr(value);
                    self.assign(&assign.target, Some(value));
                }
            }
            Stmt::AugAssign(assign) => {
                self.visit_expr(&assign.value);
                self.assign(&assign.target, None);
            }
            Stmt::For(each) => {
                self.assign(&each.target, None);
                walk_stmt(self, stmt);
            }
            Stmt::With(with) => {
                for item in &with.items {
                    if let Some(target) = &item.optional_vars {
                        self.assign(target, None);
                    }
                }
                walk_stmt(self, stmt);
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(name.as_str(), Binding::Other);
        }
        inner.type_.iter().for_each(|kind| self.visit_expr(kind));
        self.visit_body(&inner.body);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(one) => one.name.as_ref(),
            Pattern::MatchStar(one) => one.name.as_ref(),
            Pattern::MatchMapping(one) => one.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name.as_str(), Binding::Other);
        }
        walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                self.assign(&named.target, Some(&named.value));
            }
            // `if (x := …) > 1:`.
            Expr::Compare(compare) if !self.deep => self.visit_expr(&compare.left),
            _ if !self.deep => {}
            Expr::Lambda(lambda) => self.inside(expr.range(), Kind::Function, |me| {
                lambda.parameters.iter().for_each(|parameters| me.parameters(parameters));
                me.visit_expr(&lambda.body);
            }),
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.inside(expr.range(), Kind::Function, |me| walk_expr(me, expr));
            }
            _ => walk_expr(self, expr),
        }
    }

    fn visit_comprehension(&mut self, comprehension: &'a ruff_python_ast::Comprehension) {
        self.assign(&comprehension.target, None);
        walk_comprehension(self, comprehension);
    }

    fn visit_expr_context(&mut self, _: &'a ExprContext) {}
}
