//! Arguments whose meaning depends on the called function: each parameter that matters has rules.
//!
//! `device_type="cuda"` is `ascend` for lmdeploy and `cann` for onnxruntime, Lightning rejects any
//! NPU, and vLLM has no such argument. The rules also apply to variables that reach the parameter,
//! to calls that omit it, and to calls themselves.

use std::ops::Range;

use ruff_python_ast::{Expr, ExprCall, Keyword, Number};
use ruff_text_size::{Ranged as _, TextRange};

use super::edits::Edits;
use super::literal::{self, span};
use super::names::canonical;
use super::role_flow::RoleFlow;
use super::roles::Role;
use super::source::Source;
use super::walker::Walker;
use crate::rules::{Action, INDICES, Parameter, Rule, Rules};
use crate::site::Certainty;
use pysyntax::scope::{Binding, ScopeId};

/// Maximum number of calls and names to follow back to the function that created an object.
const MAX_STEPS: usize = 6;

impl<'a> Walker<'a> {
    /// Plans the arguments of a call that have rules of the function. Returns their values, which
    /// no other part plans.
    pub(super) fn plan_parameters(&mut self, call: &'a ExprCall) -> Vec<&'a Expr> {
        let Some(function) = self.function(call) else { return Vec::new() };
        let open = call.arguments.args.iter().any(Expr::is_starred_expr);
        let certainty =
            if function.starts_with('*') { Certainty::Likely } else { Certainty::Exact };
        let mut decided = Vec::new();
        for parameter in Rules::builtin().parameters(&function) {
            if parameter.is_call() {
                self.flow.edits.settle_call(call, parameter);
                continue;
            }
            let keyword = call.arguments.find_keyword(parameter.name);
            let positional = parameter.position.filter(|_| !open);
            let positional = positional.and_then(|at| call.arguments.args.get(at));
            let Some(value) = keyword.map(|keyword| &keyword.value).or(positional) else {
                self.flow.edits.settle_omitted(call, parameter, certainty);
                continue;
            };
            let is_text = literal::leading(value).is_some();
            let concerned = |rule: &Rule| rule.is_for_given() && (is_text || !rule.keeps_texts());
            if !self.flow.edits.rules_of(parameter).any(concerned) {
                continue;
            }
            let range = span(keyword.map_or(value.range(), ruff_text_size::Ranged::range));
            let edits = &mut self.flow.edits;
            let settled = keyword.is_some_and(|one| edits.settle_keyword(call, one, parameter))
                || edits.settle_indices(value, parameter)
                || self.flow.settle_constant(value, range.clone(), parameter, self.scope)
                || self.flow.edits.settle_any(value, range, parameter);
            if !settled {
                self.flow.spread(value, Role::parameter(parameter), self.scope);
            }
            let edits = &mut self.flow.edits;
            let stays = |rule: &Rule| rule.action == Action::Keep && !edits.is_refused(rule);
            if edits.rules_of(parameter).all(stays) {
                edits.keep(value.range());
            }
            decided.push(value);
        }
        decided
    }

    /// Returns the name of the called function as used in rules.
    fn function(&self, call: &'a ExprCall) -> Option<String> {
        let name = match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => return None,
        };
        let resolved = self.source.scopes.path(&call.func, self.scope);
        if let Some(path) = resolved {
            let last = path.rsplit('.').next().unwrap_or(&path);
            return Rules::builtin().may_call(last).then(|| canonical(&path).into_owned());
        }
        if !Rules::builtin().may_call(name) {
            return None;
        }
        let object = call.func.as_attribute_expr()?;
        let object = self.object(&object.value, self.scope, MAX_STEPS);
        // A method of this file is not one of a library.
        if object.is_none() && self.source.definitions.only_method(name).is_some() {
            return None;
        }
        Some(format!("{}.{name}", object.as_deref().unwrap_or("*")))
    }

    /// Returns the call that created the value of an expression at the current place of the walk.
    pub(super) fn maker(&self, expr: &'a Expr) -> Option<String> {
        self.object(expr, self.scope, MAX_STEPS)
    }

