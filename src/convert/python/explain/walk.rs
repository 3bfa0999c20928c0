//! The walk that finds out what strings and names with tokens are there for. What has no token in
//! it is not entered.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    Alias, CmpOp, ExceptHandler, Expr, ExprCall, ExprContext, FStringPart,
    InterpolatedStringElement, Keyword, Parameters, Stmt, StringLiteral,
};
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use super::meaning::{Meaning, Meanings};
use super::{Subject, calls};
use crate::ledger::entry::{Definition, DefinitionKind, Wanted};
use crate::ledger::text_lines::TextLines;
use crate::ledger::tokens::Token;
use crate::python::literal;
use crate::python::names::canonical;
use crate::python::source::Source;
use crate::rules::{Action, Match, Rule, Rules};
use crate::site::Decision;
use pysyntax::scope::{Binding, ScopeId, root};

/// The walk through one module.
pub(super) struct Walk<'a> {
    source: &'a Source<'a>,
    subject: &'a Subject<'a>,
    lines: &'a TextLines<'a>,
    scope: ScopeId,
    /// What strings are that stand in the expression around them.
    meaning: Meaning,
    /// Whether names that are bound are fields of a class.
    in_class: bool,
    /// Statements that import, in the order of the text.
    imports: Vec<TextRange>,
    found: Meanings,
}

impl<'a> Walk<'a> {
    pub(super) fn of(
        source: &'a Source<'a>,
        subject: &'a Subject<'a>,
        lines: &'a TextLines<'a>,
    ) -> Self {
        Self {
            source,
            subject,
            lines,
            scope: 0,
            meaning: Meaning::Plain,
            in_class: false,
            imports: Vec::new(),
            found: Meanings::default(),
        }
    }

    pub(super) fn run(mut self, body: &'a [Stmt]) -> Meanings {
        self.imports = imports(body);
        self.visit_body(body);
        self.found.strings.sort();
        self.found.names.0.sort();
        self.found
    }

    /// Whether any token stands in `range`.
    fn has_token(&self, range: TextRange) -> bool {
        let tokens: &[Token] = self.subject.tokens;
        let first = tokens.partition_point(|token| token.start < range.start().to_usize());
        tokens.get(first).is_some_and(|token| token.start < range.end().to_usize())
    }

    fn line(&self, at: TextSize) -> u32 {
        self.lines.line(at.to_usize())
    }

    fn define(&mut self, name: &str, range: TextRange, kind: DefinitionKind) {
        if self.has_token(range) {
            let line = self.line(range.start());
            self.found.definitions.push(Definition { name: name.to_owned(), kind, line });
            self.found.names.0.add(range, Meaning::Defined(line));
        }
    }

