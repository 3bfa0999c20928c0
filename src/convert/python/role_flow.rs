//! Roles that reach expressions: rewrites the strings of an expression that is used as a device or
//! backend, and follows its names and calls to the origin of their values.

use ruff_python_ast::{Arguments, Expr, ExprCall, StmtFunctionDef};
use ruff_text_size::Ranged as _;

use super::device_keys::DeviceKeys;
use super::edits::Edits;
use super::environment_edits::EnvironmentNames;
use super::literal;
use super::names::device_like;
use super::roles::{Role, Want};
use super::shared_roles;
use super::source::Source;
use super::value_flow::{Slot, ValueFlow};
use crate::rules::Place;
use crate::site::Certainty;
use pysyntax::scope::{Binding, ScopeId};

/// Functions that return their first argument, or elements of it.
const PASSES_ON: &[&str] = &[
    "str", "Option", "Field", "Argument", "list", "tuple", "set", "sorted", "reversed", "iter",
    "next", "min", "max", "choice", "choices", "sample", "cycle", "deepcopy",
];

/// Roles that reach expressions, and the edits that follow from them.
pub(super) struct RoleFlow<'a> {
    pub(super) source: &'a Source<'a>,
    pub edits: Edits<'a>,
    /// Values of slots, and the roles in which they are used.
    pub values: ValueFlow<'a>,
    pub keys: DeviceKeys<'a>,
    pub environment: EnvironmentNames,
}

impl<'a> RoleFlow<'a> {
    /// Begins with the given plan and without values.
    pub(super) fn new(source: &'a Source<'a>, edits: Edits<'a>) -> Self {
        Self {
            source,
            edits,
            values: ValueFlow::default(),
            keys: DeviceKeys::default(),
            environment: EnvironmentNames::default(),
        }
    }

    /// Follows all values to their origin, after the walk over the whole file; returns the plan and
    /// the values.
    pub(super) fn finish(mut self) -> (Edits<'a>, ValueFlow<'a>) {
        self.follow();
        let likely = self.source.imports.may_hold_devices();
        for (key, role, scope) in std::mem::take(&mut self.keys).settle(likely) {
            self.spread(key, role, scope);
        }
        self.follow();
        (self.edits, self.values)
    }

    /// Follows the flow of values to its end.
    fn follow(&mut self) {
        loop {
            while let Some((role, scope, expr)) = self.values.next() {
                self.spread(expr, role, scope);
            }
            let compared = self.values.take_compared();
            if compared.is_empty() {
                break;
            }
            for (want, scope, expr) in compared {
                let role = match want {
                    Want::Backend => Role::backend(Place::BackendComparison),
                    _ => Role::device(Place::DeviceTypeComparison),
                };
                self.spread(expr, role, scope);
            }
        }
    }