    /// Returns the call that created an object: `onnxruntime.InferenceSession()`.
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

impl<'a> RoleFlow<'a> {
    /// Plans a value that is not a string: `True`, `SDPBackend.CUDNN_ATTENTION`. `range` is
    /// reported. Returns whether a rule of the parameter applies.
    pub(super) fn settle_constant(
        &mut self,
        expr: &'a Expr,
        range: Range<usize>,
        parameter: &Parameter,
        scope: ScopeId,
    ) -> bool {
        let Some(constant) = constant(self.source, expr, scope) else { return false };
        let rule = self.edits.rule_for(parameter, &constant);
        let Some(rule) = rule.filter(|rule| rule.values.is_some()) else { return false };
        let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
        let changed = match (rule.to.map(last), expr) {
            (Some(to), Expr::Attribute(attribute))
                if rule.action == Action::Rewrite && !self.edits.is_refused(rule) =>
            {
                self.edits.change(rule, span(attribute.attr.range()), to, Certainty::Exact)
            }
            _ => false,
        };
        if !changed {
            self.edits.report_and_keep(rule, range, expr.range());
        }
        true
    }
}

impl Edits<'_> {
    /// Whether the known version of a package excludes the rule.
    fn is_refused(&self, rule: &Rule) -> bool {
        rule.is_refused_by(|name| self.planner.version(name))
    }