    fn with(&mut self, meaning: Meaning, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.meaning, meaning);
        walk(self);
        self.meaning = outer;
    }

    fn inside(&mut self, node: TextRange, walk: impl FnOnce(&mut Self)) {
        let outer = self.scope;
        self.scope = self.source.scope_inside(node, outer);
        walk(self);
        self.scope = outer;
    }

    fn bound_kind(&self) -> DefinitionKind {
        if self.in_class { DefinitionKind::Member } else { DefinitionKind::Name }
    }

    /// The rule of the reported site that overlaps a range.
    fn flagged(&self, range: TextRange) -> Option<&'static Rule> {
        let range = literal::span(range);
        let sites = &self.subject.plan.sites;
        let before = sites.partition_point(|site| site.range.start < range.end);
        // Sites of a call begin in it or shortly before.
        sites[..before].iter().rev().take(64).find_map(|site| {
            let meets = site.range.end > range.start && site.decision == Decision::Flagged;
            meets.then_some(site.rule)
        })
    }

    fn parameters(&mut self, parameters: &Parameters) {
        for parameter in parameters {
            let name = parameter.name();
            self.define(name.as_str(), name.range(), DefinitionKind::Parameter);
        }
    }

    /// `import a.b as c`, `from a.b import c as d`.
    fn alias(&mut self, alias: &Alias, module: &str) {
        if let Some(name) = &alias.asname {
            self.define(name.as_str(), name.range(), DefinitionKind::Name);
        }
        let own = alias.name.as_str();
        let path = if module.is_empty() { own.to_owned() } else { format!("{module}.{own}") };
        let meaning = self.path_meaning(&path, alias.name.range());
        self.found.names.0.add(alias.name.range(), meaning);
    }

    /// What a dotted name of an import is.
    fn path_meaning(&self, path: &str, range: TextRange) -> Meaning {
        let first = path.split('.').next().unwrap_or(path);
        if first.is_empty() || self.source.context.is_own_package(first) {
            let last = path.rsplit('.').next().unwrap_or(path);
            let last = if crate::ledger::tokens::any(last.as_bytes()) {
                last
            } else {
                path.rsplit('.').find(|part| crate::ledger::tokens::any(part.as_bytes())).unwrap_or(last)
            };
            return Meaning::Own(last.to_owned(), Wanted::Any);
        }
        if let Some(rule) = self.flagged(range).or_else(|| self.flagged_import(range)) {
            return Meaning::Manual(rule);
        }
        rule_of(path).map_or(Meaning::Plain, |rule| match rule.action {
            Action::Flag => Meaning::Manual(rule),
            _ => Meaning::Rule(rule),
        })
    }

    fn flagged_import(&self, at: TextRange) -> Option<&'static Rule> {
        let after = self.imports.partition_point(|range| range.start() <= at.start());
        let statement = *self.imports.get(after.checked_sub(1)?)?;
        statement.contains_range(at).then(|| self.flagged(statement))?
    }

    /// The import behind a name, if the name is imported.
    fn import(&self, name: &str) -> Option<(&str, TextRange)> {
        let (_, bindings) = self.source.scopes.bindings(name, self.scope)?;
        bindings.iter().find_map(|binding| match binding {
            Binding::Import { path, at, .. } => Some((path.as_str(), *at)),
            _ => None,
        })
    }

    fn name(&mut self, name: &str, range: TextRange) {
        let meaning = match self.import(name) {
            Some((path, at)) => {
                let renamed = path.rsplit('.').next() != Some(name);
                match self.path_meaning(path, at) {
                    // The alias is a name of the project.
                    Meaning::Plain if renamed => Meaning::Defined(self.line(at.start())),
                    Meaning::Own(..) => Meaning::Own(name.to_owned(), Wanted::Any),
                    other => other,
                }
            }
            None if self.source.scopes.bindings(name, self.scope).is_some() => {
                Meaning::Own(name.to_owned(), Wanted::Any)
            }
            None => Meaning::Own(name.to_owned(), Wanted::Any),
        };
        let meaning = match meaning {
            // A variable of this very file may be called as the device is.
            Meaning::Own(name, Wanted::Any) if crate::ledger::tokens::is_bare(&name) => {
                let bound = self.found.definitions.iter().find(|one| {
                    one.name == name && one.kind != DefinitionKind::Member
                        && self.source.scopes.bindings(&name, self.scope).is_some()
                });
                bound.map_or(Meaning::Own(name.clone(), Wanted::Any), |one| Meaning::Defined(one.line))
            }
            other => other,
        };
        self.found.names.0.add(range, meaning);
    }

    fn attribute(&mut self, expr: &'a Expr, name: &str, range: TextRange, called: bool) {
        let own = || Meaning::Own(name.to_owned(), Wanted::Member);
        let path = self.source.scopes.path(expr, self.scope);
        let import = root(expr).and_then(|root| self.import(root));
        let meaning = match (path, import) {
            (Some(path), Some((_, at))) => match self.path_meaning(&path, at) {
                Meaning::Own(..) => own(),
                other => other,
            },
            (Some(path), None) => rule_of(&path).map_or_else(own, Meaning::Rule),
            // A call of the method of tensors: no name of the project explains it.
            (None, _) if called && crate::ledger::tokens::is_bare(name) => Meaning::Plain,
            (None, _) => own(),
        };
        self.found.names.0.add(range, meaning);
    }

    fn keyword(&mut self, call: &ExprCall, keyword: &Keyword) {
        let Some(name) = &keyword.arg else { return };
        if !self.has_token(name.range()) {
            return;
        }
        let path = self.source.scopes.path(&call.func, self.scope);
        let external = path.as_deref().is_some_and(|path| {
            let first = path.split('.').next().unwrap_or(path);
            !(first.is_empty() || self.source.context.is_own_package(first))
        });
        if call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "dict") {
            self.define(name.as_str(), name.range(), DefinitionKind::Key);
        } else {
            let rule = path.as_deref().and_then(rule_of).filter(|rule| rule.action != Action::Rewrite);
            let meaning = match (external, rule) {
                (true, Some(rule)) if rule.action == Action::Flag => Meaning::Manual(rule),
                (true, Some(rule)) => Meaning::Rule(rule),
                (true, None) => Meaning::Plain,
                _ => Meaning::Own(name.to_string(), Wanted::Parameter),
            };
            self.found.names.0.add(name.range(), meaning);
        }
    }

    fn call(&mut self, call: &'a ExprCall) {
        if let Some(rule) = self.flagged(call.func.range()) {
            self.found.manual.push((call.range(), rule));
        }
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        let line = self.line(call.func.range().start());
        match &*call.func {
            Expr::Attribute(attribute) => {
                self.attribute(&call.func, name, attribute.attr.range(), true);
                self.visit_expr(&attribute.value);
            }
            func => self.visit_expr(func),
        }
        let arguments = &call.arguments;
        let message = calls::is_message(name) && !matches!(self.meaning, Meaning::Test(_));
        for (at, argument) in arguments.args.iter().enumerate() {
            let plain = literal::plain(argument);
            let meaning = match plain {
                Some(text) if calls::is_option(name) && !text.is_empty() => {
                    let name = calls::destination(text);
                    self.define_string(&name, argument.range());
                    Meaning::Defined(self.line(argument.range().start()))
                }
                Some(text) if name == "parametrize" && at == 0 => {
                    for name in text.split(',') {
                        self.define_string(name.trim(), argument.range());
                    }
                    Meaning::Defined(self.line(argument.range().start()))
                }
                Some(_) if calls::is_key(name) && at <= 1 => Meaning::Key(Wanted::Member),
                _ if message => Meaning::Prose(line),
                _ => self.meaning.clone(),
            };
            self.with(meaning, |walk| walk.visit_expr(argument));
        }
        for keyword in &arguments.keywords {
            self.keyword(call, keyword);
            let named = keyword.arg.as_ref().map_or("", |name| name.as_str());
            let meaning = match (literal::plain(&keyword.value), named) {
                (_, "match") => Meaning::Test(line),
                (_, named) if calls::is_words(named) => Meaning::Prose(self.line(keyword.range().start())),
                (Some(text), "dest") => {
                    self.define_string(text, keyword.value.range());
                    Meaning::Defined(self.line(keyword.range().start()))
                }
                (_, "file" | "end" | "sep") => Meaning::Plain,
                _ if message => Meaning::Prose(line),
                _ => Meaning::Plain,
            };
            self.with(meaning, |walk| walk.visit_expr(&keyword.value));
        }
    }

    /// A definition that a string names.
    fn define_string(&mut self, name: &str, range: TextRange) {
        if self.has_token(range) {
            let line = self.line(range.start());
            let kind = DefinitionKind::Key;
            self.found.definitions.push(Definition { name: name.to_owned(), kind, line });
        }
    }

    fn literal(&mut self, part: &StringLiteral) {
        let content = literal::content(part);
        self.found.strings.add(super::text_range(&content), self.meaning.clone());
    }

    /// Keys of a dictionary: defined by it, unless they are devices.
    fn key(&mut self, key: &'a Expr, table: u32) {
        match literal::plain(key) {
            Some(text) if !super::is_device(text) => {
                self.define_string(text, key.range());
                self.with(Meaning::TableKey(table), |walk| walk.visit_expr(key));
            }
            _ => self.with(Meaning::Plain, |walk| walk.visit_expr(key)),
        }
    }
}

