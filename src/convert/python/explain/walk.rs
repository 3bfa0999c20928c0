//! The walk that determines the meaning of strings and names with tokens. It skips nodes without
//! tokens.

use foldhash::HashMap;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    CmpOp, ExceptHandler, Expr, ExprCall, ExprContext, FStringPart, Identifier,
    InterpolatedStringElement, Parameters, Stmt, StringLiteral,
};
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use super::meaning::{Meaning, Meanings};
use super::names::imports;
use super::{Subject, calls};
use crate::ledger::entry::{Definition, DefinitionKind, Wanted};
use crate::ledger::text_lines::TextLines;
use crate::ledger::tokens::{Token, is_bare};
use crate::ledger::wording;
use crate::python::literal;
use crate::python::source::Source;
use crate::rules::{Action, Rules};
use pysyntax::scope::ScopeId;

/// Maximum number of reported calls whose arguments are examined.
const MAX_CALLS: usize = 2000;

/// The walk through one module.
pub(super) struct Walk<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) subject: &'a Subject<'a>,
    lines: &'a TextLines<'a>,
    pub(super) scope: ScopeId,
    /// The meaning of strings in the current expression.
    meaning: Meaning,
    /// Whether bound names are fields of a class.
    in_class: bool,
    /// The line of the enclosing test function.
    test: Option<u32>,
    /// Statements that import, in the order of the text.
    pub(super) imports: Vec<TextRange>,
    /// Variables, functions and classes with tokens, by name, with the line of the definition.
    pub(super) variables: HashMap<String, u32>,
    pub(super) found: Meanings,
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
            test: None,
            imports: Vec::new(),
            variables: HashMap::default(),
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

    /// Whether `range` contains a token.
    pub(super) fn has_token(&self, range: TextRange) -> bool {
        let tokens: &[Token] = self.subject.tokens;
        let first = tokens.partition_point(|token| token.start < range.start().to_usize());
        tokens.get(first).is_some_and(|token| token.start < range.end().to_usize())
    }

    pub(super) fn line(&self, at: TextSize) -> u32 {
        self.lines.line(at.to_usize())
    }

    pub(super) fn define(&mut self, name: &str, range: TextRange, kind: DefinitionKind) {
        if self.has_token(range) {
            let line = self.line(range.start());
            if kind != DefinitionKind::Member {
                self.variables.entry(name.to_owned()).or_insert(line);
            }
            self.found.definitions.push(Definition { name: name.to_owned(), kind, line });
            self.found.names.0.add(range, Meaning::Defined(line));
        }
    }

    /// A name that `global` or `nonlocal` declares.
    fn declared(&mut self, name: &Identifier) {
        if self.has_token(name.range()) {
            let meaning = Meaning::Own(name.to_string(), Wanted::Any);
            self.found.names.0.add(name.range(), meaning);
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

    fn parameters(&mut self, parameters: &Parameters) {
        for parameter in parameters {
            let name = parameter.name();
            self.define(name.as_str(), name.range(), DefinitionKind::Parameter);
        }
    }

    fn defaults(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            parameter.annotation().iter().for_each(|one| self.visit_expr(one));
            let Some(default) = parameter.default() else { continue };
            let words = calls::is_words(parameter.name().as_str());
            let line = self.line(parameter.range().start());
            let meaning = if words { Meaning::Prose(line) } else { Meaning::Plain };
            self.with(meaning, |walk| walk.visit_expr(default));
        }
    }

    /// A string that an f-string formats is a part of its text: `f"{'GPU_mem':>10}"`.
    fn interpolated(&mut self, expr: &'a Expr) {
        let meaning = match expr {
            Expr::StringLiteral(_) => Meaning::Prose(self.line(expr.range().start())),
            _ => Meaning::Plain,
        };
        self.with(meaning, |walk| walk.visit_expr(expr));
    }

    fn call(&mut self, call: &'a ExprCall) {
        if self.found.manual.len() < MAX_CALLS
            && let Some(rule) = self.flagged(call.func.range())
        {
            self.found.manual.push((call.range(), rule));
        }
        // Arguments that a rule of the function leaves unchanged.
        if let Some(path) = self.source.scopes.path(&call.func, self.scope) {
            for parameter in Rules::builtin().parameters(&path) {
                let mut rules = Rules::builtin().of_parameter(parameter);
                let rule = rules.find(|rule| rule.action == Action::Keep);
                let keyword = call.arguments.find_keyword(parameter.name);
                if let Some((keyword, rule)) = keyword.zip(rule) {
                    self.found.manual.push((keyword.value.range(), rule));
                }
            }
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
        let first = arguments.args.first().and_then(literal::plain);
        let adds = name == "add" && first.is_some_and(|option| option.starts_with("--"));
        let message = calls::is_message(name) && !matches!(self.meaning, Meaning::Test(_));
        for (at, argument) in arguments.args.iter().enumerate() {
            let plain = literal::plain(argument);
            let meaning = match plain {
                Some(text)
                    if (calls::is_option(name) || adds && text.starts_with('-'))
                        && !text.is_empty() =>
                {
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
                Some(text) if calls::is_key(name) && at <= 1 => Self::key_that_is_read(text, line),
                Some(text) if calls::is_route(name) && text.starts_with('/') => {
                    Meaning::Defined(line)
                }
                // A device is not a message, unless the function is known to print it.
                Some(text) if super::is_device(text) && !calls::is_known_message(name) => {
                    Meaning::Plain
                }
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
                (Some(_), "org" | "owner" | "vendor" | "namespace") => Meaning::Address(line),
                (_, "columns") => Meaning::TableKey(line),
                (_, named) if calls::is_words(named) => {
                    Meaning::Prose(self.line(keyword.range().start()))
                }
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
        if let (Meaning::Plain, Some(line)) = (&self.meaning, self.test)
            && wording::is_inert(&self.subject.text[content.clone()])
        {
            self.found.strings.add(super::text_range(&content), Meaning::Test(line));
            return;
        }
        self.found.strings.add(super::text_range(&content), self.meaning.clone());
    }

    /// A key that is looked up: one of the project, or a longer word that is a key in any case.
    fn key_that_is_read(text: &str, line: u32) -> Meaning {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if super::is_device(text) || is_bare(text) || !text.bytes().all(word) {
            return Meaning::Key(Wanted::Member);
        }
        Meaning::KeyOr(Wanted::Member, line)
    }

    /// Keys of a dictionary: defined by it, unless they are devices.
    fn key(&mut self, key: &'a Expr, table: u32) {
        match literal::plain(key) {
            Some(text) if !is_device_key(text) => {
                self.define_string(text, key.range());
                self.with(Meaning::TableKey(table), |walk| walk.visit_expr(key));
            }
            _ => self.with(Meaning::Plain, |walk| walk.visit_expr(key)),
        }
    }
}

/// Whether a key may be looked up by the type of a device, which is never `gpu`.
fn is_device_key(text: &str) -> bool {
    super::is_device(text) && !text.eq_ignore_ascii_case("gpu")
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
                self.define(
                    def.name.as_str(),
                    def.name.range(),
                    if self.in_class { DefinitionKind::Member } else { DefinitionKind::Name },
                );
                let outer = std::mem::take(&mut self.in_class);
                let outer_test = self.test;
                if self.subject.test {
                    self.test = Some(self.line(def.name.range().start()));
                }
                def.decorator_list.iter().for_each(|one| self.visit_expr(&one.expression));
                self.inside(stmt.range(), |walk| {
                    walk.parameters(&def.parameters);
                    walk.defaults(&def.parameters);
                    def.returns.iter().for_each(|one| walk.visit_expr(one));
                    walk.visit_body(&def.body);
                });
                self.in_class = outer;
                self.test = outer_test;
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
            Stmt::Global(one) => one.names.iter().for_each(|name| self.declared(name)),
            Stmt::Nonlocal(one) => one.names.iter().for_each(|name| self.declared(name)),
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
            Expr::StringLiteral(one) => {
                one.value.as_slice().iter().for_each(|part| self.literal(part));
            }
            Expr::FString(one) => {
                let outer = self.meaning.clone();
                let texts: Vec<&str> = literal::texts(expr)
                    .into_iter()
                    .map(|range| &self.subject.text[range])
                    .collect();
                if matches!(outer, Meaning::Plain) && wording::is_sentence(&texts.join(" ")) {
                    self.meaning = Meaning::Prose(self.line(expr.range().start()));
                }
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
                                        self.interpolated(&inner.expression);
                                    }
                                }
                            }
                        }
                    }
                }
                self.meaning = outer;
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
                    Some(text) if one.ctx == ExprContext::Store && !is_device_key(text) => {
                        self.define_string(text, one.slice.range());
                        let line = self.line(one.slice.range().start());
                        self.with(Meaning::TableKey(line), |walk| walk.visit_expr(&one.slice));
                    }
                    Some(text) => {
                        let line = self.line(one.slice.range().start());
                        let meaning = Self::key_that_is_read(text, line);
                        self.with(meaning, |walk| walk.visit_expr(&one.slice));
                    }
                    None => self.visit_expr(&one.slice),
                }
            }
            Expr::Dict(dict) => {
                let line = self.line(expr.range().start());
                for item in &dict.items {
                    item.key.iter().for_each(|key| self.key(key, line));
                    let outer = if matches!(self.meaning, Meaning::Prose(_)) {
                        self.meaning.clone()
                    } else {
                        Meaning::Plain
                    };
                    self.with(outer, |walk| walk.visit_expr(&item.value));
                }
            }
            Expr::Compare(one)
                if matches!(*one.ops, [CmpOp::In | CmpOp::NotIn])
                    && !matches!(self.meaning, Meaning::Test(_)) =>
            {
                let line = self.line(expr.range().start());
                let meaning = match literal::plain(&one.left) {
                    // `"--no_cuda" in sys.argv` is how a script defines an option.
                    Some(text) if text.starts_with("--") => {
                        self.define_string(&calls::destination(text), one.left.range());
                        Meaning::Defined(line)
                    }
                    Some(_) => Meaning::Key(Wanted::Member),
                    None => self.meaning.clone(),
                };
                self.with(meaning, |walk| walk.visit_expr(&one.left));
                self.with(Meaning::Plain, |walk| {
                    one.comparators.iter().for_each(|other| walk.visit_expr(other));
                });
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
