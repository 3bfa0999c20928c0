//! Calls: which arguments hold devices, and the methods that move things to a device.

use std::borrow::Cow;

use ruff_python_ast::{Arguments, Expr, ExprCall};
use ruff_text_size::Ranged as _;

use super::engine::{Engine, Hint, by_name};
use super::flow::Slot;
use super::literal::{self, span};
use super::names::{canonical, says};
use super::roles::{self, Role};
use crate::rules::{Action, Match, Place};
use crate::site::Certainty;
use pysyntax::scope::Binding;

impl<'a> Engine<'a> {
    pub(super) fn call(&mut self, expr: &'a Expr, call: &'a ExprCall, hint: Hint) {
        let resolved = self.resolve(&call.func);
        let resolved = resolved.filter(|found| !self.is_of_imported_object(found));
        let path = resolved.as_ref().map(|found| canonical(&found.path));
        let name = match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => "",
        };
        let is_method = path.is_none() && call.func.is_attribute_expr();
        match &*call.func {
            Expr::Attribute(attribute) if is_method => {
                let of_object = match name {
                    "join" => Hint::Words,
                    // What is filled in stands where the whole stands.
                    "format" if matches!(hint, Hint::Key | Hint::Words) => hint,
                    _ => Hint::Quiet,
                };
                self.expr(&attribute.value, of_object);
                self.method(call, &attribute.value, name, attribute.attr.range());
            }
            func => self.expr(func, Hint::Quiet),
        }
        if let Some(path) = &path {
            self.known_function(expr, call, path);
        }
        let torch = path.as_deref().is_some_and(|path| path.starts_with("torch"));
        let words = !torch && (hint == Hint::Words || roles::takes_words(name));
        let rest = if words { Hint::Words } else { Hint::Any };
        if name == "add_argument" || name == "add_option" || name == "option" {
            self.option(call);
            return;
        }
        if matches!(name, "getattr" | "hasattr") {
            self.attribute_by_name(call, name);
        }
        if is_installer(name) {
            self.packages(&call.arguments);
        }
        let source = &self.text[expr.range()];
        let of_cuda = call.arguments.find_keyword("extra_cuda_cflags").is_some()
            || name.ends_with("Extension")
                && name != "CUDAExtension"
                && (source.contains(".cu'") || source.contains(".cu\""));
        if of_cuda
            && !path
                .as_deref()
                .is_some_and(|path| path.starts_with("torch.utils.cpp_extension.load"))
        {
            self.flag_site(Place::ExtensionLoadCu, expr.range());
        }
        self.pattern_of_device(call, name);
        self.chosen(call);
        if name == "parametrize" {
            self.parametrized(call);
        }
        if path.as_deref().is_some_and(is_of_another_framework) {
            let all = call.arguments.args.iter();
            all.for_each(|arg| self.expr(arg, Hint::Words));
            let keywords = call.arguments.keywords.iter();
            keywords.for_each(|keyword| self.expr(&keyword.value, Hint::Words));
            return;
        }
        if matches!(name, "import_module" | "__import__")
            && let Some(module) = call.arguments.args.first().and_then(literal::plain)
            && !self.context.is_own_package(module)
        {
            self.extension(module, expr.range());
            self.imported_by_name(&call.arguments.args[0], module);
        }
        if let [left, right, ..] = &*call.arguments.args
            && is_comparison(name)
        {
            let (other, text) =
                if literal::leading(left).is_some() { (right, left) } else { (left, right) };
            self.compared_pair(other, text);
        }
        self.arguments(call, path.as_deref(), name, is_method, rest);
        self.flow_into(call, name, is_method);
    }

    fn arguments(
        &mut self,
        call: &'a ExprCall,
        path: Option<&str>,
        name: &str,
        is_method: bool,
        hint: Hint,
    ) {
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
            let role = match path {
                // `from m import model` gives a path to an object as well.
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
                self.spread(arg, role);
            }
            if environment
                && index == 0
                && literal::plain(arg).is_some_and(|name| self.rule(Match::Env, name).is_some())
            {
                let value = matches!(name, "setdefault" | "putenv" | "setenv")
                    .then(|| call.arguments.args.get(1))
                    .flatten();
                self.environment_name(arg, value);
                continue;
            }
            if environment
                && index == 0
                && literal::leading(arg).is_none()
                && self
                    .scopes
                    .path(&call.func, self.scope)
                    .is_some_and(|path| path.starts_with("os."))
            {
                self.spread(arg, Role::VARIABLE);
            }
            if role.is_some_and(|role| role.site == Place::MapLocation) {
                self.spread(arg, Role::LOCATION);
            }
            let of_getter = environment || matches!(name, "hasattr" | "getattr");
            let hint = if of_getter && hint == Hint::Any { Hint::Quiet } else { hint };
            self.expr(arg, hint);
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
            self.mark_by_name(&slot, key);
            self.flow.give(slot, self.scope, default);
        }
        for keyword in &call.arguments.keywords {
            let Some(arg) = &keyword.arg else {
                self.expr(&keyword.value, Hint::Quiet);
                continue;
            };
            let arg_name = arg.as_str();
            if let Some(rule) = self.rule(Match::Env, arg_name).filter(|_| arg_name.contains('_')) {
                self.environment_keyword(rule, arg, &keyword.value);
            }
            let role = roles::keyword(arg_name);
            if let Some(role) = role
                && !(role.site == Place::MapLocation
                    && matches!(keyword.value, Expr::Lambda(_) | Expr::Dict(_) | Expr::DictComp(_)))
            {
                self.spread(&keyword.value, role);
            }
            if arg_name == "map_location" {
                self.spread(&keyword.value, Role::LOCATION);
            }
            if arg_name == "sort_by"
                && literal::plain(&keyword.value).is_some_and(|key| key.contains("cuda_"))
            {
                self.flag_site(Place::ProfilerCudaSortKey, keyword.value.range());
            }
            let hint = if role.is_none() && (hint == Hint::Words || roles::word_keyword(arg_name)) {
                Hint::Words
            } else {
                Hint::Quiet
            };
            self.expr(&keyword.value, hint);
        }
    }

    /// A method of an object that no import names.
    fn method(
        &mut self,
        call: &'a ExprCall,
        object: &'a Expr,
        name: &str,
        at: ruff_text_size::TextRange,
    ) {
        if name == "cuda" {
            if self.moves_to_cuda(call, object)
                && let Some(rule) = self.rule(Match::Method, "cuda")
            {
                self.change(rule, span(at), "npu", Certainty::Likely);
            }
            return;
        }
        if roles::string_method(name) {
            for arg in &call.arguments.args {
                self.error_text(arg);
                self.tensor_type(arg);
                let role = Role::device(if name == "startswith" {
                    Place::DeviceStartswith
                } else {
                    Place::DeviceStringMethod
                });
                if self.is_device(object) {
                    self.spread(arg, role);
                } else if let Some(slot) = self.root(object) {
                    self.flow.compare(slot, self.scope, arg);
                }
            }
        }
        if name == "key_averages" && self.text.contains("profiler") {
            self.flag_site(Place::ProfilerCudaSortKey, at);
        }
        if matches!(name, "bind_input" | "bind_output" | "ortvalue_from_numpy")
            && call.arguments.args.iter().any(|arg| literal::plain(arg) == Some("cuda"))
        {
            self.flag_site(Place::OrtIoBinding, call.range());
        }
    }

    /// `import_module('torch.cuda.amp')`
    fn imported_by_name(&mut self, text: &'a Expr, path: &str) {
        let new =
            path.starts_with("torch.cuda.").then(|| super::renamed(path, self.context.options));
        if let (Some((rule, new)), [range]) = (new.flatten(), literal::texts(text).as_slice())
            && &self.text[range.clone()] == path
        {
            self.change(rule, range.clone(), new, Certainty::Exact);
            self.imports.needs_torch_npu(range.start);
        }
    }

    /// `x.type().startswith('torch.cuda.')`
    fn tensor_type(&mut self, text: &'a Expr) {
        if literal::plain(text).is_none_or(|text| !matches!(text, "torch.cuda" | "torch.cuda.")) {
            return;
        }
        let rule = self.rules.site(Place::TensorTypeString);
        for range in literal::texts(text) {
            for (part, to) in literal::words(self.text, range, "cuda", "npu") {
                self.change(rule, part, to, Certainty::Exact);
            }
        }
    }

    /// `re.match('cuda:(.*)', device)`
    fn pattern_of_device(&mut self, call: &'a ExprCall, name: &str) {
        let [pattern, text, ..] = &*call.arguments.args else { return };
        if !matches!(name, "match" | "search" | "fullmatch" | "findall") || !self.is_device(text) {
            return;
        }
        let begins = literal::plain(pattern)
            .is_some_and(|text| text.trim_start_matches(['^', '(']).starts_with("cuda"));
        if let ([range], true) = (literal::texts(pattern).as_slice(), begins) {
            let rule = self.rules.site(Place::DeviceStringMethod);
            for (part, to) in literal::words(self.text, range.clone(), "cuda", "npu") {
                self.change(rule, part, to, Certainty::Likely);
            }
        }
    }

    /// `Dropdown(choices=['cuda', 'cpu'], value='cuda')`: one of several devices.
    fn chosen(&mut self, call: &'a ExprCall) {
        let all = || {
            let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
            call.arguments.args.iter().chain(keywords)
        };
        let is_list = |arg: &&Expr| matches!(arg, Expr::List(_) | Expr::Tuple(_));
        if !all().filter(is_list).any(|list| self.lists_devices(list)) {
            return;
        }
        for keyword in &call.arguments.keywords {
            let named = keyword.arg.as_ref().is_some_and(|name| {
                matches!(name.as_str(), "value" | "default" | "selected" | "initial" | "const")
            });
            if named {
                self.spread(&keyword.value, Role::device(Place::DeviceKeyword));
            }
        }
    }

    /// Whether `object.cuda(…)` can be the method of tensors and modules.
    fn moves_to_cuda(&self, call: &ExprCall, object: &Expr) -> bool {
        let known = ["device", "non_blocking", "memory_format"];
        let shape = call.arguments.args.len() <= 2
            && call.arguments.keywords.iter().all(|keyword| {
                keyword.arg.as_ref().is_none_or(|name| known.contains(&name.as_str()))
            });
        shape && self.imports.tensors_are_torch() && !self.is_of_own_class(object)
    }

    /// Whether an object is of a class of this file that defines `cuda` itself.
    fn is_of_own_class(&self, object: &Expr) -> bool {
        let defines = |class: &ruff_python_ast::StmtClassDef| {
            class.body.iter().any(|stmt| {
                stmt.as_function_def_stmt().is_some_and(|def| def.name.as_str() == "cuda")
            })
        };
        match object {
            Expr::Name(name) if name.id.as_str() == "self" => {
                self.classes.last().is_some_and(|class| defines(class))
            }
            Expr::Name(name) => {
                self.scopes.bindings(name.id.as_str(), self.scope).is_some_and(|(_, all)| {
                    all.iter().any(|binding| match binding {
                        Binding::Value(value) => {
                            value.is_call_expr() && self.is_of_own_class(value)
                        }
                        _ => false,
                    })
                })
            }
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) => {
                    self.scopes.bindings(name.id.as_str(), self.scope).is_some_and(|(_, all)| {
                        all.iter().any(|binding| match binding {
                            Binding::Class(class) => defines(class),
                            _ => false,
                        })
                    })
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// `parser.add_argument('--device', default='cuda', choices=[…])`.
    fn option(&mut self, call: &'a ExprCall) {
        let names = || call.arguments.args.iter().filter_map(literal::plain);
        let keyword = |name: &str| call.arguments.find_keyword(name).map(|found| &found.value);
        let dest = keyword("dest")
            .and_then(literal::plain)
            .or_else(|| names().find_map(|name| name.strip_prefix("--")))
            .or_else(|| names().next())
            .unwrap_or_default()
            .trim_start_matches('-')
            .replace('-', "_");
        let slot = Slot::Attr(Cow::Owned(dest.clone()));
        let device_type = keyword("type").is_some_and(|kind| {
            self.scopes.path(kind, self.scope).as_deref() == Some("torch.device")
        });
        if self.mark_by_name(&slot, &dest) {
        } else if device_type {
            self.flow.mark(&slot, Role::device(Place::DeviceKeyword));
        }
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("", |name| name.as_str());
            match name {
                "default" | "const" | "choices" => {
                    if self.lists_devices(&keyword.value) {
                        self.flow.mark(&slot, Role::device(Place::DeviceKeyword));
                    } else if self.lists_backends(&keyword.value) {
                        self.flow.mark(&slot, Role::backend(Place::BackendString));
                    }
                    self.flow.give(slot.clone(), self.scope, &keyword.value);
                    self.expr(&keyword.value, Hint::Quiet);
                }
                "type" | "action" | "nargs" => {
                    // `type=click.Choice(['cpu', 'cuda'])`
                    if let Expr::Call(of) = &keyword.value
                        && let Some(list) = of.arguments.args.first()
                    {
                        if self.lists_devices(list) {
                            self.flow.mark(&slot, Role::device(Place::DeviceKeyword));
                        } else if self.lists_backends(list) {
                            self.flow.mark(&slot, Role::backend(Place::BackendString));
                        }
                        self.flow.give(slot.clone(), self.scope, list);
                    }
                    self.expr(&keyword.value, Hint::Quiet);
                }
                _ => self.expr(&keyword.value, Hint::Words),
            }
        }
    }

    /// `pytest.mark.parametrize('device', ['cuda'])`: values by the name that they get.
    fn parametrized(&mut self, call: &'a ExprCall) {
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
                        tuple.elts.get(at).iter().for_each(|one| self.spread(one, role));
                    }
                    value if names.len() == 1 => self.spread(value, role),
                    _ => {}
                }
            }
        }
    }

    /// Packages that a program installs itself: `check_requirements('onnxruntime-gpu')`.
    fn packages(&mut self, arguments: &'a Arguments) {
        let mut all = Vec::new();
        for arg in &arguments.args {
            collect_texts(arg, &mut all);
        }
        for text in all {
            if let Some(whole) = literal::plain(text) {
                let name = whole.split(['=', '<', '>', '[', ' ', '!', '~']).next().unwrap_or(whole);
                let rule = self.rule(Match::Package, name).or_else(|| {
                    let module = name.replace('-', "_").to_ascii_lowercase();
                    let module = module.strip_prefix("nvidia_").unwrap_or(&module);
                    self.rule(Match::Library, module)
                });
                if let Some(rule) = rule.filter(|rule| rule.action == Action::Flag) {
                    self.flag(rule, span(text.range()), Some(whole.to_owned()));
                }
            } else if self.text[text.range()].contains("torch.cuda.is_available") {
                self.flag_site(Place::RequirementsCudaPackage, text.range());
            }
        }
    }
}

/// Whether a dotted name is one of a framework whose devices are not torch's.
fn is_of_another_framework(path: &str) -> bool {
    let root = path.split('.').next().unwrap_or(path);
    matches!(
        root,
        "jax"
            | "jaxlib"
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

/// Whether a function of this name installs packages, or checks that they are installed.
fn is_installer(name: &str) -> bool {
    says(name, "requirement")
        || says(name, "pip") && !says(name, "pipe")
        || name.eq_ignore_ascii_case("install")
}

fn collect_texts<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match expr {
        Expr::StringLiteral(_) | Expr::FString(_) => out.push(expr),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| collect_texts(one, out)),
        Expr::List(list) => list.elts.iter().for_each(|one| collect_texts(one, out)),
        Expr::If(one) => {
            collect_texts(&one.body, out);
            collect_texts(&one.orelse, out);
        }
        _ => {}
    }
}