impl<'a> Visitor<'a> for Walk<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !self.has_token(stmt.range()) {
            return;
        }
        match stmt {
            Stmt::Expr(one) if one.value.is_string_literal_expr() => {
                let line = self.line(stmt.range().start());
                self.with(Meaning::Prose(line), |walk| walk.visit_expr(&one.value));
            }
            Stmt::Import(one) => one.names.iter().for_each(|alias| self.alias(alias, "")),
            Stmt::ImportFrom(one) => {
                let module = one.module.as_ref().map_or("", |module| module.as_str());
                let dots = ".".repeat(usize::from(one.level > 0));
                let path = format!("{dots}{module}");
                if let Some(module) = &one.module {
                    let meaning = self.path_meaning(&path, module.range());
                    self.found.names.0.add(module.range(), meaning);
                }
                one.names.iter().for_each(|alias| self.alias(alias, &path));
            }
            Stmt::FunctionDef(def) => {
                self.define(def.name.as_str(), def.name.range(), if self.in_class { DefinitionKind::Member } else { DefinitionKind::Name });
                let outer = std::mem::take(&mut self.in_class);
                def.decorator_list.iter().for_each(|one| self.visit_expr(&one.expression));
                self.inside(stmt.range(), |walk| {
                    walk.parameters(&def.parameters);
                    walk.visit_parameters(&def.parameters);
                    def.returns.iter().for_each(|one| walk.visit_expr(one));
                    walk.visit_body(&def.body);
                });
                self.in_class = outer;
            }
            Stmt::ClassDef(def) => {
                self.define(def.name.as_str(), def.name.range(), DefinitionKind::Name);
                def.decorator_list.iter().for_each(|one| self.visit_expr(&one.expression));
                if let Some(arguments) = &def.arguments {
                    self.visit_arguments(arguments);
                }
                let outer = std::mem::replace(&mut self.in_class, true);
                self.inside(stmt.range(), |walk| walk.visit_body(&def.body));
                self.in_class = outer;
            }
            Stmt::Raise(one) => {
                let line = self.line(stmt.range().start());
                self.with(Meaning::Prose(line), |walk| walk_stmt(walk, stmt));
                let _ = one;
            }
            Stmt::Assert(one) => {
                let line = self.line(stmt.range().start());
                let test = if self.subject.test { Meaning::Test(line) } else { Meaning::Plain };
                self.with(test, |walk| walk.visit_expr(&one.test));
                self.with(Meaning::Prose(line), |walk| {
                    one.msg.iter().for_each(|message| walk.visit_expr(message));
                });
            }
            Stmt::Assign(one) if is_list_of_names(&one.targets) => {
                self.with(Meaning::Key(Wanted::Any), |walk| walk.visit_expr(&one.value));
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(one) = handler;
        if let Some(name) = &one.name {
            self.define(name.as_str(), name.range(), DefinitionKind::Name);
        }
        ruff_python_ast::visitor::walk_except_handler(self, handler);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if !self.has_token(expr.range()) {
            return;
        }
        match expr {
            Expr::StringLiteral(one) => one.value.as_slice().iter().for_each(|part| self.literal(part)),
            Expr::FString(one) => {
                for part in one.value.as_slice() {
                    match part {
                        FStringPart::Literal(part) => self.literal(part),
                        FStringPart::FString(part) => {
                            for element in &part.elements {
                                match element {
                                    InterpolatedStringElement::Literal(text) => {
                                        self.found.strings.add(text.range, self.meaning.clone());
                                    }
                                    InterpolatedStringElement::Interpolation(inner) => {
                                        self.with(Meaning::Plain, |walk| walk.visit_expr(&inner.expression));
                                    }
                                }
                            }
                        }
                    }
                }
            }
            Expr::Name(name) => match name.ctx {
                ExprContext::Store => {
                    let kind = self.bound_kind();
                    self.define(name.id.as_str(), expr.range(), kind);
                }
                _ => self.name(name.id.as_str(), expr.range()),
            },
            Expr::Attribute(one) => {
                if one.ctx == ExprContext::Store {
                    self.define(one.attr.as_str(), one.attr.range(), DefinitionKind::Member);
                } else {
                    self.attribute(expr, one.attr.as_str(), one.attr.range(), false);
                }
                self.visit_expr(&one.value);
            }
            Expr::Call(call) => self.call(call),
            Expr::Subscript(one) => {
                self.visit_expr(&one.value);
                match literal::plain(&one.slice) {
                    Some(text) if one.ctx == ExprContext::Store && !super::is_device(text) => {
                        self.define_string(text, one.slice.range());
                        let line = self.line(one.slice.range().start());
                        self.with(Meaning::TableKey(line), |walk| walk.visit_expr(&one.slice));
                    }
                    Some(_) => {
                        self.with(Meaning::Key(Wanted::Member), |walk| walk.visit_expr(&one.slice));
                    }
                    None => self.visit_expr(&one.slice),
                }
            }
            Expr::Dict(dict) => {
                let line = self.line(expr.range().start());
                for item in &dict.items {
                    item.key.iter().for_each(|key| self.key(key, line));
                    let outer = if matches!(self.meaning, Meaning::Prose(_)) { self.meaning.clone() } else { Meaning::Plain };
                    self.with(outer, |walk| walk.visit_expr(&item.value));
                }
            }
            Expr::Compare(one) if matches!(*one.ops, [CmpOp::In | CmpOp::NotIn]) && !matches!(self.meaning, Meaning::Test(_)) => {
                let meaning = match literal::plain(&one.left) {
                    Some(_) => Meaning::Key(Wanted::Member),
                    None => self.meaning.clone(),
                };
                self.with(meaning, |walk| walk.visit_expr(&one.left));
                self.with(Meaning::Plain, |walk| one.comparators.iter().for_each(|other| walk.visit_expr(other)));
            }
            Expr::Compare(_) if !matches!(self.meaning, Meaning::Test(_)) => {
                self.with(Meaning::Plain, |walk| walk_expr(walk, expr));
            }
            Expr::Lambda(one) => {
                if let Some(parameters) = &one.parameters {
                    self.parameters(parameters);
                }
                self.inside(expr.range(), |walk| walk_expr(walk, expr));
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.inside(expr.range(), |walk| walk_expr(walk, expr));
            }
            _ => walk_expr(self, expr),
        }
    }
}

