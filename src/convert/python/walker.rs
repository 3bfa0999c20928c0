//! Walks a module once, in Python's order of evaluation: statements, and the state of the walk.
//! [`super::walk_expressions`] walks expressions, [`super::walk_calls`] walks calls.

use std::borrow::Cow;
use std::rc::Rc;

use foldhash::HashMap;
use ruff_python_ast::{
    ExceptHandler, Expr, Parameters, Pattern, Stmt, StmtClassDef, StmtFunctionDef,
};
use ruff_text_size::{Ranged as _, TextRange};

use super::edits::Edits;
use super::import_edits::ImportEdits;
use super::literal::{self, span};
use super::names::{backend_like, cuda_device, device_like, other_device};
use super::role_flow::RoleFlow;
use super::roles::Role;
use super::source::Source;
use super::string_candidate::{Candidate, Hint};
use super::test_parameters;
use super::value_flow::Slot;
use crate::rules::{Match, Place, Rules};
use pysyntax::scope::{Resolved, ScopeId};

/// The walk through one module.
pub(super) struct Walker<'a> {
    pub source: &'a Source<'a>,
    pub flow: RoleFlow<'a>,
    pub candidates: Vec<Candidate<'a>>,
    pub scope: ScopeId,
    /// The enclosing functions, innermost last: scope and name.
    pub functions: Vec<(ScopeId, &'a str)>,
    /// The enclosing classes, innermost last.
    pub classes: Vec<&'a StmtClassDef>,
    /// Fixtures of tests by name, and the scopes that they open.
    fixtures: HashMap<&'a str, ScopeId>,
    /// Parameters of all functions, with the scopes that bind them.
    parameters: Vec<(&'a str, ScopeId)>,
    /// The last resolved expression: a call resolves its function, and so does the function itself.
    resolved: Option<(&'a Expr, ScopeId, Option<Rc<Resolved>>)>,
}

impl<'a> Walker<'a> {
    /// Begins at module level with an empty plan.
    pub(super) fn new(source: &'a Source<'a>, edits: Edits<'a>) -> Self {
        Self {
            source,
            flow: RoleFlow::new(source, edits),
            candidates: Vec::new(),
            scope: 0,
            functions: Vec::new(),
            classes: Vec::new(),
            fixtures: HashMap::default(),
            parameters: Vec::new(),
            resolved: None,
        }
    }

    /// Walks a module.
    pub(super) fn visit_module(&mut self, body: &'a [Stmt]) {
        self.visit_body(body);
        // A parameter of a test is the result of the fixture of the same name.
        for (name, scope) in std::mem::take(&mut self.parameters) {
            if let Some(fixture) = self.fixtures.get(name) {
                let (parameter, result) = (Slot::Name(scope, name), Slot::Returns(*fixture));
                self.flow.values.read(parameter.clone(), &result);
                self.flow.values.read(result, &parameter);
            }
        }
    }

    pub(super) fn visit_body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.visit_stmt(stmt);
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.visit_function(def, stmt.range()),
            Stmt::ClassDef(def) => {
                def.decorator_list
                    .iter()
                    .for_each(|one| self.visit_expr(&one.expression, Hint::Quiet));
                if let Some(arguments) = &def.arguments {
                    arguments.args.iter().for_each(|one| self.visit_expr(one, Hint::Quiet));
                    arguments
                        .keywords
                        .iter()
                        .for_each(|one| self.visit_expr(&one.value, Hint::Quiet));
                    self.flow.pass_keywords(arguments, self.scope);
                }
                self.mark_members(def);
                self.classes.push(def);
                self.visit_inside(stmt.range(), |me| me.visit_body(&def.body));
                self.classes.pop();
            }
            Stmt::Return(one) => {
                if let Some(value) = &one.value {
                    self.record_return(value);
                    self.visit_expr(value, Hint::Quiet);
                }
            }
            Stmt::Delete(one) => {
                one.targets.iter().for_each(|one| self.visit_expr(one, Hint::Quiet));
            }
            Stmt::Assign(one) => {
                for target in &one.targets {
                    self.record_assignment(target, &one.value);
                }
                one.targets.iter().for_each(|target| self.visit_expr(target, Hint::Quiet));
                self.visit_expr(&one.value, Hint::Quiet);
            }
            Stmt::AugAssign(one) => {
                self.record_assignment(&one.target, &one.value);
                self.visit_expr(&one.target, Hint::Quiet);
                self.visit_expr(&one.value, Hint::Quiet);
            }
            Stmt::AnnAssign(one) => {
                self.visit_annotation(&one.annotation);
                self.visit_expr(&one.target, Hint::Quiet);
                if let Some(value) = &one.value {
                    self.record_assignment(&one.target, value);
                    self.visit_expr(value, Hint::Quiet);
                }
            }
            Stmt::TypeAlias(one) => self.visit_annotation(&one.value),
            Stmt::For(one) => {
                self.record_loop(&one.target, &one.iter);
                self.visit_expr(&one.target, Hint::Quiet);
                self.visit_expr(&one.iter, Hint::Quiet);
                self.visit_body(&one.body);
                self.visit_body(&one.orelse);
            }
            Stmt::While(one) => {
                self.visit_expr(&one.test, Hint::Quiet);
                self.visit_body(&one.body);
                self.visit_body(&one.orelse);
            }
            Stmt::If(one) => {
                self.visit_expr(&one.test, Hint::Quiet);
                self.visit_body(&one.body);
                for clause in &one.elif_else_clauses {
                    clause.test.iter().for_each(|test| self.visit_expr(test, Hint::Quiet));
                    self.visit_body(&clause.body);
                }
            }
            Stmt::With(one) => {
                for item in &one.items {
                    self.visit_expr(&item.context_expr, Hint::Quiet);
                    item.optional_vars
                        .iter()
                        .for_each(|target| self.visit_expr(target, Hint::Quiet));
                }
                self.visit_body(&one.body);
            }
            Stmt::Match(one) => {
                self.visit_expr(&one.subject, Hint::Quiet);
                for case in &one.cases {
                    self.visit_pattern(&case.pattern, &one.subject);
                    case.guard.iter().for_each(|guard| self.visit_expr(guard, Hint::Quiet));
                    self.visit_body(&case.body);
                }
            }
            Stmt::Raise(one) => {
                one.exc.iter().for_each(|exc| self.visit_expr(exc, Hint::Words));
                one.cause.iter().for_each(|cause| self.visit_expr(cause, Hint::Quiet));
            }
            Stmt::Try(one) => {
                self.visit_body(&one.body);
                for ExceptHandler::ExceptHandler(handler) in &one.handlers {
                    handler.type_.iter().for_each(|kind| self.visit_expr(kind, Hint::Quiet));
                    self.visit_body(&handler.body);
                }
                self.visit_body(&one.orelse);
                self.visit_body(&one.finalbody);
            }
            Stmt::Assert(one) => {
                self.visit_expr(&one.test, Hint::Quiet);
                one.msg.iter().for_each(|message| self.visit_expr(message, Hint::Words));
            }
            Stmt::Import(one) => self.import_edits().plan_import(one),
            Stmt::ImportFrom(one) => self.import_edits().plan_import_from(one),
            // A string that is a statement is documentation.
            Stmt::Expr(one) if one.value.is_string_literal_expr() => {}
            Stmt::Expr(one) => self.visit_expr(&one.value, Hint::Quiet),
            Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::IpyEscapeCommand(_) => {}
        }
    }

    /// `CPU = "cpu"` next to `CUDA = "cuda"` in an enum: its members are devices.
    fn mark_members(&mut self, class: &'a StmtClassDef) {
        let is_enum =
            class.bases().iter().any(|base| self.source.text[base.range()].ends_with("Enum"));
        let values = || class.body.iter().filter_map(Stmt::as_assign_stmt).map(|one| &*one.value);
        let texts = || values().filter_map(literal::plain);
        if !is_enum || !texts().all(|text| other_device(text) || cuda_device(text)) {
            return;
        }
        if texts().any(other_device) {
            for value in values() {
                self.flow.spread(value, Role::device(Place::DeviceTypeMembership), self.scope);
            }
        }
    }

    pub(super) fn import_edits(&mut self) -> ImportEdits<'_, 'a> {
        ImportEdits { source: self.source, edits: &mut self.flow.edits }
    }

    /// Walks the inside of a node, in the scope that the node opens.
    pub(super) fn visit_inside(&mut self, node: TextRange, walk: impl FnOnce(&mut Self)) {
        let outer = self.scope;
        self.scope = self.source.scopes.opened_by(node).unwrap_or(outer);
        walk(self);
        self.scope = outer;
    }

    fn visit_function(&mut self, def: &'a StmtFunctionDef, range: TextRange) {
        def.decorator_list.iter().for_each(|one| self.visit_expr(&one.expression, Hint::Quiet));
        def.returns.iter().for_each(|returns| self.visit_annotation(returns));
        let opened = self.source.scopes.opened_by(range).unwrap_or(self.scope);
        self.visit_parameters(&def.parameters, opened);
        let name = def.name.as_str();
        if name == "cuda"
            && !self.classes.is_empty()
            && self.source.imports.tensors_are_torch()
            && self.source.imports.may_hold_devices()
        {
            let rule = Rules::builtin().site(Place::ModuleCuda);
            self.flow.edits.note(rule, span(def.name.range()), Some("def cuda".to_owned()));
        }
        if name == "to"
            && !self.classes.is_empty()
            && let Some(first) = def.parameters.iter_non_variadic_params().nth(1)
        {
            let slot = Slot::Name(opened, first.name().as_str());
            self.flow.values.mark(&slot, Role::device(Place::ToDevice));
        }
        if device_like(name) && !name.contains("count") {
            self.flow.values.mark(&Slot::Returns(opened), Role::device(Place::DeviceString));
        } else if backend_like(name) {
            self.flow.values.mark(&Slot::Returns(opened), Role::backend(Place::BackendString));
        }
        if test_parameters::names_cuda(def) {
            self.flow.edits.flag_site(Place::TestParameters, def.decorator_list[0].range());
            self.flow.edits.keep(range);
        }
        if test_parameters::is_fixture(def) {
            self.fixtures.insert(name, opened);
        }
        self.pass_options(def, opened);
        for parameter in def.parameters.iter_non_variadic_params() {
            self.parameters.push((parameter.name().as_str(), opened));
        }
        self.functions.push((opened, name));
        self.visit_inside(range, |me| me.visit_body(&def.body));
        self.functions.pop();
    }

    pub(super) fn visit_parameters(&mut self, parameters: &'a Parameters, opened: ScopeId) {
        for parameter in parameters {
            parameter.annotation().iter().for_each(|annotation| self.visit_annotation(annotation));
            let Some(default) = parameter.default() else { continue };
            let name = parameter.name().as_str();
            let slot = Slot::Name(opened, name);
            // In a file without tensors, the bare name is weak evidence.
            if self.source.imports.may_hold_devices() {
                self.flow.values.mark_by_name(&slot, name);
            }
            self.flow.give(slot, default, self.scope);
            self.visit_expr(default, Hint::Quiet);
        }
    }

    /// Walks an annotation: `Literal["cpu", "cuda"]` lists devices, a plain string names a type.
    fn visit_annotation(&mut self, annotation: &'a Expr) {
        self.visit_expr(annotation, Hint::Quiet);
    }

    fn record_return(&mut self, value: &'a Expr) {
        let Some(&(opened, _)) = self.functions.last() else { return };
        self.flow.give(Slot::Returns(opened), value, self.scope);
        if self.source.lists_devices(value) {
            self.flow.values.mark(&Slot::Returns(opened), Role::device(Place::DeviceString));
        }
    }

    /// Records `target = value`: a slot holds a device by its name or by its other values.
    pub(super) fn record_assignment(&mut self, target: &'a Expr, value: &'a Expr) {
        if let (Expr::Tuple(targets), Expr::Tuple(values)) = (target, value)
            && targets.elts.len() == values.elts.len()
        {
            for (target, value) in targets.elts.iter().zip(&values.elts) {
                self.record_assignment(target, value);
            }
            return;
        }
        self.assign_environment(target, value);
        if let Some(slot) = self.source.slot(target, self.scope) {
            let name: Cow<'a, str> = match &slot {
                Slot::Name(_, name) | Slot::Key(name) => Cow::Borrowed(name),
                Slot::Attr(name) => name.clone(),
                Slot::Returns(_) | Slot::Foreign(_) => return,
            };
            if self.flow.values.mark_by_name(&slot, &name) {
            } else if self.source.lists_devices(value)
                || value.is_call_expr() && self.source.is_device(value, self.scope)
            {
                self.flow.values.mark(&slot, Role::device(Place::DeviceString));
            } else if self.source.lists_backends(value) {
                self.flow.values.mark(&slot, Role::backend(Place::BackendString));
            }
            // A field of a class is an attribute of its objects.
            if let (Slot::Name(..), true) = (&slot, self.in_class_body()) {
                let field = Slot::Attr(name);
                self.flow.give(field, value, self.scope);
            }
            self.flow.give(slot, value, self.scope);
        }
    }

    /// `target = value` where the target is `os.environ['…']`.
    fn assign_environment(&mut self, target: &'a Expr, value: &'a Expr) {
        if let Expr::Subscript(subscript) = target
            && literal::plain(&subscript.slice)
                .is_some_and(|name| Rules::builtin().find(Match::Env, name).is_some())
        {
            self.flow.environment.plan_name(&mut self.flow.edits, &subscript.slice, Some(value));
        }
    }

    fn in_class_body(&self) -> bool {
        self.classes.last().is_some_and(|class| {
            self.source.scopes.opened_by(class.range()).is_some_and(|opened| opened == self.scope)
        })
    }

    /// Records `for target in iter`: the target holds the elements.
    pub(super) fn record_loop(&mut self, target: &'a Expr, iter: &'a Expr) {
        if let Some(slot) = self.source.slot(target, self.scope) {
            if let Slot::Name(_, name) = &slot {
                self.flow.values.mark_by_name(&slot, name);
            }
            self.flow.give(slot, iter, self.scope);
        }
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern, subject: &'a Expr) {
        match pattern {
            Pattern::MatchValue(value) => self.compare_pair(subject, &value.value),
            Pattern::MatchOr(either) => {
                either.patterns.iter().for_each(|one| self.visit_pattern(one, subject));
            }
            Pattern::MatchAs(named) => {
                named.pattern.iter().for_each(|one| self.visit_pattern(one, subject));
            }
            _ => {}
        }
    }

    /// Returns the dotted path of an expression at the current place of the walk.
    pub(super) fn resolve(&mut self, expr: &'a Expr) -> Option<Rc<Resolved>> {
        if let Some((last, scope, found)) = &self.resolved
            && std::ptr::eq(*last, expr)
            && *scope == self.scope
        {
            return found.clone();
        }
        let found = self.source.scopes.resolve(expr, self.scope).map(Rc::new);
        self.resolved = Some((expr, self.scope, found.clone()));
        found
    }
}
