//! Walks calls: torch functions, methods of tensors and modules, definitions of the tree.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextSize};

use pysyntax::dotted;

use super::api::{self, NameSharing, OperatorSet};
use super::classes;
use super::facts::Role;
use super::kinds::{self, Kind};
use super::walk::Walker;
use super::{documented_calls, name_hints};

/// Torch functions that return their tensor, or create one without an operator.
const PASSING: &[&str] =
    &["Parameter", "Buffer", "from_numpy", "from_dlpack", "checkpoint", "_assert"];

/// Functions that return an activation by its name.
const ACTIVATIONS: &[&str] = &[
    "get_activation",
    "get_activation_fn",
    "get_activation_layer",
    "get_act_layer",
    "get_act_fn",
    "create_act_layer",
];

impl<'a> Walker<'a, '_> {
    pub(super) fn call(&mut self, expr: &'a Expr, call: &'a ExprCall) -> Kind {
        let at = expr.start();
        let kind = self.call_of(expr, call, at);
        // In an assignment, the name still means the old value here.
        self.suggestions.call(&self.names, &mut self.recorder, expr, call);
        kind
    }

    fn call_of(&mut self, expr: &'a Expr, call: &'a ExprCall, at: TextSize) -> Kind {
        if let Some(path) = self.names.path(&call.func) {
            return self.call_path(&path, expr, call);
        }
        match &*call.func {
            Expr::Name(name) => {
                let word = name.id.as_str();
                match self.names.local(word) {
                    Some(kind) => {
                        let given = self.arguments(call);
                        Self::called_value(kind, given)
                    }
                    None if self.names.scopes.home(word, self.names.scope).is_none() => {
                        self.builtin(word, call, at)
                    }
                    None => {
                        let given = self.arguments(call);
                        self.recorder.refers_own(word);
                        if classes::is_class_name(word) {
                            Kind::Module
                        } else {
                            by_arguments(given)
                        }
                    }
                }
            }
            Expr::Attribute(attribute) => {
                let name = attribute.attr.as_str();
                if let Some(own) = classes::self_attribute(&call.func) {
                    let known = self.names.attribute(own);
                    let given = self.arguments(call);
                    self.recorder.calls_unknown(own);
                    return match known {
                        Some(kind) => Self::called_value(kind, given),
                        None => by_arguments(given),
                    };
                }
                // The attribute has no dotted name, so its value has none either.
                let value = self.unnamed(&attribute.value);
                self.call_method(value, name, call, attribute.range.start())
            }
            other => {
                let kind = self.expr(other);
                let given = self.arguments(call);
                Self::called_value(kind, given)
            }
        }
    }

    /// Evaluates the arguments and returns the most tensor-like kind among them.
    fn arguments(&mut self, call: &'a ExprCall) -> Kind {
        let mut held = Kind::Not;
        for argument in &call.arguments.args {
            held = held.join(self.expr(argument));
        }
        for keyword in &call.arguments.keywords {
            let kind = self.expr(&keyword.value);
            held = held.join(kind);
            if let (Some(name), Some(text)) = (&keyword.arg, keyword.value.as_string_literal_expr())
            {
                name_hints::record_keyword(
                    &mut self.recorder,
                    name.as_str(),
                    text.value.to_str(),
                    keyword.value.start(),
                );
            }
        }
        held
    }

    /// Returns the kind of the result of calling a value.
    fn called_value(kind: Kind, given: Kind) -> Kind {
        match kind {
            Kind::Module if given.holds() => Kind::Tensor,
            Kind::Module => Kind::Likely,
            _ => by_arguments(given),
        }
    }

    /// Returns the arguments of a call that determine the kind of its result.
    fn given(call: &ExprCall) -> kinds::CallShape<'_> {
        kinds::CallShape {
            arguments: call.arguments.args.len(),
            keywords: &call.arguments.keywords,
        }
    }

    fn call_path(&mut self, path: &str, expr: &'a Expr, call: &'a ExprCall) -> Kind {
        let at = expr.start();
        let public = api::public(path);
        let name = dotted::last(&public);
        // These functions only check the type of their argument and compute nothing.
        if matches!(&*public, "torch.is_tensor" | "typing.cast" | "torch._assert") {
            if let Some(last) = call.arguments.args.last() {
                return self.expr(last);
            }
            return Kind::Not;
        }
        let given = self.arguments(call);
        name_hints::record_mention(&mut self.recorder, path, at, true);
        name_hints::record_call(&mut self.recorder, &public, call, at);
        documented_calls::record_call(&self.names, &mut self.recorder, &public, path, call, at);
        let written = Self::given(call);
        if let Some(rest) = public.strip_prefix("torch.ops.") {
            self.recorder.custom(rest, at);
            return Kind::Tensor;
        }
        if let Some(rest) = public.strip_prefix("torch_npu.")
            && rest.starts_with("npu_")
            && !rest.contains('.')
        {
            self.recorder.custom(&format!("npu.{rest}"), at);
            return if written.arguments > 0 { Kind::Likely } else { Kind::Maybe };
        }
        if let Some(reach) = Self::reached(&public, call) {
            if !public.starts_with("torch") {
                self.recorder.refers(path);
            }
            let module = classes::is_class_name(name);
            let outer = self.recorder.role;
            // A module that is built here runs with the model.
            if module && !public.starts_with("torch.distributions.") {
                self.recorder.role = if self.names.in_data_class() { outer } else { Role::Run };
            }
            self.recorder.uses_of_call(reach, call, at);
            self.recorder.role = outer;
            if module && !public.ends_with("Tensor") {
                return Kind::Module;
            }
            if on_host(call) {
                return Kind::Host;
            }
            if given == Kind::Host && !written.has("device") {
                return Kind::Host;
            }
            return kinds::function_result(&public, written);
        }
        if public.starts_with("torch.") || public.starts_with("Tensor.") {
            if name == "from_numpy" {
                return Kind::Host;
            }
            return if PASSING.contains(&name) {
                if given.holds() { given } else { Kind::Tensor }
            } else if classes::is_class_name(name) {
                Kind::Module
            } else {
                Kind::Maybe
            };
        }
        self.recorder.refers(path);
        if ACTIVATIONS.contains(&name)
            && let Some(Expr::StringLiteral(key)) = call.arguments.args.first()
            && let Some(reach) = api::activation(key.value.to_str())
        {
            self.recorder.uses(reach, at, false);
            return Kind::Module;
        }
        if classes::is_class_name(name) {
            Kind::Module
        } else if plain_library(path) {
            Kind::Not
        } else {
            by_arguments(given)
        }
    }

    /// Returns the operators that an API calls with these arguments.
    fn reached(public: &str, call: &ExprCall) -> Option<OperatorSet> {
        if let Some((name, place)) = api::deciding(public) {
            let given = call.arguments.find_argument_value(name, place);
            let value = match given {
                None if !spreads(call) => Some(""),
                Some(Expr::StringLiteral(text)) => Some(text.value.to_str()),
                _ => None,
            };
            if let Some(found) = value.and_then(|value| api::decided(public, (name, place), value))
            {
                return Some(found);
            }
        }
        for option in ["fused", "foreach"] {
            if let Some(keyword) = call.arguments.find_keyword(option)
                && let Expr::BooleanLiteral(value) = &keyword.value
            {
                let value = if value.value { "True" } else { "False" };
                if let Some(found) = api::with_option(public, option, value) {
                    return Some(found);
                }
            }
        }
        api::api(public)
    }

    /// Walks a method call on a value.
    fn call_method(
        &mut self,
        value: Kind,
        name: &'a str,
        call: &'a ExprCall,
        at: TextSize,
    ) -> Kind {
        let given = self.arguments(call);
        let written = Self::given(call);
        let result = || kinds::method_result(name, written);
        let shared = api::shared(name);
        let tensor = match (value, shared) {
            (Kind::Tensor, Some(_))
            | (Kind::Likely, Some(NameSharing::TensorOnly | NameSharing::Arrays)) => true,
            // torch names the argument `dim`; other libraries name it `axis`.
            (Kind::Likely | Kind::Maybe, Some(_)) if written.has("dim") => true,
            (Kind::Maybe, Some(NameSharing::TensorOnly)) => true,
            _ => false,
        };
        if value == Kind::Host {
            return match name {
                "to" if !to_host(call) => Kind::Tensor,
                "cuda" | "npu" => Kind::Tensor,
                _ if shared.is_some() => match result() {
                    Kind::Tensor => Kind::Host,
                    other => other,
                },
                _ => Kind::Maybe,
            };
        }
        if !tensor {
            self.recorder.calls_unknown(name);
            if value == Kind::Likely {
                // The call sets the computation type even if the value is a module.
                name_hints::record_dtype_method(&mut self.recorder, name, at);
            }
            return match (value, name) {
                (
                    Kind::Module,
                    "to" | "cuda" | "npu" | "eval" | "train" | "half" | "float" | "bfloat16"
                    | "double" | "cpu",
                ) => {
                    name_hints::record_dtype_method(&mut self.recorder, name, at);
                    Kind::Module
                }
                (Kind::Module, "forward" | "__call__") => Kind::Tensor,
                (
                    Kind::Seq,
                    "append" | "extend" | "insert" | "copy" | "pop" | "items" | "values",
                ) => Kind::Seq,
                (Kind::Seq, _)
                | (
                    Kind::Likely,
                    "to" | "float" | "half" | "double" | "bfloat16" | "long" | "int" | "bool"
                    | "clone",
                ) => self.likely(value, name, at),
                (Kind::Not, _) => Kind::Not,
                _ => by_arguments(given),
            };
        }
        name_hints::record_dtype_method(&mut self.recorder, name, at);
        if value.is_tensor() {
            documented_calls::record_method(&self.names, &mut self.recorder, name, call, at);
        }
        if let Some(reach) = api::method(name) {
            // On a value of unknown kind, the name may be a method of any type.
            let unsure = self.recorder.unsure;
            self.recorder.unsure |= value == Kind::Maybe;
            self.recorder.method =
                if value == Kind::Tensor { None } else { api::method_named(name) };
            self.recorder.uses_of_call(reach, call, at);
            self.recorder.method = None;
            self.recorder.unsure = unsure;
        }
        if name == "to" && to_host(call) {
            return Kind::Host;
        }
        if matches!(value, Kind::Maybe) && result() == Kind::Tensor {
            Kind::Likely
        } else {
            result()
        }
    }

    /// Records a method that modules also have, on a value that is probably a tensor.
    fn likely(&mut self, value: Kind, name: &str, at: TextSize) -> Kind {
        if value == Kind::Likely
            && let Some(reach) = api::method(name)
        {
            self.recorder.uses(reach, at, false);
            return Kind::Likely;
        }
        Kind::Maybe
    }

    fn builtin(&mut self, name: &'a str, call: &'a ExprCall, at: TextSize) -> Kind {
        if matches!(name, "isinstance" | "issubclass" | "hasattr" | "type" | "callable" | "print") {
            if let Some(first) = call.arguments.args.first()
                && name != "print"
            {
                self.expr(first);
            }
            return Kind::Not;
        }
        if name == "getattr"
            && let [object, Expr::StringLiteral(word), ..] = &*call.arguments.args
            && let Some(path) = self.names.path(object)
        {
            let path = format!("{path}.{}", word.value.to_str());
            if let Some(reach) = api::api(&api::public(&path)) {
                self.recorder.uses(reach, at, true);
            }
            return Kind::Maybe;
        }
        let given = self.arguments(call);
        match name {
            "abs" if given.is_tensor() => {
                self.recorder.operator("abs", at, false);
                given
            }
            "sum" if given.holds() => {
                self.recorder.operator("add", at, false);
                Kind::Likely
            }
            "float" | "int" | "bool" if given.is_tensor() => {
                self.recorder.operator(if name == "bool" { "bool" } else { "float" }, at, false);
                Kind::Not
            }
            "pow" if given.is_tensor() => {
                self.recorder.operator("pow", at, false);
                given
            }
            "max" | "min" => given,
            "super" => Kind::Maybe,
            _ if kinds::plain_builtin(name) => Kind::Not,
            _ if kinds::passing_builtin(name) => match given {
                Kind::Tensor | Kind::Likely | Kind::Seq => Kind::Seq,
                other => other,
            },
            _ => by_arguments(given),
        }
    }
}

