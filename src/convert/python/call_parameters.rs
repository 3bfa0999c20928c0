//! Arguments whose meaning the called function decides: each parameter that matters has a rule.
//!
//! `device_type="cuda"` is `ascend` for lmdeploy and `cann` for onnxruntime, Lightning refuses any
//! NPU, and vLLM has no such argument. The rule also decides about the variables that reach the
//! parameter.

use std::ops::Range;

use ruff_python_ast::{Expr, ExprCall, Keyword, Number};
use ruff_text_size::Ranged as _;

use super::edits::Edits;
use super::literal::{self, span};
use super::roles::Role;
use super::walker::Walker;
use crate::rules::{Action, INDICES, Rule, Rules};
use crate::site::Certainty;
use pysyntax::scope::{Binding, ScopeId};

/// As many calls and names are followed to the function that made an object.
const MAX_STEPS: usize = 6;

impl<'a> Walker<'a> {
    /// Plans the arguments of a call that rules of the function speak of. Returns their values,
    /// about which nothing else decides.
    pub(super) fn plan_parameters(&mut self, call: &'a ExprCall) -> Vec<&'a Expr> {
        let Some(function) = self.function(call) else { return Vec::new() };
        let open = call.arguments.args.iter().any(Expr::is_starred_expr);
        let mut decided = Vec::new();
        for parameter in Rules::builtin().parameters(&function) {
            let keyword = call.arguments.find_keyword(parameter.name);
            let positional = parameter.position.filter(|_| !open);
            let positional = positional.and_then(|at| call.arguments.args.get(at));
            let Some(value) = keyword.map(|keyword| &keyword.value).or(positional) else {
                continue;
            };
            let rule = Rules::builtin().of_parameter(parameter);
            let is_refused = self.flow.edits.is_refused(rule);
            let edits = &mut self.flow.edits;
            let replaced = rule.to.is_some_and(|to| to.contains('='));
            match keyword {
                Some(keyword) if rule.action == Action::Remove || replaced => {
                    edits.settle_keyword(call, keyword, rule);
                }
                _ if !edits.settle_indices(value, rule) => {
                    self.flow.spread(value, Role::parameter(parameter), self.scope);
                }
                _ => {}
            }
            if rule.action == Action::Keep && !is_refused {
                self.flow.edits.keep(value.range());
            }
            decided.push(value);
        }
        decided
    }

    /// Returns the name by which rules know the function of a call.
    fn function(&self, call: &'a ExprCall) -> Option<String> {
        let name = match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => return None,
        };
        let resolved = self.source.scopes.path(&call.func, self.scope);
        if let Some(path) = resolved {
            let last = path.rsplit('.').next().unwrap_or(&path);
            if Rules::builtin().may_call(last) {
                return Some(path);
            }
            return None;
        }
        if !Rules::builtin().may_call(name) {
            return None;
        }
        let object = call.func.as_attribute_expr()?;
        let object = self.object(&object.value, self.scope, MAX_STEPS);
        Some(format!("{}.{name}", object.as_deref().unwrap_or("*")))
    }

    /// Returns the call that made the value of an expression where the walk is.
    pub(super) fn maker(&self, expr: &'a Expr) -> Option<String> {
        self.object(expr, self.scope, MAX_STEPS)
    }

    /// Returns the call that made an object: `onnxruntime.InferenceSession()`.
    fn object(&self, expr: &'a Expr, scope: ScopeId, steps: usize) -> Option<String> {
        let steps = steps.checked_sub(1)?;
        match expr {
            Expr::Name(name) => {
                let (home, all) = self.source.scopes.bindings(name.id.as_str(), scope)?;
                let mut made: Option<String> = None;
                for binding in all {
                    let Binding::Value(value) = binding else { return None };
                    // `d = d.cuda()` is the same object.
                    if all.len() > 1 && root(value) == Some(name.id.as_str()) {
                        continue;
                    }
                    let one = self.object(value, home, steps)?;
                    if made.as_ref().is_some_and(|other| *other != one) {
                        return None;
                    }
                    made = Some(one);
                }
                made
            }
            Expr::Call(call) => {
                let function = self.source.scopes.path(&call.func, scope).or_else(|| {
                    let method = call.func.as_attribute_expr()?;
                    let object = self.object(&method.value, scope, steps)?;
                    Some(format!("{object}.{}", method.attr.as_str()))
                })?;
                Some(format!("{function}()"))
            }
            _ => None,
        }
    }
}

/// The name that a chain of attributes and calls begins with.
fn root(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => root(&attribute.value),
        Expr::Call(call) => root(&call.func),
        _ => None,
    }
}

