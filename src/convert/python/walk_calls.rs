//! The walk through calls: arguments that hold devices, and methods that move objects to a device.

use std::borrow::Cow;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextRange};

use super::call_edits::{TorchCall, plan_attribute_by_name};
use super::environment_edits;
use super::installers::is_installer;
use super::literal::{self, span};
use super::names::canonical;
use super::roles::{self, Role};
use super::source::is_of_imported_object;
use super::string_candidate::Hint;
use super::value_flow::Slot;
use super::walker::Walker;
use crate::rules::{Match, Place, Rule, Rules};
use crate::site::Certainty;

impl<'a> Walker<'a> {
    pub(super) fn visit_call(&mut self, expr: &'a Expr, call: &'a ExprCall, hint: Hint) {
        let resolved = self.resolve(&call.func);
        let resolved = resolved.filter(|found| !is_of_imported_object(found));
        let path = resolved.as_ref().map(|found| canonical(&found.path));
        let name = match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => "",
        };
        let is_method = path.is_none() && call.func.is_attribute_expr();
        let decided = self.plan_parameters(call);
        let is_decided = |arg: &Expr| decided.iter().any(|one| std::ptr::eq(*one, arg));
        match &*call.func {
            Expr::Attribute(attribute) if is_method => {
                let of_object = match name {
                    "join" => Hint::Words,
                    // Inserted values are part of the whole string.
                    "format" if matches!(hint, Hint::Key | Hint::Words) => hint,
                    _ => Hint::Quiet,
                };
                self.visit_expr(&attribute.value, of_object);
                self.visit_method_call(call, &attribute.value, name, attribute.attr.range());
            }
            func => self.visit_expr(func, Hint::Quiet),
        }
        if let Some(path) = &path {
            TorchCall { call, source: self.source, edits: &mut self.flow.edits }.plan(path);
        }
        let torch = path.as_deref().is_some_and(|path| path.starts_with("torch"));
        let words = !torch && (hint == Hint::Words || roles::takes_words(name));
        let rest = if words { Hint::Words } else { Hint::Any };
        let first = call.arguments.args.first().and_then(literal::plain);
        let adds = matches!(name, "add" | "argument" | "Option" | "opt")
            && first.is_some_and(|option| option.starts_with("--"));
        if adds || matches!(name, "add_argument" | "add_option" | "option") {
            self.visit_option(call);
            return;
        }
        if matches!(name, "patch" | "setattr" | "delattr") {
            TorchCall { call, source: self.source, edits: &mut self.flow.edits }.plan_patch();
        }
        if matches!(name, "getattr" | "hasattr") {
            plan_attribute_by_name(self.source, &mut self.flow.edits, call, self.scope, name);
        }
        if is_installer(name) {
            self.report_packages(&call.arguments);
        }
        let source = &self.source.text[expr.range()];
        let of_cuda = call.arguments.find_keyword("extra_cuda_cflags").is_some()
            || name.ends_with("Extension")
                && name != "CUDAExtension"
                && (source.contains(".cu'") || source.contains(".cu\""));
        if of_cuda
            && !path
                .as_deref()
                .is_some_and(|path| path.starts_with("torch.utils.cpp_extension.load"))
        {
            self.flow.edits.flag_site(Place::ExtensionLoadCu, expr.range());
        }
        self.plan_device_pattern(call, name);
        self.spread_choice(call);
        if name == "parametrize" {
            self.spread_parameters(call);
        }
        // This also applies to objects of the framework: `jax.config.update`.
        let root = self.resolve(&call.func).map(|found| found.path.clone());
        if root.as_deref().is_some_and(is_of_another_framework) {
            let all = call.arguments.args.iter().filter(|arg| !is_decided(arg));
            all.for_each(|arg| self.visit_expr(arg, Hint::Words));
            let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
            let keywords = keywords.filter(|value| !is_decided(value));
            keywords.for_each(|value| self.visit_expr(value, Hint::Words));
            return;
        }
        if matches!(name, "import_module" | "__import__")
            && let Some(module) = call.arguments.args.first().and_then(literal::plain)
            && !self.source.context.is_own_package(module)
        {
            self.import_edits().report_extension(module, expr.range());
            self.plan_import_by_name(&call.arguments.args[0], module);
        }
        if let [left, right, ..] = &*call.arguments.args
            && is_comparison(name)
        {
            let (other, text) =
                if literal::leading(left).is_some() { (right, left) } else { (left, right) };
            self.compare_pair(other, text);
        }
        self.visit_arguments(call, path.as_deref(), name, is_method, rest, &decided);
        self.flow.pass_arguments(call, name, is_method, self.scope);
        self.pass_to_callback(call, name);
    }

    fn visit_arguments(
        &mut self,
        call: &'a ExprCall,
        path: Option<&str>,
        name: &str,
        is_method: bool,
        hint: Hint,
        decided: &[&'a Expr],
    ) {
        let is_decided = |arg: &Expr| decided.iter().any(|one| std::ptr::eq(*one, arg));
        let environment = matches!(
            name,
            "getenv"
                | "putenv"
                | "unsetenv"
                | "setenv"
                | "delenv"
                | "get"
                | "pop"
                | "setdefault"
                | "environ"
        );
        for (index, arg) in call.arguments.args.iter().enumerate() {
            if is_decided(arg) {
                // Only names inside the argument still matter.
                self.visit_expr(arg, Hint::Key);
                continue;
            }
            let role = match path {
                // `from m import model` gives an object a path, too.
                Some(path) => roles::positional(path, index).or_else(|| {
                    let foreign = call.func.is_attribute_expr() && !path.starts_with("torch.");
                    foreign.then(|| roles::of_method(name, index)).flatten()
                }),
                None if is_method => roles::of_method(name, index),
                None => None,
            };
            if let Some(role) = role
                && !matches!(arg, Expr::Lambda(_) | Expr::Dict(_) | Expr::DictComp(_))
            {
                self.flow.spread(arg, role, self.scope);
            }
            if environment
                && index == 0
                && literal::plain(arg)
                    .is_some_and(|name| Rules::builtin().find(Match::Env, name).is_some())
            {
                let value = matches!(name, "setdefault" | "putenv" | "setenv")
                    .then(|| call.arguments.args.get(1))
                    .flatten();
                self.flow.environment.plan_name(&mut self.flow.edits, arg, value);
                continue;
            }
            if environment
                && index == 0
                && literal::leading(arg).is_none()
                && self
                    .source
                    .scopes
                    .path(&call.func, self.scope)
                    .is_some_and(|path| path.starts_with("os."))
            {
                self.flow.spread(arg, Role::VARIABLE, self.scope);
            }
            if role.is_some_and(|role| role.site == Place::MapLocation) {
                self.flow.spread(arg, Role::LOCATION, self.scope);
            }
            let of_getter = environment
                || matches!(name, "hasattr" | "getattr")
                || is_method && roles::string_method(name);
            let hint = if of_getter && hint == Hint::Any { Hint::Quiet } else { hint };
            self.visit_expr(arg, hint);
        }
        // `getattr(options, 'device', 'cuda')`, `options.get('device', 'cuda')`
        let default = match name {
            "getattr" => Some((1, 2)),
            "get" | "pop" | "setdefault" | "getenv" => Some((0, 1)),
            _ => None,
        };
        if let Some((key, default)) = default
            && let Some(key) = call.arguments.args.get(key).and_then(literal::plain)
            && let Some(default) = call.arguments.args.get(default)
        {
            let slot =
                if name == "getattr" { Slot::Attr(Cow::Borrowed(key)) } else { Slot::Key(key) };
            self.flow.values.mark_by_name(&slot, key);
            self.flow.give(slot, default, self.scope);
        }
        for keyword in &call.arguments.keywords {
            let Some(arg) = &keyword.arg else {
                self.visit_expr(&keyword.value, Hint::Quiet);
                continue;
            };
            if is_decided(&keyword.value) {
                self.visit_expr(&keyword.value, Hint::Key);
                continue;
            }
            let arg_name = arg.as_str();
            if arg_name.contains('_') && Rules::builtin().find(Match::Env, arg_name).is_some() {
                environment_edits::plan_keyword(&mut self.flow.edits, arg, &keyword.value);
            }
            let named = path.and_then(|path| roles::named(path, arg_name));
            // `dict(backend="nccl")` is a configuration.
            let likely = path.is_some() || name == "dict" || self.source.imports.may_hold_devices();
            let role = named.or_else(|| likely.then(|| roles::keyword(arg_name))?);
            if let Some(role) = role
                && !(role.site == Place::MapLocation
                    && matches!(keyword.value, Expr::Lambda(_) | Expr::Dict(_) | Expr::DictComp(_)))
            {
                self.flow.spread(&keyword.value, role, self.scope);
            }
            if arg_name == "map_location" {
                self.flow.spread(&keyword.value, Role::LOCATION, self.scope);
            }
            if arg_name == "sort_by"
                && literal::plain(&keyword.value).is_some_and(|key| key.contains("cuda_"))
            {
                self.flow.edits.flag_site(Place::ProfilerCudaSortKey, keyword.value.range());
            }
            let hint = if role.is_none() && (hint == Hint::Words || roles::word_keyword(arg_name)) {
                Hint::Words
            } else {
                Hint::Quiet
            };
            self.visit_expr(&keyword.value, hint);
        }
    }

    /// A method of an object that is not imported.
    fn visit_method_call(
        &mut self,
        call: &'a ExprCall,
        object: &'a Expr,
        name: &str,
        at: TextRange,
    ) {
        if name == "cuda" {
            if let Some(rule) = self.own_method(object, name) {
                self.flow.edits.flag(rule, span(at), None);
                self.flow.edits.keep(at);
                return;
            }
            if self.moves_to_cuda(call, object)
                && let Some(rule) = Rules::builtin().find(Match::Method, "cuda")
            {
                self.move_to_npu(rule, call, at);
            }
            return;
        }
        if roles::string_method(name) {
            for arg in &call.arguments.args {
                self.flow.edits.error_text(arg);
                self.change_tensor_type(arg);
                let role = Role::device(if name == "startswith" {
                    Place::DeviceStartswith
                } else {
                    Place::DeviceStringMethod
                });
                if self.source.is_device(object, self.scope) {
                    self.flow.spread(arg, role, self.scope);
                } else if let Some(slot) = self.source.root(object, self.scope) {
                    self.flow.values.compare(slot, self.scope, arg);
                }
            }
        }
        if name == "key_averages" && self.source.text.contains("profiler") {
            self.flow.edits.flag_site(Place::ProfilerCudaSortKey, at);
        }
        if matches!(name, "bind_input" | "bind_output" | "ortvalue_from_numpy")
            && self.source.scopes.path(&call.func, self.scope).is_none()
            && let Some(device) = call
                .arguments
                .args
                .iter()
                .find(|arg| literal::plain(arg).is_some_and(|text| text == "cuda"))
            && !self.flow.edits.planner.touched(&span(device.range()))
        {
            self.flow.edits.flag_site(Place::OrtIoBinding, call.range());
            self.flow.edits.keep(device.range());
        }
    }

    /// `import_module('torch.cuda.amp')`
    fn plan_import_by_name(&mut self, text: &'a Expr, path: &str) {
        let new = path
            .starts_with("torch.cuda.")
            .then(|| super::renamed(path, self.source.context.options));
        if let (Some((rule, new)), [range]) = (new.flatten(), literal::texts(text).as_slice())
            && &self.source.text[range.clone()] == path
        {
            self.flow.edits.needs.torch_npu |=
                self.flow.edits.change(rule, range.clone(), new, Certainty::Exact);
        }
    }

    /// `x.type().startswith('torch.cuda.')`
    fn change_tensor_type(&mut self, text: &'a Expr) {
        if literal::plain(text).is_none_or(|text| !matches!(text, "torch.cuda" | "torch.cuda.")) {
            return;
        }
        let rule = Rules::builtin().site(Place::TensorTypeString);
        self.flow.edits.change_words(rule, text, ("cuda", "npu"), Certainty::Exact);
    }

    /// `re.match('cuda:(.*)', device)`
    fn plan_device_pattern(&mut self, call: &'a ExprCall, name: &str) {
        let [pattern, text, ..] = &*call.arguments.args else { return };
        if !matches!(name, "match" | "search" | "fullmatch" | "findall")
            || !self.source.is_device(text, self.scope)
        {
            return;
        }
        let begins = literal::plain(pattern)
            .is_some_and(|text| text.trim_start_matches(['^', '(']).starts_with("cuda"));
        if let ([range], true) = (literal::texts(pattern).as_slice(), begins) {
            let rule = Rules::builtin().site(Place::DeviceStringMethod);
            for (part, to) in literal::words(self.source.text, range.clone(), "cuda", "npu") {
                self.flow.edits.change(rule, part, to, Certainty::Likely);
            }
        }
    }

    /// The rule for a method of a library whose objects define it, but not the one for NPUs.
    fn own_method(&self, object: &'a Expr, name: &str) -> Option<&'static Rule> {
        let maker = self.maker(object)?;
        let root = maker.split('.').next()?;
        Rules::builtin().find(Match::Method, &format!("{root}.{name}"))
    }

    /// Rewrites `x.cuda()` to `x.npu()`. If objects of the tree define `cuda()`, rewrites to
    /// `x.to("npu")`, which these objects and tensors support.
    fn move_to_npu(&mut self, rule: &'static Rule, call: &ExprCall, at: TextRange) {
        let own = self.source.context.project.is_some_and(|all| all.shared().own_movers());
        if !own || !call.arguments.args.is_empty() {
            self.flow.edits.change(rule, span(at), "npu", Certainty::Likely);
            return;
        }
        let inside = span(call.arguments.range()).start + 1;
        let text = if call.arguments.keywords.is_empty() { "\"npu\"" } else { "\"npu\", " };
        if self.flow.edits.change(rule, span(at), "to", Certainty::Likely) {
            self.flow.edits.change_also(&(inside..inside), text);
        }
    }

    /// Whether `object.cuda(…)` can be the method of tensors and modules.
    fn moves_to_cuda(&self, call: &ExprCall, object: &Expr) -> bool {
        let known = ["device", "non_blocking", "memory_format"];
        let shape = call.arguments.args.len() <= 2
            && call.arguments.keywords.iter().all(|keyword| {
                keyword.arg.as_ref().is_none_or(|name| known.contains(&name.as_str()))
            });
        shape
            && self.source.imports.tensors_are_torch()
            && !self.source.is_of_own_class(object, self.scope, self.classes.last().copied())
    }
}

/// Whether a dotted name belongs to a framework whose devices are not torch's.
fn is_of_another_framework(path: &str) -> bool {
    let root = path.split('.').next().unwrap_or(path);
    matches!(
        root,
        "jax"
            | "jaxlib"
            | "keras"
            | "mlx"
            | "cntk"
            | "chainer"
            | "tensorflow"
            | "xgboost"
            | "lightgbm"
            | "catboost"
            | "paddle"
            | "mxnet"
            | "numba"
            | "cupy"
            | "cudf"
            | "cuml"
            | "tvm"
            | "jittor"
            | "oneflow"
            | "mindspore"
            | "taichi"
            | "warp"
    )
}

/// Whether a function of this name compares its first two arguments.
fn is_comparison(name: &str) -> bool {
    matches!(
        name,
        "assertEqual"
            | "assertEquals"
            | "assertNotEqual"
            | "assertIn"
            | "assertNotIn"
            | "assertIs"
            | "assert_equal"
            | "eq_"
    )
}
