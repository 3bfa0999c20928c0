//! Values that cross calls: from arguments to the parameters of functions of the same file, and back
//! from what is asked of a call to what its function returns.

use ruff_python_ast::{Arguments, Expr, ExprCall, StmtFunctionDef};
use ruff_text_size::Ranged as _;

use super::engine::Engine;
use super::flow::Slot;
use super::literal;
use super::names::device_like;
use super::roles::{Role, Want};
use pysyntax::scope::Binding;

impl<'a> Engine<'a> {
    /// Values that reach the parameters of functions of this file.
    pub(super) fn flow_into(&mut self, call: &'a ExprCall, name: &str, is_method: bool) {
        let (def, skip): (&'a StmtFunctionDef, usize) = if is_method {
            match self.methods.get(name).map(Vec::as_slice) {
                Some([def]) => (def, usize::from(!is_static(def))),
                _ => return,
            }
        } else {
            let Some((_, all)) = self.scopes.bindings(name, self.scope) else { return };
            match all {
                [Binding::Function(def)] => (def, 0),
                [Binding::Class(class)] => {
                    let init = class.body.iter().find_map(|stmt| {
                        stmt.as_function_def_stmt().filter(|def| def.name.as_str() == "__init__")
                    });
                    let Some(init) = init else { return };
                    (init, 1)
                }
                _ => return,
            }
        };
        let Some(opened) = self.scopes.opened_by(def.range()) else { return };
        let names: Vec<&'a str> =
            def.parameters.iter_non_variadic_params().map(|one| one.name().as_str()).collect();
        let give = |me: &mut Self, parameter: &'a str, value: &'a Expr| {
            let slot = Slot::Name(opened, parameter);
            me.mark_by_name(&slot, parameter);
            me.flow.give(slot, me.scope, value);
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

    /// A call stands where a device or backend is wanted: its own values are.
    pub(super) fn spread_call(&mut self, call: &'a ExprCall, role: Role) {
        let first = call.arguments.args.first();
        match &*call.func {
            Expr::Name(name) => {
                let name = name.id.as_str();
                if let Some((_, all)) = self.scopes.bindings(name, self.scope)
                    && let [Binding::Function(def)] = all
                    && let Some(opened) = self.scopes.opened_by(def.range())
                {
                    self.flow.mark(&Slot::Returns(opened), role);
                } else if matches!(name, "str" | "Option" | "Field" | "Argument" | "list" | "tuple")
                {
                    if let Some(arg) = first {
                        self.spread(arg, role);
                    }
                } else if name == "getattr" {
                    call.arguments.args.get(2).iter().for_each(|arg| self.spread(arg, role));
                }
                self.spread_defaults(&call.arguments, role);
            }
            Expr::Attribute(attribute) => {
                let name = attribute.attr.as_str();
                match name {
                    "Option" | "Field" | "Argument" => {
                        if let Some(arg) = first {
                            self.spread(arg, role);
                        }
                    }
                    "get" | "pop" | "setdefault" | "getenv" => {
                        call.arguments.args.get(1).iter().for_each(|arg| self.spread(arg, role));
                        if let Some(key) = first.and_then(literal::plain)
                            && role.want == Want::Device
                            && device_like(key)
                        {
                            self.flow.mark(&Slot::Key(key), role);
                        }
                    }
                    "lower" | "upper" | "strip" | "split" | "replace" | "format" | "copy" => {
                        self.spread(&attribute.value, role);
                    }
                    _ => {
                        if let Some([def]) = self.methods.get(name).map(Vec::as_slice)
                            && let Some(opened) = self.scopes.opened_by(def.range())
                        {
                            self.flow.mark(&Slot::Returns(opened), role);
                        }
                    }
                }
                self.spread_defaults(&call.arguments, role);
            }
            _ => {}
        }
    }

    fn spread_defaults(&mut self, arguments: &'a Arguments, role: Role) {
        for name in ["default", "default_factory"] {
            if let Some(keyword) = arguments.find_keyword(name) {
                self.spread(&keyword.value, role);
            }
        }
    }
}

fn is_static(def: &StmtFunctionDef) -> bool {
    def.decorator_list.iter().any(|decorator| {
        decorator.expression.as_name_expr().is_some_and(|name| name.id.as_str() == "staticmethod")
    })
}