impl Edits<'_> {
    /// Whether the known version of a package is not one that the rule needs.
    fn is_refused(&self, rule: &Rule) -> bool {
        let options = self.planner.options;
        rule.is_refused_by(|name| {
            let pinned = || self.planner.project.and_then(|project| project.pin(name));
            let asked = options.packages.get(name).or_else(pinned);
            asked.or_else(|| options.installed.get(name)).cloned()
        })
    }

    /// Decides about a string that reaches a parameter, by the rule of the parameter.
    pub(super) fn settle_value(&mut self, expr: &Expr, rule: &'static Rule) {
        let texts = literal::leading(expr).map(literal::texts).unwrap_or_default();
        let Some(range) = texts.first().cloned() else { return };
        let text = &self.planner.text[range.clone()];
        if !rule.speaks_of(text) {
            return;
        }
        if self.is_kept(&range) {
            return;
        }
        let to = rule.to.filter(|_| rule.action == Action::Rewrite && !self.is_refused(rule));
        let kind = range.start..range.start + text.split(':').next().unwrap_or(text).len();
        let changed = to.is_some_and(|to| {
            let is_kind = rule
                .values
                .as_ref()
                .is_none_or(|values| values.contains(&&self.planner.text[kind.clone()]));
            let (place, to) = match is_kind {
                // An index that is given replaces the one of the rule.
                true if kind.end < range.end => (kind, to.split(':').next().unwrap_or(to)),
                true => (kind, to),
                false => (range.clone(), to),
            };
            self.change(rule, place, to, Certainty::Exact)
        });
        if changed {
            self.other_words.insert(range.start);
        } else if rule.action != Action::Keep || self.is_refused(rule) {
            self.flag(rule, span(expr.range()), None);
            self.keep(expr.range());
        } else {
            self.keep(expr.range());
        }
    }

    /// Decides about numbers of devices: `device=0`, `device="0,1"`, `device=[0, 1]`. Returns
    /// whether the value is one.
    fn settle_indices(&mut self, value: &Expr, rule: &'static Rule) -> bool {
        if !rule.values.as_ref().is_some_and(|values| values.contains(&INDICES)) {
            return false;
        }
        let Some(indices) = indices(value) else { return false };
        let range = span(value.range());
        let kind = rule.to.map(|to| to.split(':').next().unwrap_or(to));
        match kind {
            Some(kind) if rule.action == Action::Rewrite && !self.is_refused(rule) => {
                self.change(rule, range, format!("\"{kind}:{indices}\""), Certainty::Exact);
            }
            _ => self.flag(rule, range, None),
        }
        true
    }

    /// Decides about an argument that is removed, or replaced together with its name.
    fn settle_keyword(&mut self, call: &ExprCall, keyword: &Keyword, rule: &'static Rule) {
        let value = &keyword.value;
        let range = span(keyword.range());
        let text = match value {
            Expr::BooleanLiteral(one) => Some(if one.value { "True" } else { "False" }),
            Expr::NumberLiteral(_) => Some(INDICES),
            _ => literal::plain(value),
        };
        let Some(text) = text else {
            self.flag(rule, range, None);
            self.keep(value.range());
            return;
        };
        if !rule.speaks_of(text) {
            return;
        }
        let other = |name: &str| call.arguments.find_keyword(name).is_some();
        let open = call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let done = match rule.to {
            _ if self.is_refused(rule) => false,
            None => {
                let whole = with_comma(self.planner.text, call, &range);
                whole.is_some_and(|whole| self.change(rule, whole, "", Certainty::Exact))
            }
            Some(to) => {
                let name = to.split('=').next().unwrap_or(to);
                let written = to.replace(INDICES, &self.planner.text[value.range()]);
                !other(name) && !open && self.change(rule, range.clone(), written, Certainty::Exact)
            }
        };
        if !done {
            self.flag(rule, range, None);
            self.keep(value.range());
        }
    }
}

/// The numbers of devices that a value names.
fn indices(value: &Expr) -> Option<String> {
    match value {
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(number) => Some(number.to_string()),
            _ => None,
        },
        Expr::List(list) if !list.elts.is_empty() => {
            list.elts.iter().map(indices).collect::<Option<Vec<_>>>().map(|all| all.join(","))
        }
        _ => {
            let text = literal::plain(value)?;
            let is_number =
                |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            let parts: Vec<&str> = text.split(',').map(str::trim).collect();
            parts.iter().all(|part| is_number(part)).then(|| parts.join(","))
        }
    }
}

/// The range of an argument with the comma that it leaves behind; `None` where a comment stands
/// between.
fn with_comma(text: &str, call: &ExprCall, argument: &Range<usize>) -> Option<Range<usize>> {
    let all = || {
        let keywords = call.arguments.keywords.iter().map(|keyword| span(keyword.range()));
        call.arguments.args.iter().map(|arg| span(arg.range())).chain(keywords)
    };
    let before = all().map(|one| one.end).filter(|end| *end <= argument.start).max();
    let after = all().map(|one| one.start).filter(|start| *start >= argument.end).min();
    let whole = match (before, after) {
        (_, Some(next)) => argument.start..next,
        (Some(last), None) => last..argument.end,
        (None, None) => argument.clone(),
    };
    (!text[whole.clone()].contains('#')).then_some(whole)
}
