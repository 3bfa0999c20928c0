//! Walks the statements of a file.

use std::rc::Rc;

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged as _;

use pysyntax::scope::Scopes;

use super::classes;
use super::constant_conditions;
use super::facts::{Facts, Role};
use super::kinds::{self, Kind};
use super::line_index::LineIndex;
use super::name_hints;
use super::names::Names;
use super::recorder::Recorder;
use super::suggest::Suggestions;
use super::tensor_names::TensorNames;

/// Optional facts to collect in addition to the operators.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    /// Code that a fused operator could replace.
    pub(super) suggestions: bool,
    /// Methods called on values of unknown kind, which identify the called methods of imported
    /// classes.
    pub(super) calls: bool,
}

/// Walks a source: infers the values of expressions, and passes visited nodes to the recorder and
/// to the search for suggestions.
pub(super) struct Walker<'a, 's> {
    pub(super) names: Names<'a, 's>,
    pub(super) recorder: Recorder<'a, 's>,
    pub(super) suggestions: Suggestions<'a>,
    /// The number of module-level conditions and `try` blocks around the current statement.
    nested: u32,
    /// Whether the current statement runs whenever the module is imported. Only imports use the
    /// flag, which contain no other statements.
    at_top: bool,
}

/// Walks the statements of a module.
pub(super) fn walk<'a>(
    text: &'a str,
    body: &'a [Stmt],
    scopes: &Scopes<'a>,
    lines: &LineIndex<'a>,
    wanted: Wanted,
) -> Facts {
    let mut walker = Walker {
        names: Names::of_module(text, scopes),
        recorder: Recorder::new(lines, wanted.calls),
        suggestions: Suggestions::new(wanted.suggestions),
        nested: 0,
        at_top: false,
    };
    walker.top(body);
    walker.recorder.finish()
}