/// `__all__`, `__slots__`, `_fields_`: lists of names of the project.
fn is_list_of_names(targets: &[Expr]) -> bool {
    let names = ["__all__", "__slots__", "__constants__", "_fields"];
    let [Expr::Name(name)] = targets else { return false };
    names.contains(&name.id.as_str())
}

/// The rule for a dotted name or for the longest part of it that has one.
fn rule_of(path: &str) -> Option<&'static Rule> {
    let public = canonical(path);
    let rules = Rules::builtin();
    let mut end = public.len();
    loop {
        let part = &public[..end];
        if let Some(rule) = rules.find(Match::Api, part).or_else(|| rules.find(Match::Library, part)) {
            return Some(rule);
        }
        end = public[..end].rfind('.')?;
    }
}

/// The statements that import, wherever they stand.
fn imports(body: &[Stmt]) -> Vec<TextRange> {
    struct Imports(Vec<TextRange>);
    impl<'a> Visitor<'a> for Imports {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Import(_) | Stmt::ImportFrom(_) => self.0.push(stmt.range()),
                _ => walk_stmt(self, stmt),
            }
        }
        fn visit_expr(&mut self, _: &'a Expr) {}
    }
    let mut found = Imports(Vec::new());
    found.visit_body(body);
    found.0
}
