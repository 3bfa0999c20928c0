//! Places that a rewrite would make equal: two members of a set, an enum or a list of choices, two
//! keys of a dictionary, two branches with the same test, two functions registered for one device.
//!
//! ```text
//! plan -> texts of members before and after its edits -> members that are equal only afterwards
//! ```
//!
//! Colliding places stay unchanged. If the other member has no edit, it is the sibling for NPUs and
//! no work is needed; two members that both change are reported. A plan without edits has no
//! collisions.

use std::collections::BTreeMap;
use std::ops::Range;

use foldhash::{HashMap, HashSet};
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Decorator, Expr, ExprCall, Pattern, Stmt};
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use super::literal::span;
use crate::encoding::Edit;
use crate::rules::Match;
use crate::site::{Decision, Site};

/// A member that edits make equal to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Collision {
    pub member: TextRange,
    /// The member that it would be equal to, if that one stays unchanged.
    pub sibling: Option<TextRange>,
}

impl Collision {
    /// The reason why the member stays.
    pub(super) fn withheld(&self) -> Withheld {
        let why = self.sibling.map_or(Why::Conflict, Why::Sibling);
        Withheld { range: self.member, why }
    }
}

/// A place that an earlier plan changes and the final one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Withheld {
    pub range: TextRange,
    pub why: Why,
}

/// The reason why a place does not change after all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// This member of its group is the one for NPUs.
    Sibling(TextRange),
    /// Another member of its group would change to the same.
    Conflict,
    /// It selects what this statement builds.
    Build(TextRange),
}

/// For a script that builds CUDA extensions: the changes of an earlier plan, except names of
/// packages.
pub(super) fn find_build_decisions(body: &[Stmt], text: &str, sites: &[Site]) -> Vec<Withheld> {
    let build = body.iter().find(|stmt| text[stmt.range()].contains("CUDAExtension"));
    let setup = body.iter().rev().find(|stmt| text[stmt.range()].starts_with("setup("));
    let Some(build) = setup.or(build) else { return Vec::new() };
    let changed = sites.iter().filter(|site| {
        site.decision == Decision::Changed && !matches!(site.rule.how, Match::Package)
    });
    let at = |offset: usize| TextSize::try_from(offset).unwrap_or_default();
    changed
        .map(|site| Withheld {
            range: TextRange::new(at(site.range.start), at(site.range.end)),
            why: Why::Build(build.range()),
        })
        .collect()
}

/// The members that edits make equal to another one, in the order of the text.
pub(super) fn find_collisions(body: &[Stmt], text: &str, edits: &[Edit]) -> Vec<Collision> {
    if edits.is_empty() {
        return Vec::new();
    }
    let mut finder = Finder { text, edits, found: Vec::new() };
    finder.visit_body(body);
    let mut tables = Tables::default();
    tables.visit_body(body);
    for keys in tables.keys.into_values() {
        finder.group(keys);
    }
    finder.found.sort_by_key(|one| (one.member.start(), one.member.end()));
    finder.found.dedup_by_key(|one| one.member);
    finder.found
}

struct Finder<'t> {
    text: &'t str,
    /// In the order of the text, without overlap.
    edits: &'t [Edit],
    found: Vec<Collision>,
}

impl Finder<'_> {
    /// The edits within a range.
    fn within(&self, range: TextRange) -> &[Edit] {
        let range = span(range);
        let first = self.edits.partition_point(|edit| edit.range.start < range.start);
        let behind = self.edits[first..].partition_point(|edit| edit.range.end <= range.end);
        &self.edits[first..first + behind]
    }

    /// The text of a range after the edits; `None` if no edit is in the range.
    fn after(&self, range: TextRange) -> Option<String> {
        let edits = self.within(range);
        if edits.is_empty() {
            return None;
        }
        let Range { start, end } = span(range);
        let mut out = String::new();
        let mut at = start;
        for edit in edits {
            out.push_str(&self.text[at..edit.range.start]);
            out.push_str(&edit.text);
            at = edit.range.end;
        }
        out.push_str(&self.text[at..end]);
        Some(out)
    }

    /// Compares the members of one group: those that are equal to another one only after the edits
    /// collide. Quotation marks do not count.
    fn group(&mut self, members: impl IntoIterator<Item = TextRange>) {
        let members: Vec<TextRange> = members.into_iter().collect();
        if members.len() < 2 || !members.iter().any(|range| !self.within(*range).is_empty()) {
            return;
        }
        let plain = |text: &str| text.replace('"', "'");
        let before: Vec<String> = members.iter().map(|range| plain(&self.text[*range])).collect();
        let after: Vec<Option<String>> =
            members.iter().map(|range| self.after(*range).map(|text| plain(&text))).collect();
        let texts = || before.iter().zip(&after);
        let mut kinds: HashMap<&str, HashSet<&str>> = HashMap::default();
        for (before, after) in texts() {
            kinds.entry(after.as_deref().unwrap_or(before)).or_default().insert(before);
        }
        for (range, (_, after)) in members.iter().zip(texts()) {
            let Some(after) = after else { continue };
            if kinds.get(after.as_str()).is_some_and(|befores| befores.len() > 1) {
                let sibling = members.iter().zip(texts()).find(|(_, (text, edited))| {
                    edited.is_none() && text.as_str() == after.as_str()
                });
                let sibling = sibling.map(|(range, _)| *range);
                self.found.push(Collision { member: *range, sibling });
            }
        }
    }

    /// `TABLE["cuda"] = …`, `register("cuda", …)` in one block, and functions that decorators
    /// register.
    fn neighbors(&mut self, body: &[Stmt]) {
        let mut targets: Vec<TextRange> = Vec::new();
        let mut calls: Vec<TextRange> = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Assign(one) => {
                    targets.extend(
                        one.targets.iter().filter(|one| one.is_subscript_expr()).map(Expr::range),
                    );
                }
                Stmt::Expr(one) => calls.extend(one.value.as_call_expr().and_then(registration)),
                Stmt::FunctionDef(def) => calls.extend(def.decorator_list.iter().filter_map(of)),
                Stmt::ClassDef(def) => calls.extend(def.decorator_list.iter().filter_map(of)),
                _ => {}
            }
        }
        self.group(targets);
        self.group(calls);
    }

    /// The values of an enum: members of equal value are one member.
    fn members(&mut self, body: &[Stmt]) {
        self.group(body.iter().filter_map(|stmt| match stmt {
            Stmt::Assign(one) if one.value.is_string_literal_expr() => Some(one.value.range()),
            _ => None,
        }));
    }
}

