//! Calls that declare the purpose of a value without using it: command-line options, choices of a
//! form, parameters of tests, arguments of callbacks.

use std::borrow::Cow;

use ruff_python_ast::{Expr, ExprCall, StmtFunctionDef};
use ruff_text_size::Ranged as _;

use super::literal;
use super::roles::{Role, by_name};
use super::string_candidate::Hint;
use super::value_flow::Slot;
use super::walker::Walker;
use crate::rules::Place;
use pysyntax::scope::{Binding, ScopeId};

/// The name of the value that the options of a call set.
fn destination(call: &ExprCall) -> String {
    let names = || call.arguments.args.iter().filter_map(literal::plain);
    let dest = call.arguments.find_keyword("dest").and_then(|found| literal::plain(&found.value));
    let dest = dest.or_else(|| names().find_map(|name| name.strip_prefix("--")));
    let dest = dest.or_else(|| names().next()).unwrap_or_default();
    dest.trim_start_matches('-').replace('-', "_")
}

impl<'a> Walker<'a> {
    /// `@click.option("--place", default="cuda")`: the value of the parameter of that name.
    pub(super) fn pass_options(&mut self, def: &'a StmtFunctionDef, opened: ScopeId) {
        let calls = def.decorator_list.iter().filter_map(|one| one.expression.as_call_expr());
        for call in calls {
            let name = call.func.as_attribute_expr().map_or("", |func| func.attr.as_str());
            if !matches!(name, "option" | "argument") {
                continue;
            }
            let dest = destination(call);
            let parameter =
                def.parameters.iter_non_variadic_params().find(|one| one.name().as_str() == dest);
            let Some(parameter) = parameter else { continue };
            let slot = Slot::Name(opened, parameter.name().as_str());
            for keyword in &call.arguments.keywords {
                match keyword.arg.as_ref().map(ruff_python_ast::Identifier::as_str) {
                    Some("default") => self.flow.give(slot.clone(), &keyword.value, self.scope),
                    // `type=click.Choice(["cpu", "cuda"])`
                    Some("type") => {
                        let choice = keyword.value.as_call_expr();
                        let list = choice.and_then(|choice| choice.arguments.args.first());
                        if let Some(list) = list {
                            self.flow.give(slot.clone(), list, self.scope);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// `parser.add_argument('--device', default='cuda', choices=[…])`.
    pub(super) fn visit_option(&mut self, call: &'a ExprCall) {
        let keyword = |name: &str| call.arguments.find_keyword(name).map(|found| &found.value);
        let dest = destination(call);
        let slot = Slot::Attr(Cow::Owned(dest.clone()));
        let device_type = keyword("type").is_some_and(|kind| {
            self.source.scopes.path(kind, self.scope).as_deref() == Some("torch.device")
        });
        if self.flow.values.mark_by_name(&slot, &dest) {
        } else if device_type {
            self.flow.values.mark(&slot, Role::device(Place::DeviceKeyword));
        }
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("", |name| name.as_str());
            match name {
                "default" | "const" | "choices" => {
                    if self.source.lists_devices(&keyword.value) {
                        self.flow.values.mark(&slot, Role::device(Place::DeviceKeyword));
                    } else if self.source.lists_backends(&keyword.value) {
                        self.flow.values.mark(&slot, Role::backend(Place::BackendString));
                    }
                    self.flow.give(slot.clone(), &keyword.value, self.scope);
                    self.visit_expr(&keyword.value, Hint::Quiet);
                }
                "type" | "action" | "nargs" => {
                    // `type=click.Choice(['cpu', 'cuda'])`
                    if let Expr::Call(of) = &keyword.value
                        && let Some(list) = of.arguments.args.first()
                    {
                        if self.source.lists_devices(list) {
                            self.flow.values.mark(&slot, Role::device(Place::DeviceKeyword));
                        } else if self.source.lists_backends(list) {
                            self.flow.values.mark(&slot, Role::backend(Place::BackendString));
                        }
                        self.flow.give(slot.clone(), list, self.scope);
                    }
                    self.visit_expr(&keyword.value, Hint::Quiet);
                }
                _ => self.visit_expr(&keyword.value, Hint::Words),
            }
        }
    }

    /// `pytest.mark.parametrize('device', ['cuda'])`: values by the name of their parameter.
    pub(super) fn spread_parameters(&mut self, call: &'a ExprCall) {
        let [names, values, ..] = &*call.arguments.args else { return };
        let names: Vec<&str> = match names {
            Expr::List(list) => list.elts.iter().filter_map(literal::plain).collect(),
            Expr::Tuple(tuple) => tuple.elts.iter().filter_map(literal::plain).collect(),
            other => {
                literal::plain(other).map_or_else(Vec::new, |names| names.split(',').collect())
            }
        };
        let Expr::List(list) = values else { return };
        for (at, name) in names.iter().enumerate() {
            let Some(role) = by_name(name.trim()) else { continue };
            for value in &list.elts {
                match value {
                    Expr::Tuple(tuple) if names.len() > 1 => {
                        tuple
                            .elts
                            .get(at)
                            .iter()
                            .for_each(|one| self.flow.spread(one, role, self.scope));
                    }
                    value if names.len() == 1 => self.flow.spread(value, role, self.scope),
                    _ => {}
                }
            }
        }
    }

    /// `Dropdown(choices=['cuda', 'cpu'], value='cuda')`: one of several devices.
    pub(super) fn spread_choice(&mut self, call: &'a ExprCall) {
        let all = || {
            let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
            call.arguments.args.iter().chain(keywords)
        };
        let is_list = |arg: &&Expr| matches!(arg, Expr::List(_) | Expr::Tuple(_));
        if !all().filter(is_list).any(|list| self.source.lists_devices(list)) {
            return;
        }
        for keyword in &call.arguments.keywords {
            let named = keyword.arg.as_ref().is_some_and(|name| {
                matches!(name.as_str(), "value" | "default" | "selected" | "initial" | "const")
            });
            if named {
                self.flow.spread(&keyword.value, Role::device(Place::DeviceKeyword), self.scope);
            }
        }
    }

    /// `spawn(run, args=(1, "nccl"))`, `Thread(target=run, args=…)`, `partial(run, "nccl")`: values
    /// of the parameters of a function of this file.
    pub(super) fn pass_to_callback(&mut self, call: &'a ExprCall, name: &str) {
        let keyword = |name: &str| call.arguments.find_keyword(name).map(|one| &one.value);
        let (target, values, skip) = match name {
            // The first parameter is the number of the process.
            "spawn" | "start_processes" => (
                call.arguments.args.first().or_else(|| keyword("fn")),
                keyword("args").or_else(|| call.arguments.args.get(1)),
                1,
            ),
            "Process" | "Thread" => (keyword("target"), keyword("args"), 0),
            "partial" => (call.arguments.args.first(), None, 0),
            _ => return,
        };
        let Some(Expr::Name(target)) = target else { return };
        let Some((_, [Binding::Function(def)])) =
            self.source.scopes.bindings(target.id.as_str(), self.scope)
        else {
            return;
        };
        let Some(opened) = self.source.scopes.opened_by(def.range()) else { return };
        let values: &'a [Expr] = match values {
            Some(Expr::Tuple(tuple)) => &tuple.elts,
            Some(Expr::List(list)) => &list.elts,
            Some(_) => return,
            None => call.arguments.args.get(1..).unwrap_or_default(),
        };
        let names = def.parameters.iter_non_variadic_params().skip(skip);
        for (parameter, value) in names.zip(values) {
            let slot = Slot::Name(opened, parameter.name().as_str());
            self.flow.give(slot, value, self.scope);
        }
    }
}