    /// Returns the rules of a parameter that apply to the known versions.
    fn rules_of(&self, parameter: &Parameter) -> impl Iterator<Item = &'static Rule> {
        let rules = Rules::builtin().of_parameter(parameter);
        rules.filter(|rule| rule.applies(|name| self.planner.version(name)))
    }

    /// Returns the rule for a value of a parameter.
    fn rule_for(&self, parameter: &Parameter, value: &str) -> Option<&'static Rule> {
        self.rules_of(parameter).find(|rule| rule.speaks_of(value))
    }

    /// Reports `range` as the rule requires, and leaves `kept` unchanged.
    fn report_and_keep(&mut self, rule: &'static Rule, range: Range<usize>, kept: TextRange) {
        match rule.action {
            Action::Keep if !self.is_refused(rule) => {}
            Action::Note => self.note(rule, range, None),
            _ => self.flag(rule, range, None),
        }
        self.keep(kept);
    }

    /// Plans a string that reaches a parameter, by the rules of the parameter.
    pub(super) fn settle_value(&mut self, expr: &Expr, parameter: &Parameter) {
        let texts = literal::leading(expr).map(literal::texts).unwrap_or_default();
        let Some(range) = texts.first().cloned() else { return };
        let text = &self.planner.text[range.clone()];
        let Some(rule) = self.rule_for(parameter, text) else { return };
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
                // An index in the value replaces the one of the rule.
                true if kind.end < range.end => (kind, to.split(':').next().unwrap_or(to)),
                true => (kind, to),
                false => (range.clone(), to),
            };
            self.change(rule, place, to, Certainty::Exact)
        });
        if changed {
            self.other_words.insert(range.start);
        } else {
            self.report_and_keep(rule, span(expr.range()), expr.range());
        }
    }

    /// Plans device indices: `device=0`, `device="0,1"`, `device=[0, 1]`. Returns whether the value
    /// is one.
    fn settle_indices(&mut self, value: &Expr, parameter: &Parameter) -> bool {
        let rule = self
            .rules_of(parameter)
            .find(|rule| rule.values.as_ref().is_some_and(|values| values.contains(&INDICES)));
        let Some((rule, indices)) = rule.zip(indices(value)) else { return false };
        let range = span(value.range());
        let kind = rule.to.map(|to| to.split(':').next().unwrap_or(to));
        match kind {
            Some(kind) if rule.action == Action::Rewrite && !self.is_refused(rule) => {
                self.change(rule, range, format!("\"{kind}:{indices}\""), Certainty::Exact);
            }
            _ => self.report_and_keep(rule, range, value.range()),
        }
        true
    }

    /// Reports a value that is unknown before run time, if a rule reports all values. Returns
    /// whether one does.
    fn settle_any(&mut self, value: &Expr, range: Range<usize>, parameter: &Parameter) -> bool {
        let reports = |rule: &&Rule| {
            rule.values.is_none() && matches!(rule.action, Action::Flag | Action::Note)
        };
        let Some(rule) = self.rules_of(parameter).find(reports) else { return false };
        if value.is_none_literal_expr() || literal::leading(value).is_some() {
            return false;
        }
        self.report_and_keep(rule, range, value.range());
        true
    }

    /// Plans an argument that is removed, or replaced together with its name. Returns whether a
    /// rule of the parameter does that.
    fn settle_keyword(&mut self, call: &ExprCall, keyword: &Keyword, of: &Parameter) -> bool {
        let replaces = |rule: &&Rule| {
            rule.action == Action::Remove
                || rule.action == Action::Rewrite && rule.to.is_some_and(|to| to.contains('='))
        };
        let Some(first) = self.rules_of(of).find(replaces) else { return false };
        let value = &keyword.value;
        let range = span(keyword.range());
        let text = match value {
            Expr::BooleanLiteral(one) => Some(if one.value { "True" } else { "False" }),
            Expr::NumberLiteral(_) => Some(INDICES),
            _ => literal::plain(value),
        };
        let Some(text) = text else {
            self.flag(first, range, None);
            self.keep(value.range());
            return true;
        };
        let Some(rule) = self.rule_for(of, text).filter(replaces) else { return false };
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
        true
    }

    /// Plans a call that omits a parameter whose default is for CUDA.
    fn settle_omitted(&mut self, call: &ExprCall, parameter: &Parameter, certainty: Certainty) {
        let arguments = &call.arguments;
        // `f(*args)` and `f(**options)` may pass the argument that seems to be missing.
        let open = arguments.args.iter().any(Expr::is_starred_expr)
            || arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let Some(rule) = self.rules_of(parameter).find(|rule| rule.is_for_omitted()) else {
            return;
        };
        let name = callee(call);
        if open || self.is_kept(&span(name)) {
            return;
        }
        match rule.to.filter(|_| rule.action == Action::Insert && !self.is_refused(rule)) {
            Some(argument) if self.append_argument(rule, call, argument, certainty) => {}
            _ if rule.action == Action::Note => self.note(rule, span(name), None),
            _ if rule.action == Action::Keep => {}
            _ => self.flag(rule, span(name), None),
        }
    }

    /// Plans a call that has a rule regardless of its arguments.
    fn settle_call(&mut self, call: &ExprCall, parameter: &Parameter) {
        let rule = self.rules_of(parameter).next();
        if let Some(rule) = rule {
            let name = callee(call);
            self.report_and_keep(rule, span(name), name);
        }
    }

    /// Inserts `argument` after the arguments of a call. Returns whether it was possible.
    pub(super) fn append_argument(
        &mut self,
        rule: &'static Rule,
        call: &ExprCall,
        argument: &str,
        certainty: Certainty,
    ) -> bool {
        let arguments = &call.arguments;
        let keywords = arguments.keywords.iter().map(ruff_text_size::Ranged::end);
        let last = arguments.args.iter().map(Expr::end).chain(keywords).max();
        let (at, text) = match last {
            // `f(x for x in y)` accepts no other argument.
            Some(_) if arguments.args.iter().any(is_bare_generator) => return false,
            Some(end) => (end.to_usize(), format!(", {argument}")),
            None => (span(arguments.range()).start + 1, argument.to_owned()),
        };
        self.change(rule, at..at, text, certainty)
    }
}

fn is_bare_generator(argument: &Expr) -> bool {
    argument.as_generator_expr().is_some_and(|generator| !generator.parenthesized)
}

/// The name of a called function, without the object of a method.
fn callee(call: &ExprCall) -> TextRange {
    match &*call.func {
        Expr::Attribute(attribute) => attribute.attr.range(),
        func => func.range(),
    }
}

/// The name that rules use for a value that is not a string.
fn constant(source: &Source<'_>, expr: &Expr, scope: ScopeId) -> Option<String> {
    Some(match expr {
        Expr::BooleanLiteral(one) => (if one.value { "True" } else { "False" }).to_owned(),
        Expr::NumberLiteral(_) => INDICES.to_owned(),
        Expr::UnaryOp(op) if op.operand.is_number_literal_expr() => INDICES.to_owned(),
        Expr::Name(_) | Expr::Attribute(_) => source.scopes.path(expr, scope)?,
        Expr::Call(call) => format!("{}()", source.scopes.path(&call.func, scope)?),
        _ => return None,
    })
}

/// The device indices in a value.
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

/// The range of an argument with the comma to remove; `None` if a comment is between them.
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
