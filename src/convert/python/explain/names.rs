//! Names: imports, variables, attributes and keyword arguments.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Alias, Expr, ExprCall, Keyword, Stmt};
use ruff_text_size::{Ranged as _, TextRange};

use super::meaning::Meaning;
use super::walk::Walk;
use crate::ledger::entry::{DefinitionKind, Wanted};
use crate::ledger::tokens::{self, is_bare, is_device_word};
use crate::python::literal;
use crate::python::names::canonical;
use crate::rules::{Action, Match, Rule, Rules};
use crate::site::Decision;
use pysyntax::scope::{Binding, root};

impl<'a> Walk<'a> {
    /// The rule of the reported site that overlaps a range.
    pub(super) fn flagged(&self, range: TextRange) -> Option<&'static Rule> {
        let range = literal::span(range);
        let sites = &self.subject.plan.sites;
        let before = sites.partition_point(|site| site.range.start < range.end);
        // Sites of a call begin in it or shortly before.
        sites[..before].iter().rev().take(64).find_map(|site| {
            let meets = site.range.end > range.start && site.decision == Decision::Flagged;
            meets.then_some(site.rule)
        })
    }

    /// `import a.b as c`, `from a.b import c as d`.
    pub(super) fn alias(&mut self, alias: &Alias, module: &str) {
        if let Some(name) = &alias.asname {
            self.define(name.as_str(), name.range(), DefinitionKind::Name);
        }
        let own = alias.name.as_str();
        let path = if module.is_empty() { own.to_owned() } else { format!("{module}.{own}") };
        let meaning = self.path_meaning(&path, alias.name.range());
        self.found.names.0.add(alias.name.range(), meaning);
    }

    /// The meaning of a dotted name of an import.
    pub(super) fn path_meaning(&self, path: &str, range: TextRange) -> Meaning {
        let first = path.split('.').next().unwrap_or(path);
        // `@pytest.mark.gpu` names a marker of the project.
        if path.starts_with("pytest.mark.") {
            return Meaning::Defined(self.line(range.start()));
        }
        if first.is_empty() || self.source.context.is_own_package(first) {
            let last = path.rsplit('.').next().unwrap_or(path);
            let named = path.rsplit('.').find(|part| tokens::any(part.as_bytes()));
            let last = named.unwrap_or(last);
            let wanted = if is_bare(last) { Wanted::Path } else { Wanted::Any };
            return Meaning::Own(last.to_owned(), wanted);
        }
        if let Some(rule) = self.flagged(range).or_else(|| self.flagged_import(range)) {
            return Meaning::Manual(rule);
        }
        // `from other.layers.spconv import x`: the library inside another package.
        let part = || path.split('.').find_map(|part| Rules::builtin().find(Match::Library, part));
        let rule = rule_of(path).or_else(|| part().filter(|rule| rule.action == Action::Flag));
        let Some(rule) = rule else {
            // A package of the tree with another root: two parts of its name identify it.
            let mut parts = path.rsplit('.').skip_while(|part| !tokens::any(part.as_bytes()));
            return match (parts.next(), parts.next()) {
                (Some(last), Some(above)) => Meaning::Own(format!("{above}/{last}"), Wanted::Path),
                _ => Meaning::Plain,
            };
        };
        Some(rule).map_or(Meaning::Plain, |rule| match rule.action {
            Action::Flag => Meaning::Manual(rule),
            _ => Meaning::Rule(rule),
        })
    }

    fn flagged_import(&self, at: TextRange) -> Option<&'static Rule> {
        let after = self.imports.partition_point(|range| range.start() <= at.start());
        let statement = *self.imports.get(after.checked_sub(1)?)?;
        statement.contains_range(at).then(|| self.flagged(statement))?
    }

    /// The import that binds a name, if the name is imported.
    fn import(&self, name: &str) -> Option<(&str, TextRange)> {
        let (_, bindings) = self.source.scopes.bindings(name, self.scope)?;
        bindings.iter().find_map(|binding| match binding {
            Binding::Import { path, at, .. } => Some((path.as_str(), *at)),
            _ => None,
        })
    }

    pub(super) fn name(&mut self, name: &str, range: TextRange) {
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
            None => Meaning::Own(name.to_owned(), Wanted::Any),
        };
        let meaning = match meaning {
            // A variable of the same file may be named like the device.
            Meaning::Own(name, Wanted::Any) if is_bare(&name) => {
                let bound = self.source.scopes.bindings(&name, self.scope).is_some();
                match self.variables.get(&name).filter(|_| bound) {
                    Some(line) => Meaning::Defined(*line),
                    None => Meaning::Own(name, Wanted::Any),
                }
            }
            other => other,
        };
        self.found.names.0.add(range, meaning);
    }

    pub(super) fn attribute(&mut self, expr: &'a Expr, name: &str, range: TextRange, called: bool) {
        let own = || Meaning::Own(name.to_owned(), Wanted::Member);
        let path = self.source.scopes.path(expr, self.scope);
        let import = root(expr).and_then(|root| self.import(root));
        let meaning = match (path, import) {
            (Some(path), Some((_, at))) => match self.path_meaning(&path, at) {
                Meaning::Own(..) => own(),
                other => other,
            },
            (Some(path), None) => rule_of(&path).map_or_else(own, Meaning::Rule),
            // A call of the tensor method: no name of the project explains it.
            (None, _) if called && is_device_word(name) => Meaning::Plain,
            // `config = tf.ConfigProto(); config.gpu_options`
            (None, _) => self.library_of(expr).map_or_else(own, Meaning::Manual),
        };
        if matches!(meaning, Meaning::Rule(_) | Meaning::Manual(_)) {
            // One rule for the whole chain: `torch.cuda.OutOfMemoryError`.
            let mut inner = expr;
            while let Expr::Attribute(one) = inner {
                self.found.names.0.add(one.attr.range(), meaning.clone());
                inner = &one.value;
            }
        }
        self.found.names.0.add(range, meaning);
    }

    /// The reported library whose function created the object at the start of a chain of
    /// attributes.
    fn library_of(&self, expr: &'a Expr) -> Option<&'static Rule> {
        let name = root(expr)?;
        let (home, bindings) = self.source.scopes.bindings(name, self.scope)?;
        let [Binding::Value(Expr::Call(call))] = bindings else { return None };
        let path = self.source.scopes.path(&call.func, home)?;
        rule_of(&path).filter(|rule| rule.action == Action::Flag)
    }

    pub(super) fn keyword(&mut self, call: &ExprCall, keyword: &Keyword) {
        let Some(name) = &keyword.arg else { return };
        if !self.has_token(name.range()) {
            return;
        }
        let path = self.source.scopes.path(&call.func, self.scope);
        let external = path.as_deref().is_some_and(|path| {
            let first = path.split('.').next().unwrap_or(path);
            !(first.is_empty() || self.source.context.is_own_package(first))
        });
        let callee = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        // `dict(a=1)`, `EasyDict(a=1)`, `SimpleNamespace(a=1)` are tables.
        if callee.to_ascii_lowercase().ends_with("dict") || callee.ends_with("Namespace") {
            self.define(name.as_str(), name.range(), DefinitionKind::Key);
        } else {
            let rule =
                path.as_deref().and_then(rule_of).filter(|rule| rule.action != Action::Rewrite);
            let meaning = match (external, rule) {
                (true, Some(rule)) if rule.action == Action::Flag => Meaning::Manual(rule),
                (true, Some(rule)) => Meaning::Rule(rule),
                (true, None) => Meaning::Plain,
                _ => Meaning::Own(name.to_string(), Wanted::Parameter),
            };
            self.found.names.0.add(name.range(), meaning);
        }
    }
}

/// The rule for a dotted name, or for the longest prefix of it that has one.
fn rule_of(path: &str) -> Option<&'static Rule> {
    let public = canonical(path);
    let rules = Rules::builtin();
    let mut end = public.len();
    loop {
        let part = &public[..end];
        if let Some(rule) =
            rules.find(Match::Api, part).or_else(|| rules.find(Match::Library, part))
        {
            return Some(rule);
        }
        end = public[..end].rfind('.')?;
    }
}

/// All import statements, including nested ones.
pub(super) fn imports(body: &[Stmt]) -> Vec<TextRange> {
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
