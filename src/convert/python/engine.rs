//! Walks a module once, in Python's order, and decides what becomes of every place.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use foldhash::{HashMap, HashSet};
use ruff_python_ast::{
    ExceptHandler, Expr, Parameters, Pattern, Stmt, StmtClassDef, StmtFunctionDef,
};
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use super::aware;
use super::flow::{Flow, Slot};
use super::imports::Imports;
use super::keys::Keys;
use super::literal;
use super::names::{backend_like, device_like};
use super::roles::{Role, Want};
use super::{Context, literal::span};
use crate::rules::{Match, Place, Rule, Rules};
use crate::site::{Certainty, Planner};
use pysyntax::scope::{Resolved, ScopeId, Scopes, parts};

/// What is known of the strings that stand where the walk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// Nothing: only what can be nothing else is a device.
    Quiet,
    /// An argument of an unknown function: a whole `'cuda'` is a device, likely.
    Any,
    /// Words for people, or the name of something else.
    Words,
    /// One of several words of a kind that is not known: no word alone is a backend.
    Among,
    /// A key.
    Key,
}

/// A string that may be a device, until the flow of values has been followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub expr: &'a Expr,
    pub hint: Hint,
}

/// The walk through one module.
pub(super) struct Engine<'a> {
    pub text: &'a str,
    pub context: &'a Context<'a>,
    pub rules: &'static Rules,
    pub scopes: Scopes<'a>,
    pub planner: Planner<'a>,
    pub imports: Imports<'a>,
    pub flow: Flow<'a>,
    pub scope: ScopeId,
    /// The functions around the walk, innermost last: scope and name.
    pub functions: Vec<(ScopeId, &'a str)>,
    /// The classes around the walk, innermost last.
    pub classes: Vec<&'a StmtClassDef>,
    /// Methods of the file by name.
    pub methods: HashMap<&'a str, Vec<&'a StmtFunctionDef>>,
    /// Attributes that the file assigns or defines itself (`self.cuda = …`, `def cuda`).
    pub own_attributes: HashMap<&'a str, Own>,
    pub candidates: Vec<Candidate<'a>>,
    /// Keys that may be devices.
    pub keys: Keys<'a>,
    kept: Vec<TextRange>,
    environment: HashSet<TextRange>,
    /// What was resolved last: a call asks for its function, and so does the function itself.
    resolved: Option<(&'a Expr, ScopeId, Option<Rc<Resolved>>)>,
}

/// How a file defines an attribute itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Own {
    /// `self.x = …`
    pub assigned: bool,
    /// `@property def x(self)`
    pub property: bool,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        text: &'a str,
        body: &'a [Stmt],
        off: Vec<TextRange>,
        context: &'a Context<'a>,
    ) -> Self {
        let mut kept = aware::kept(body, text);
        kept.extend(off);
        let kept = aware::merged(kept);
        let scopes = Scopes::of(body, context.package, &|path| context.exports(path));
        let imports = Imports::of(body, &scopes, context);
        Self {
            text,
            context,
            rules: Rules::builtin(),
            scopes,
            planner: Planner::new(text),
            imports,
            flow: Flow::default(),
            scope: 0,
            functions: Vec::new(),
            classes: Vec::new(),
            methods: HashMap::default(),
            own_attributes: HashMap::default(),
            candidates: Vec::new(),
            keys: Keys::default(),
            kept,
            environment: HashSet::default(),
            resolved: None,
        }
    }

    /// Whether a place is left alone: NPUs are handled beside it, or a comment says so.
    pub(super) fn is_kept(&self, range: &Range<usize>) -> bool {
        let at = |offset: usize| TextSize::try_from(offset).unwrap_or_default();
        aware::covers(&self.kept, at(range.start), at(range.end))
    }

    pub(super) fn change(
        &mut self,
        rule: &'static Rule,
        range: Range<usize>,
        text: impl Into<String>,
        certainty: Certainty,
    ) {
        if !self.is_kept(&range) && !self.planner.touched(&range) {
            self.planner.change(rule, range, text, certainty);
        }
    }

    pub(super) fn flag(
        &mut self,
        rule: &'static Rule,
        range: Range<usize>,
        detail: Option<String>,
    ) {
        if !self.is_kept(&range) {
            self.planner.flag(rule, range, detail);
        }
    }

    pub(super) fn note(
        &mut self,
        rule: &'static Rule,
        range: Range<usize>,
        detail: Option<String>,
    ) {
        if !self.is_kept(&range) {
            self.planner.note(rule, range, detail);
        }
    }

    pub(super) fn flag_site(&mut self, site: Place, range: TextRange) {
        self.flag(self.rules.site(site), span(range), None);
    }

    /// Leaves `range` alone from here on.
    pub(super) fn keep_range(&mut self, range: TextRange) {
        self.kept.push(range);
        self.kept = aware::merged(std::mem::take(&mut self.kept));
    }

    /// Whether an environment variable's name is met for the first time.
    pub(super) fn first_environment(&mut self, name: &Expr) -> bool {
        self.environment.insert(name.range())
    }

    /// Walks the whole module and follows the flow of values to its end.
    pub(super) fn run(&mut self, body: &'a [Stmt]) {
        self.survey(body);
        self.body(body);
        self.follow();
        self.settle_keys();
        self.follow();
        self.settle_candidates();
    }

    /// Follows the flow of values to its end.
    fn follow(&mut self) {
        loop {
            while let Some((role, scope, expr)) = self.flow.next() {
                self.spread_in(scope, expr, role);
            }
            let compared = self.flow.take_compared();
            if compared.is_empty() {
                break;
            }
            for (want, scope, expr) in compared {
                let role = match want {
                    Want::Backend => Role::backend(Place::BackendComparison),
                    _ => Role::device(Place::DeviceTypeComparison),
                };
                self.spread_in(scope, expr, role);
            }
        }
    }

    /// What the name of a slot says of its values.
    pub(super) fn mark_by_name(&mut self, slot: &Slot<'a>, name: &str) -> bool {
        let role = by_name(name);
        if let Some(role) = role {
            self.flow.mark(slot, role);
        }
        if name == "map_location" {
            self.flow.mark(slot, Role::LOCATION);
        }
        role.is_some()
    }

    pub(super) fn body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.function(def, stmt.range()),
            Stmt::ClassDef(def) => {
                def.decorator_list.iter().for_each(|one| self.expr(&one.expression, Hint::Quiet));
                if let Some(arguments) = &def.arguments {
                    arguments.args.iter().for_each(|one| self.expr(one, Hint::Quiet));
                    arguments.keywords.iter().for_each(|one| self.expr(&one.value, Hint::Quiet));
                }
                self.classes.push(def);
                self.inside(stmt.range(), |me| me.body(&def.body));
                self.classes.pop();
            }
            Stmt::Return(one) => {
                if let Some(value) = &one.value {
                    self.returned(value);
                    self.expr(value, Hint::Quiet);
                }
            }
            Stmt::Delete(one) => one.targets.iter().for_each(|one| self.expr(one, Hint::Quiet)),
            Stmt::Assign(one) => {
                for target in &one.targets {
                    self.assign(target, &one.value);
                }
                one.targets.iter().for_each(|target| self.expr(target, Hint::Quiet));
                self.expr(&one.value, Hint::Quiet);
            }
            Stmt::AugAssign(one) => {
                self.assign(&one.target, &one.value);
                self.expr(&one.target, Hint::Quiet);
                self.expr(&one.value, Hint::Quiet);
            }
            Stmt::AnnAssign(one) => {
                self.annotation(&one.annotation);
                self.expr(&one.target, Hint::Quiet);
                if let Some(value) = &one.value {
                    self.assign(&one.target, value);
                    self.expr(value, Hint::Quiet);
                }
            }
            Stmt::TypeAlias(one) => self.annotation(&one.value),
            Stmt::For(one) => {
                self.looped(&one.target, &one.iter);
                self.expr(&one.target, Hint::Quiet);
                self.expr(&one.iter, Hint::Quiet);
                self.body(&one.body);
                self.body(&one.orelse);
            }
            Stmt::While(one) => {
                self.expr(&one.test, Hint::Quiet);
                self.body(&one.body);
                self.body(&one.orelse);
            }
            Stmt::If(one) => {
                self.expr(&one.test, Hint::Quiet);
                self.body(&one.body);
                for clause in &one.elif_else_clauses {
                    clause.test.iter().for_each(|test| self.expr(test, Hint::Quiet));
                    self.body(&clause.body);
                }
            }
            Stmt::With(one) => {
                for item in &one.items {
                    self.expr(&item.context_expr, Hint::Quiet);
                    item.optional_vars.iter().for_each(|target| self.expr(target, Hint::Quiet));
                }
                self.body(&one.body);
            }
            Stmt::Match(one) => {
                self.expr(&one.subject, Hint::Quiet);
                for case in &one.cases {
                    self.pattern(&case.pattern, &one.subject);
                    case.guard.iter().for_each(|guard| self.expr(guard, Hint::Quiet));
                    self.body(&case.body);
                }
            }
            Stmt::Raise(one) => {
                one.exc.iter().for_each(|exc| self.expr(exc, Hint::Words));
                one.cause.iter().for_each(|cause| self.expr(cause, Hint::Quiet));
            }
            Stmt::Try(one) => {
                self.body(&one.body);
                for ExceptHandler::ExceptHandler(handler) in &one.handlers {
                    handler.type_.iter().for_each(|kind| self.expr(kind, Hint::Quiet));
                    self.body(&handler.body);
                }
                self.body(&one.orelse);
                self.body(&one.finalbody);
            }
            Stmt::Assert(one) => {
                self.expr(&one.test, Hint::Quiet);
                one.msg.iter().for_each(|message| self.expr(message, Hint::Words));
            }
            Stmt::Import(one) => self.import(one),
            Stmt::ImportFrom(one) => self.import_from(one),
            // A string that stands alone is documentation.
            Stmt::Expr(one) if one.value.is_string_literal_expr() => {}
            Stmt::Expr(one) => self.expr(&one.value, Hint::Quiet),
            Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::IpyEscapeCommand(_) => {}
        }
    }

    pub(super) fn inside(&mut self, node: TextRange, walk: impl FnOnce(&mut Self)) {
        let outer = self.scope;
        self.scope = self.scopes.opened_by(node).unwrap_or(outer);
        walk(self);
        self.scope = outer;
    }

    fn function(&mut self, def: &'a StmtFunctionDef, range: TextRange) {
        def.decorator_list.iter().for_each(|one| self.expr(&one.expression, Hint::Quiet));
        def.returns.iter().for_each(|returns| self.annotation(returns));
        let opened = self.scopes.opened_by(range).unwrap_or(self.scope);
        self.parameters(&def.parameters, opened);
        let name = def.name.as_str();
        if name == "cuda" && !self.classes.is_empty() {
            let rule = self.rules.site(Place::ModuleCuda);
            self.note(rule, span(def.name.range()), Some("def cuda".to_owned()));
        }
        if name == "to"
            && !self.classes.is_empty()
            && let Some(first) = def.parameters.iter_non_variadic_params().nth(1)
        {
            let slot = Slot::Name(opened, first.name().as_str());
            self.flow.mark(&slot, Role::device(Place::ToDevice));
        }
        if device_like(name) && !name.contains("count") {
            self.flow.mark(&Slot::Returns(opened), Role::device(Place::DeviceString));
        } else if backend_like(name) {
            self.flow.mark(&Slot::Returns(opened), Role::backend(Place::BackendString));
        }
        self.functions.push((opened, name));
        self.inside(range, |me| me.body(&def.body));
        self.functions.pop();
    }

    pub(super) fn parameters(&mut self, parameters: &'a Parameters, opened: ScopeId) {
        for parameter in parameters {
            parameter.annotation().iter().for_each(|annotation| self.annotation(annotation));
            let Some(default) = parameter.default() else { continue };
            let name = parameter.name().as_str();
            let slot = Slot::Name(opened, name);
            self.mark_by_name(&slot, name);
            self.flow.give(slot, self.scope, default);
            self.expr(default, Hint::Quiet);
        }
    }

    /// An annotation: `Literal["cpu", "cuda"]` lists devices, a string names a type.
    fn annotation(&mut self, annotation: &'a Expr) {
        self.expr(annotation, Hint::Quiet);
    }

    fn returned(&mut self, value: &'a Expr) {
        let Some(&(opened, _)) = self.functions.last() else { return };
        self.flow.give(Slot::Returns(opened), self.scope, value);
        if self.lists_devices(value) {
            self.flow.mark(&Slot::Returns(opened), Role::device(Place::DeviceString));
        }
    }

    /// `target = value`: what holds a device by name or by what it is given beside.
    pub(super) fn assign(&mut self, target: &'a Expr, value: &'a Expr) {
        if let (Expr::Tuple(targets), Expr::Tuple(values)) = (target, value)
            && targets.elts.len() == values.elts.len()
        {
            for (target, value) in targets.elts.iter().zip(&values.elts) {
                self.assign(target, value);
            }
            return;
        }
        self.environment_assignment(target, value);
        if let Some(slot) = self.slot(target) {
            let name: Cow<'a, str> = match &slot {
                Slot::Name(_, name) | Slot::Key(name) => Cow::Borrowed(name),
                Slot::Attr(name) => name.clone(),
                Slot::Returns(_) => return,
            };
            if self.mark_by_name(&slot, &name) {
            } else if self.lists_devices(value) {
                self.flow.mark(&slot, Role::device(Place::DeviceString));
            } else if self.lists_backends(value) {
                self.flow.mark(&slot, Role::backend(Place::BackendString));
            }
            // A field of a class is an attribute of its objects.
            if let (Slot::Name(..), true) = (&slot, self.in_class_body()) {
                let field = Slot::Attr(name);
                self.flow.give(field, self.scope, value);
            }
            self.flow.give(slot, self.scope, value);
        }
    }

    fn in_class_body(&self) -> bool {
        self.classes.last().is_some_and(|class| {
            self.scopes.opened_by(class.range()).is_some_and(|opened| opened == self.scope)
        })
    }

    /// `for target in iter`: the target holds the elements.
    pub(super) fn looped(&mut self, target: &'a Expr, iter: &'a Expr) {
        if let Some(slot) = self.slot(target) {
            if let Slot::Name(_, name) = &slot {
                self.mark_by_name(&slot, name);
            }
            self.flow.give(slot, self.scope, iter);
        }
    }

    fn pattern(&mut self, pattern: &'a Pattern, subject: &'a Expr) {
        match pattern {
            Pattern::MatchValue(value) => self.compared_pair(subject, &value.value),
            Pattern::MatchOr(either) => {
                either.patterns.iter().for_each(|one| self.pattern(one, subject));
            }
            Pattern::MatchAs(named) => {
                named.pattern.iter().for_each(|one| self.pattern(one, subject));
            }
            _ => {}
        }
    }

    /// What of `expr` can hold a value that is given or used.
    pub(super) fn slot(&self, expr: &'a Expr) -> Option<Slot<'a>> {
        match expr {
            Expr::Name(name) => {
                let home = self.scopes.home(name.id.as_str(), self.scope).unwrap_or(self.scope);
                Some(Slot::Name(home, name.id.as_str()))
            }
            Expr::Attribute(attribute) if !self.is_of_torch(expr) => {
                Some(Slot::Attr(Cow::Borrowed(attribute.attr.as_str())))
            }
            Expr::Subscript(subscript) => match literal::plain(&subscript.slice) {
                Some(key) => Some(Slot::Key(key)),
                // An element of a list.
                None => self.slot(&subscript.value),
            },
            Expr::Starred(starred) => self.slot(&starred.value),
            _ => None,
        }
    }

    /// The dotted path that an expression names where the walk is.
    pub(super) fn resolve(&mut self, expr: &'a Expr) -> Option<Rc<Resolved>> {
        if let Some((last, scope, found)) = &self.resolved
            && std::ptr::eq(*last, expr)
            && *scope == self.scope
        {
            return found.clone();
        }
        let found = self.scopes.resolve(expr, self.scope).map(Rc::new);
        self.resolved = Some((expr, self.scope, found.clone()));
        found
    }

    /// Whether a chain of attributes starts at an import of torch.
    fn is_of_torch(&self, expr: &Expr) -> bool {
        // What follows the first name does not change how the path begins.
        let mut first = expr;
        while let Expr::Attribute(attribute) = first {
            first = &attribute.value;
        }
        self.scopes.path(first, self.scope).is_some_and(|path| path.starts_with("torch"))
    }

    /// Whether `object.name` is an attribute of an object that another file defines, and not
    /// a name of a module: `from models import net`, `net.cuda()`.
    pub(super) fn is_of_imported_object(&self, resolved: &Resolved) -> bool {
        if resolved.path.starts_with("torch") {
            return false;
        }
        let attributes = parts(resolved.path.trim_start_matches('.')).saturating_sub(resolved.base);
        if attributes == 0 || !resolved.member && attributes == 1 {
            return false;
        }
        let (above, _) = resolved.path.rsplit_once('.').unwrap_or_default();
        // `numba.cuda` and its like.
        let of_cuda = above.split('.').any(|part| part == "cuda");
        let root = above.split('.').next().unwrap_or_default();
        !of_cuda && self.rule(Match::Library, root).is_none()
    }

    /// The rule of this kind for a name, if `convert` knows it.
    pub(super) fn rule(&self, how: Match, name: &str) -> Option<&'static Rule> {
        self.rules.find(how, name)
    }
}

/// The role that the name of a variable, attribute, key or parameter gives to its values.
pub(super) fn by_name(name: &str) -> Option<Role> {
    if backend_like(name) {
        Some(Role::backend(Place::BackendString))
    } else if device_like(name) {
        Some(Role::device(Place::DeviceString))
    } else {
        None
    }
}