    /// Uses `expr` in `role`: rewrites its strings, and follows its names.
    pub(super) fn spread(&mut self, expr: &'a Expr, role: Role, scope: ScopeId) {
        if !self.values.first_time(expr, role.want) {
            return;
        }
        if role.want == Want::Location && self.spread_location(expr, scope) {
            return;
        }
        if role.want == Want::Variable && literal::plain(expr).is_some() {
            self.environment.plan_name(&mut self.edits, expr, None);
            return;
        }
        if let Some(parameter) = role.parameter
            && self.settle_constant(expr, literal::span(expr.range()), parameter, scope)
        {
            return;
        }
        if literal::leading(expr).is_some() {
            self.edits.rewrite_text(expr, role, Certainty::Exact);
            if let Some(first) = literal::first_interpolation(expr) {
                self.spread(first, role, scope);
            }
            // `"%s:%d" % (kind, index)`
            if let Expr::BinOp(op) = expr
                && op.op.is_mod()
                && literal::plain(&op.left).is_some_and(|text| text.starts_with("%s"))
            {
                let first = op.right.as_tuple_expr().and_then(|tuple| tuple.elts.first());
                self.spread(first.unwrap_or(&op.right), role, scope);
            }
            return;
        }
        match expr {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) => {
                if let Some(slot) = self.source.slot(expr, scope) {
                    self.values.mark(&slot, role);
                }
            }
            Expr::If(one) => {
                self.spread(&one.body, role, scope);
                self.spread(&one.orelse, role, scope);
            }
            Expr::BoolOp(op) => op.values.iter().for_each(|value| self.spread(value, role, scope)),
            Expr::BinOp(op) => self.spread(&op.left, role, scope),
            Expr::Named(named) => self.spread(&named.value, role, scope),
            Expr::List(list) => list.elts.iter().for_each(|one| self.spread(one, role, scope)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| self.spread(one, role, scope)),
            Expr::Set(set) => set.elts.iter().for_each(|one| self.spread(one, role, scope)),
            Expr::Starred(one) => self.spread(&one.value, role, scope),
            Expr::Await(one) => self.spread(&one.value, role, scope),
            Expr::ListComp(one) => {
                self.spread(&one.elt, role, self.source.scope_inside(expr.range(), scope));
            }
            Expr::Generator(one) => {
                self.spread(&one.elt, role, self.source.scope_inside(expr.range(), scope));
            }
            Expr::DictComp(one) => {
                self.spread(&one.value, role, self.source.scope_inside(expr.range(), scope));
            }
            Expr::Lambda(one) if role.want != Want::Location => {
                self.spread(&one.body, role, self.source.scope_inside(expr.range(), scope));
            }
            // A loop over a dictionary of variables yields its keys.
            Expr::Dict(dict) if role.want == Want::Variable => {
                dict.items.iter().filter_map(|item| item.key.as_ref()).for_each(|key| {
                    self.spread(key, role, scope);
                });
            }
            Expr::Dict(dict) => {
                dict.items.iter().for_each(|item| self.spread(&item.value, role, scope));
            }
            Expr::Call(call) => self.spread_call(call, role, scope),
            _ => {}
        }
    }

    /// Uses the result of a call in `role`.
    fn spread_call(&mut self, call: &'a ExprCall, role: Role, scope: ScopeId) {
        let first = call.arguments.args.first();
        if let Some(foreign @ Slot::Foreign(_)) = self.source.result(&call.func, scope) {
            self.values.mark(&foreign, role);
        }
        match &*call.func {
            Expr::Name(name) => {
                let name = name.id.as_str();
                if let Some((_, all)) = self.source.scopes.bindings(name, scope)
                    && let [Binding::Function(def)] = all
                    && let Some(opened) = self.source.scopes.opened_by(def.range())
                {
                    self.values.mark(&Slot::Returns(opened), role);
                } else if PASSES_ON.contains(&name) {
                    if let Some(arg) = first {
                        self.spread(arg, role, scope);
                    }
                } else if name == "getattr" {
                    call.arguments.args.get(2).iter().for_each(|arg| self.spread(arg, role, scope));
                }
                self.spread_defaults(&call.arguments, role, scope);
            }
            Expr::Attribute(attribute) => {
                let name = attribute.attr.as_str();
                match name {
                    "Option" | "Field" | "Argument" | "choice" | "choices" | "sample" | "cycle"
                    | "deepcopy" => {
                        if let Some(arg) = first {
                            self.spread(arg, role, scope);
                        }
                    }
                    "get" | "pop" | "setdefault" | "getenv" => {
                        call.arguments
                            .args
                            .get(1)
                            .iter()
                            .for_each(|arg| self.spread(arg, role, scope));
                        if let Some(key) = first.and_then(literal::plain)
                            && role.want == Want::Device
                            && device_like(key)
                        {
                            self.values.mark(&Slot::Key(key), role);
                        }
                    }
                    "lower" | "upper" | "strip" | "split" | "replace" | "format" | "copy" => {
                        self.spread(&attribute.value, role, scope);
                    }
                    _ => {
                        if let Some(def) = self.source.definitions.only_method(name)
                            && let Some(opened) = self.source.scopes.opened_by(def.range())
                        {
                            self.values.mark(&Slot::Returns(opened), role);
                        }
                    }
                }
                self.spread_defaults(&call.arguments, role, scope);
            }
            _ => {}
        }
    }

    fn spread_defaults(&mut self, arguments: &'a Arguments, role: Role, scope: ScopeId) {
        for name in ["default", "default_factory"] {
            if let Some(keyword) = arguments.find_keyword(name) {
                self.spread(&keyword.value, role, scope);
            }
        }
    }

    /// Plans `map_location={'cuda:0': 'cuda:1'}`: the keys are devices of the loaded file, the values
    /// devices of this host. Returns whether `expr` is such a dictionary.
    fn spread_location(&mut self, expr: &'a Expr, scope: ScopeId) -> bool {
        let role = Role::device(Place::MapLocation);
        match expr {
            Expr::Dict(dict) => {
                self.edits.flag_site(Place::MapLocationDict, expr.range());
                self.keys
                    .keep(dict.items.iter().filter_map(|item| item.key.as_ref()).map(Expr::range));
                for item in &dict.items {
                    self.spread(&item.value, role, scope);
                }
            }
            Expr::DictComp(one) => {
                self.edits.flag_site(Place::MapLocationDict, expr.range());
                self.spread(&one.value, role, self.source.scope_inside(expr.range(), scope));
            }
            _ => return false,
        }
        true
    }

    /// Records the arguments of a call as values of the parameters of a function of this file.
    pub(super) fn pass_arguments(
        &mut self,
        call: &'a ExprCall,
        name: &str,
        is_method: bool,
        scope: ScopeId,
    ) {
        let (def, skip): (&'a StmtFunctionDef, usize) = if is_method {
            let Some(def) = self.source.definitions.only_method(name) else {
                self.pass_fields(call, scope);
                return;
            };
            (def, usize::from(!is_static(def)))
        } else {
            let Some((_, all)) = self.source.scopes.bindings(name, scope) else {
                self.pass_fields(call, scope);
                return;
            };
            match all {
                [Binding::Function(def)] => (def, 0),
                [Binding::Class(class)] => {
                    let init = class.body.iter().find_map(|stmt| {
                        stmt.as_function_def_stmt().filter(|def| def.name.as_str() == "__init__")
                    });
                    let Some(init) = init else {
                        self.pass_fields(call, scope);
                        return;
                    };
                    (init, 1)
                }
                [Binding::Import { path, .. }] => {
                    self.pass_to_other_file(call, path, scope);
                    self.pass_fields(call, scope);
                    return;
                }
                _ => return,
            }
        };
        let Some(opened) = self.source.scopes.opened_by(def.range()) else { return };
        let names: Vec<&'a str> =
            def.parameters.iter_non_variadic_params().map(|one| one.name().as_str()).collect();
        let give = |me: &mut Self, parameter: &'a str, value: &'a Expr| {
            let slot = Slot::Name(opened, parameter);
            me.values.mark_by_name(&slot, parameter);
            me.give(slot, value, scope);
        };
        for (at, arg) in call.arguments.args.iter().enumerate() {
            if arg.is_starred_expr() {
                break;
            }
            if let Some(parameter) = names.get(at + skip) {
                give(self, parameter, arg);
            }
        }
        for keyword in &call.arguments.keywords {
            if let Some(arg) = &keyword.arg
                && names.contains(&arg.as_str())
            {
                give(self, arg.as_str(), &keyword.value);
            }
        }
    }
}