/// The keys that a file defines for each table, by the name of the table: in a literal, and one by
/// one.
#[derive(Default)]
struct Tables<'a> {
    keys: BTreeMap<&'a str, Vec<TextRange>>,
}

impl<'a> Visitor<'a> for Tables<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Assign(one) = stmt
            && let [target] = &*one.targets
        {
            match (target, &*one.value) {
                (Expr::Name(name), Expr::Dict(dict)) => {
                    let keys =
                        dict.items.iter().filter_map(|item| Some(item.key.as_ref()?.range()));
                    self.keys.entry(name.id.as_str()).or_default().extend(keys);
                }
                (Expr::Subscript(one), _) => {
                    if let (Expr::Name(name), Expr::StringLiteral(_)) = (&*one.value, &*one.slice) {
                        self.keys.entry(name.id.as_str()).or_default().push(one.slice.range());
                    }
                }
                _ => {}
            }
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

fn of(decorator: &Decorator) -> Option<TextRange> {
    registration(decorator.expression.as_call_expr()?)
}

/// The argument of a call that is the name under which something is registered.
fn registration(call: &ExprCall) -> Option<TextRange> {
    let name = match &*call.func {
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::Name(name) => name.id.as_str(),
        _ => return None,
    };
    let lower = name.to_ascii_lowercase();
    let registers = ["register", "add", "impl", "overload", "backend", "dispatch"];
    let last = call.arguments.args.iter().take_while(|arg| arg.is_string_literal_expr()).last()?;
    registers
        .iter()
        .any(|word| lower.contains(word))
        .then(|| TextRange::new(call.func.start(), last.end()))
}

impl<'a> Visitor<'a> for Finder<'_> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        self.neighbors(body);
        for stmt in body {
            self.visit_stmt(stmt);
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if self.within(stmt.range()).is_empty() {
            return;
        }
        match stmt {
            Stmt::If(one) => {
                let clauses =
                    one.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref());
                self.group(std::iter::once(&*one.test).chain(clauses).map(Expr::range));
            }
            Stmt::Match(one) => {
                let values = one.cases.iter().filter(|case| case.guard.is_none());
                self.group(values.flat_map(|case| match &case.pattern {
                    Pattern::MatchOr(either) => {
                        either.patterns.iter().map(Pattern::range).collect()
                    }
                    pattern => vec![pattern.range()],
                }));
            }
            Stmt::ClassDef(class) => {
                let bases = class.arguments.iter().flat_map(|arguments| &arguments.args);
                if bases.into_iter().any(|base| self.text[base.range()].ends_with("Enum")) {
                    self.members(&class.body);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.within(expr.range()).is_empty() {
            return;
        }
        match expr {
            Expr::Set(set) => self.group(set.elts.iter().map(Expr::range)),
            Expr::List(list) => self.group(list.elts.iter().map(Expr::range)),
            Expr::Tuple(tuple) => self.group(tuple.elts.iter().map(Expr::range)),
            Expr::Dict(dict) => {
                self.group(dict.items.iter().filter_map(|item| Some(item.key.as_ref()?.range())));
            }
            Expr::BoolOp(op) => self.group(op.values.iter().map(Expr::range)),
            _ => {}
        }
        walk_expr(self, expr);
    }
}