/// Returns whether the functions of a library return no torch tensors.
fn plain_library(path: &str) -> bool {
    let root = dotted::first(path);
    matches!(
        root,
        "numpy"
            | "math"
            | "os"
            | "json"
            | "random"
            | "time"
            | "re"
            | "sys"
            | "logging"
            | "warnings"
            | "itertools"
            | "functools"
            | "collections"
            | "typing"
            | "pathlib"
            | "PIL"
            | "cv2"
            | "pandas"
            | "scipy"
            | "argparse"
            | "copy"
            | "datetime"
            | "inspect"
            | "operator"
            | "string"
            | "yaml"
    ) && !path.starts_with("copy.")
        && !path.starts_with("functools.")
}

/// Returns the result kind of an unknown function: a tensor if an argument is one.
fn by_arguments(given: Kind) -> Kind {
    match given {
        Kind::Tensor | Kind::Likely | Kind::Seq => Kind::Likely,
        Kind::Host => Kind::Host,
        _ => Kind::Maybe,
    }
}

/// Returns whether a call has unpacked arguments (`*` or `**`).
fn spreads(call: &ExprCall) -> bool {
    call.arguments.args.iter().any(Expr::is_starred_expr)
        || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
}

/// Returns whether a call creates a tensor on the host: `device="cpu"`.
fn on_host(call: &ExprCall) -> bool {
    call.arguments.find_keyword("device").is_some_and(|keyword| is_host(&keyword.value))
}

/// Returns whether a call moves a tensor to the host: `x.to("cpu")`.
fn to_host(call: &ExprCall) -> bool {
    call.arguments.args.first().is_some_and(is_host) || on_host(call)
}

fn is_host(expr: &Expr) -> bool {
    match expr {
        Expr::StringLiteral(text) => text.value.to_str() == "cpu",
        Expr::Call(call) => {
            super::constant_conditions::dotted(&call.func)
                .is_some_and(|name| name.ends_with("device"))
                && call.arguments.args.first().is_some_and(is_host)
        }
        _ => false,
    }
}