impl<'a> RoleFlow<'a> {
    /// Records that `slot` gets the value of `expr`.
    pub(super) fn give(&mut self, slot: Slot<'a>, expr: &'a Expr, scope: ScopeId) {
        if matches!(expr, Expr::Name(_) | Expr::Call(_))
            && let Some(from) = self.source.root(expr, scope)
        {
            self.values.read(from, &slot);
        }
        self.values.give(slot, scope, expr);
    }

    /// Records the keyword arguments of a call as values of the fields of the created object: a
    /// dataclass or a namespace.
    fn pass_fields(&mut self, call: &'a ExprCall, scope: ScopeId) {
        if let [_, name, value] = &*call.arguments.args
            && call.func.as_name_expr().is_some_and(|func| func.id.as_str() == "setattr")
            && let Some(name) = literal::plain(name)
        {
            self.give(Slot::Attr(name.into()), value, scope);
        }
        self.pass_keywords(&call.arguments, scope);
    }

    /// Records keyword arguments as values of fields.
    pub(super) fn pass_keywords(&mut self, arguments: &'a Arguments, scope: ScopeId) {
        for keyword in &arguments.keywords {
            if let Some(name) = &keyword.arg {
                self.give(Slot::Attr(name.as_str().into()), &keyword.value, scope);
            }
        }
    }

    /// Uses the arguments of a function of another file in the roles of its parameters.
    fn pass_to_other_file(&mut self, call: &'a ExprCall, path: &str, scope: ScopeId) {
        let context = self.source.context;
        let Some(project) = context.project.filter(|project| !project.shared().is_empty()) else {
            return;
        };
        let Some(path) = project.own_path(path, context.package) else { return };
        for parameter in project.shared().parameters(&path) {
            let keyword = call.arguments.find_keyword(&parameter.name);
            let positional = call.arguments.args.get(parameter.position);
            let open = call.arguments.args.iter().any(Expr::is_starred_expr);
            let positional = positional.filter(|_| !open);
            if let Some(value) = keyword.map(|keyword| &keyword.value).or(positional) {
                self.spread(value, shared_roles::role(parameter.want), scope);
            }
        }
    }
}

fn is_static(def: &StmtFunctionDef) -> bool {
    def.decorator_list.iter().any(|decorator| {
        decorator.expression.as_name_expr().is_some_and(|name| name.id.as_str() == "staticmethod")
    })
}