impl<'a> Walker<'a, '_> {
    /// Walks code that forms a separate piece.
    fn in_piece(&mut self, name: &[&str], walk: impl FnOnce(&mut Self)) {
        let outer = self.recorder.begin_piece(name);
        walk(self);
        self.recorder.continue_piece(outer);
    }

    /// Walks the statements of the module. Each definition is a separate piece.
    fn top(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::FunctionDef(def) => {
                    self.in_piece(&[def.name.as_str()], |me| me.function(def));
                }
                Stmt::ClassDef(def) => self.class(def),
                Stmt::Assign(assign) if assign.targets.iter().all(Expr::is_name_expr) => {
                    for name in assign.targets.iter().filter_map(Expr::as_name_expr) {
                        self.in_piece(&[name.id.as_str()], |me| {
                            me.expr(&assign.value);
                        });
                    }
                }
                Stmt::AnnAssign(assign) if assign.target.is_name_expr() => {
                    if let (Some(name), Some(value)) = (assign.target.as_name_expr(), &assign.value)
                    {
                        self.in_piece(&[name.id.as_str()], |me| {
                            me.expr(value);
                        });
                    }
                }
                Stmt::If(one) => {
                    self.nested += 1;
                    self.branches(one, Self::top);
                    self.nested -= 1;
                }
                Stmt::Try(one) => {
                    self.nested += 1;
                    self.top(&one.body);
                    for handler in &one.handlers {
                        let ExceptHandler::ExceptHandler(handler) = handler;
                        self.top(&handler.body);
                    }
                    self.top(&one.orelse);
                    self.top(&one.finalbody);
                    self.nested -= 1;
                }
                _ => {
                    self.at_top = self.nested == 0;
                    self.stmt(stmt);
                    self.at_top = false;
                }
            }
        }
    }

    fn class(&mut self, def: &'a StmtClassDef) {
        for decorator in &def.decorator_list {
            self.expr(&decorator.expression);
        }
        let class = Rc::new(classes::class_facts(def, self.names.scopes, self.names.scope));
        let name = def.name.as_str();
        let scope = self.names.scopes.opened_by(def.range()).unwrap_or(self.names.scope);
        let mut bases = Vec::new();
        for base in def.bases() {
            // `Generic[T]` has no effect as a base class.
            if let Some(path) = self.names.path(base) {
                bases.push(path);
            }
        }
        let role = if class.data { Role::Setup } else { Role::Run };
        let outer_names = self.names.enter_class(class, scope);
        let outer_role = std::mem::replace(&mut self.recorder.role, role);
        let outer_assigned = self.suggestions.enter();
        self.in_piece(&[name], |me| {
            for base in def.bases() {
                me.expr(base);
                // A base class runs whenever its subclass does.
                match base {
                    Expr::Name(name) if me.names.path(base).is_none() => {
                        me.recorder.refers_own(name.id.as_str());
                    }
                    _ => {}
                }
            }
            for path in &bases {
                me.recorder.refers(path);
            }
            for stmt in &def.body {
                match stmt {
                    Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                    _ => me.stmt(stmt),
                }
            }
        });
        for stmt in &def.body {
            match stmt {
                Stmt::FunctionDef(method) => {
                    let name = [name, ".", method.name.as_str()];
                    self.in_piece(&name, |me| me.function(method));
                }
                Stmt::ClassDef(def) => self.class(def),
                _ => {}
            }
        }
        self.suggestions.leave(outer_assigned);
        self.recorder.role = outer_role;
        self.names.leave_class(outer_names);
    }

    /// Walks a function: its parameters, then its body.
    pub(super) fn function(&mut self, def: &'a StmtFunctionDef) {
        for decorator in &def.decorator_list {
            self.expr(&decorator.expression);
        }
        for parameter in def.parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                self.expr(default);
                if let Expr::StringLiteral(text) = &**default {
                    let name = parameter.parameter.name.as_str();
                    name_hints::record_activation(
                        &mut self.recorder,
                        name,
                        text.value.to_str(),
                        default.start(),
                    );
                }
            }
        }
        let outer_scope = self.names.scope;
        let outer_role = self.recorder.role;
        self.names.scope = self.names.scopes.opened_by(def.range()).unwrap_or(outer_scope);
        if kinds::is_constructor(def) {
            self.recorder.role = Role::Setup;
        }
        let outermost = self.names.locals.is_empty();
        if outermost {
            self.names.tensors = TensorNames::of(&def.body, self.names.scope);
        }
        self.names.locals.enter();
        self.parameters(def);
        let outer_assigned = self.suggestions.enter();
        self.body(&def.body);
        self.suggestions.method(&self.names, &mut self.recorder, def);
        self.suggestions.leave(outer_assigned);
        self.names.locals.leave();
        if outermost {
            self.names.tensors = TensorNames::default();
        }
        self.names.scope = outer_scope;
        self.recorder.role = outer_role;
    }

    fn parameters(&mut self, def: &'a StmtFunctionDef) {
        let forward = matches!(def.name.as_str(), "forward" | "__call__")
            && self.names.class.as_ref().is_some_and(|class| class.module);
        for parameter in def.parameters.iter_non_variadic_params() {
            let name = parameter.parameter.name.as_str();
            if name == "self" || name == "cls" {
                continue;
            }
            let annotation = parameter.parameter.annotation.as_deref();
            let kind = annotation
                .and_then(|annotation| kinds::annotated_kind(annotation, self.names.text))
                .or_else(|| parameter.default.as_deref().and_then(kinds::default_kind));
            let kind = kind.unwrap_or_else(|| {
                let used = (forward && annotation.is_none()) || {
                    let evident = self.names.tensors.uses(self.names.scopes);
                    evident.by_method.contains(name) || evident.like_arrays.contains(name)
                };
                if used { Kind::Likely } else { Kind::Maybe }
            });
            self.names.locals.give(name, kind);
        }
        if let Some(args) = &def.parameters.vararg {
            let kind = if forward { Kind::Seq } else { Kind::Maybe };
            self.names.locals.give(args.name.as_str(), kind);
        }
    }

    pub(super) fn body(&mut self, body: &'a [Stmt]) {
        self.suggestions.body(&self.names, &mut self.recorder, body);
        for stmt in body {
            self.stmt(stmt);
            // After `if True: return …`, no statement runs.
            if let Stmt::If(one) = stmt
                && self.names.truth(&one.test) == Some(true)
                && constant_conditions::leaves(&one.body)
            {
                return;
            }
            if matches!(stmt, Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_))
            {
                return;
            }
        }
    }

    /// Walks the branches of a condition that may run.
    fn branches(
        &mut self,
        one: &'a ruff_python_ast::StmtIf,
        mut walk: impl FnMut(&mut Self, &'a [Stmt]),
    ) {
        let mut test = Some(&*one.test);
        let mut body = &*one.body;
        let mut rest = one.elif_else_clauses.iter();
        loop {
            let truth = test.map_or(Some(true), |test| {
                let truth = self.names.truth(test);
                if truth != Some(false) {
                    self.narrow(test);
                }
                truth
            });
            if truth != Some(false) {
                walk(self, body);
            }
            if truth == Some(true) {
                return;
            }
            let Some(next) = rest.next() else { return };
            test = next.test.as_ref();
            body = &next.body;
        }
    }

    /// Evaluates a condition, and narrows a name to a tensor if the condition requires one.
    fn narrow(&mut self, test: &'a Expr) {
        self.tested(test);
        if let Expr::Call(call) = test
            && let [Expr::Name(name), kind] = &*call.arguments.args
            && call.func.as_name_expr().is_some_and(|name| name.id == "isinstance")
            && let Some(path) = self.names.path(kind)
            && matches!(path.as_str(), "torch.Tensor" | "torch.nn.Parameter")
        {
            self.bind_name(name.id.as_str(), Kind::Tensor);
        }
    }

    pub(super) fn bind_name(&mut self, name: &'a str, kind: Kind) {
        self.names.locals.give(name, kind);
    }

    /// Assigns a kind to a target.
    pub(super) fn bind(&mut self, target: &'a Expr, kind: Kind) {
        match target {
            Expr::Name(name) => self.bind_name(name.id.as_str(), kind),
            Expr::Tuple(tuple) => {
                tuple.elts.iter().for_each(|target| self.bind(target, kind.element()));
            }
            Expr::List(list) => {
                list.elts.iter().for_each(|target| self.bind(target, kind.element()));
            }
            Expr::Starred(starred) => self.bind(&starred.value, Kind::Seq),
            Expr::Subscript(subscript) => self.store(subscript, kind),
            Expr::Attribute(attribute) => {
                self.expr(&attribute.value);
            }
            _ => {}
        }
    }

    /// Assigns `a, b = x, y` element by element.
    fn assign(&mut self, target: &'a Expr, value: &'a Expr) {
        if let (Expr::Tuple(targets), Expr::Tuple(values)) = (target, value)
            && targets.elts.len() == values.elts.len()
            && !values.elts.iter().any(Expr::is_starred_expr)
        {
            let kinds: Vec<Kind> = values.elts.iter().map(|value| self.expr(value)).collect();
            for (target, kind) in targets.elts.iter().zip(kinds) {
                self.bind(target, kind);
            }
            return;
        }
        let kind = self.expr(value);
        self.bind(target, kind);
        match target {
            Expr::Name(name) => self.suggestions.assign(name.id.as_str(), value),
            // `values, indices = x.sort()`: patterns use only the first result.
            Expr::Tuple(tuple) => {
                if let Some(Expr::Name(name)) = tuple.elts.first() {
                    self.suggestions.assign(name.id.as_str(), value);
                }
            }
            _ => {}
        }
    }

    pub(super) fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                self.bind_name(def.name.as_str(), Kind::Maybe);
                self.function(def);
            }
            Stmt::ClassDef(def) => self.class(def),
            Stmt::Return(one) => {
                if let Some(value) = &one.value {
                    self.expr(value);
                }
            }
            Stmt::Assign(assign) => match &*assign.targets {
                [target] => self.assign(target, &assign.value),
                targets => {
                    let kind = self.expr(&assign.value);
                    for target in targets {
                        self.bind(target, kind);
                    }
                }
            },
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    let kind = self.expr(value);
                    let said = kinds::annotated_kind(&assign.annotation, self.names.text);
                    self.bind(&assign.target, said.unwrap_or(kind));
                }
            }
            Stmt::AugAssign(assign) => self.augmented(assign),
            Stmt::For(each) => {
                self.suggestions.for_loop(&self.names, &mut self.recorder, each);
                let kind = self.expr(&each.iter);
                if kind == Kind::Tensor {
                    self.recorder.operator("iter", each.iter.start(), false);
                }
                self.bind(&each.target, kind.element());
                self.body(&each.body);
                self.body(&each.orelse);
            }
            Stmt::While(one) => {
                self.tested(&one.test);
                if self.names.truth(&one.test) != Some(false) {
                    self.body(&one.body);
                }
                self.body(&one.orelse);
            }
            Stmt::If(one) => self.branches(one, Self::body),
            Stmt::With(with) => {
                for item in &with.items {
                    let kind = self.expr(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.bind(target, if kind.is_tensor() { kind } else { Kind::Maybe });
                    }
                }
                self.body(&with.body);
            }
            Stmt::Try(one) => {
                self.body(&one.body);
                for handler in &one.handlers {
                    let ExceptHandler::ExceptHandler(handler) = handler;
                    self.body(&handler.body);
                }
                self.body(&one.orelse);
                self.body(&one.finalbody);
            }
            Stmt::Match(one) => {
                self.expr(&one.subject);
                one.cases.iter().for_each(|case| self.body(&case.body));
            }
            Stmt::Import(import) => {
                let required = std::mem::take(&mut self.at_top);
                for alias in &import.names {
                    let module = alias.name.as_str();
                    name_hints::record_import(&mut self.recorder, module, alias.start(), required);
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                let required = std::mem::take(&mut self.at_top);
                if let Some(module) = &import.module {
                    let module = module.as_str();
                    name_hints::record_import(&mut self.recorder, module, import.start(), required);
                }
            }
            Stmt::Expr(one) => {
                self.expr(&one.value);
            }
            // Conditions and messages of `assert` and `raise` are not computations of the model.
            _ => {}
        }
    }
}
