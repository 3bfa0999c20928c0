//! The classes of a file and the values of their attributes.

use foldhash::HashMap;
use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtClassDef};

use pysyntax::dotted;
use pysyntax::scope::{ScopeId, Scopes};

use super::kinds::{self, Kind};

/// A class of the file.
#[derive(Debug, Default)]
pub(super) struct ClassFacts<'a> {
    /// It is a PyTorch module, or may be one.
    pub module: bool,
    /// It prepares data.
    pub data: bool,
    /// The kinds of the attributes `self.x`.
    pub attributes: HashMap<&'a str, Kind>,
    /// The classes whose instances are assigned to `self.x`, by public name.
    pub built: HashMap<&'a str, String>,
}

/// Returns whether a name follows the convention for classes: `Linear`, `GELU`, not `T5_SMALL`.
pub(super) fn is_class_name(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let short = (2..=6).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_uppercase());
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && (short || name.contains(|c: char| c.is_ascii_lowercase()))
}

/// Collects the facts of a class.
pub(super) fn class_facts<'a>(
    def: &'a StmtClassDef,
    scopes: &Scopes<'a>,
    scope: ScopeId,
) -> ClassFacts<'a> {
    let mut class = ClassFacts::default();
    for base in def.bases() {
        let path = scopes.path(base, scope);
        let last = path.as_deref().or_else(|| base.as_name_expr().map(|name| name.id.as_str()));
        let last = last.map(dotted::last).unwrap_or_default();
        class.data |=
            last.ends_with("Dataset") || last.ends_with("Sampler") || last.ends_with("Tokenizer");
        class.module |= path.as_deref().is_some_and(|path| path.starts_with("torch.nn."))
            || last.ends_with("Module")
            || last.ends_with("Model")
            || last.ends_with("Layer")
            || last.ends_with("Block");
    }
    class.module |= def
        .body
        .iter()
        .any(|stmt| stmt.as_function_def_stmt().is_some_and(|def| def.name.as_str() == "forward"));
    let mut finder = AttributeVisitor { class: &mut class, scopes, scope };
    finder.visit_body(&def.body);
    class
}

struct AttributeVisitor<'a, 'c, 's> {
    class: &'c mut ClassFacts<'a>,
    scopes: &'s Scopes<'a>,
    scope: ScopeId,
}

impl<'a> AttributeVisitor<'a, '_, '_> {
    fn give(&mut self, name: &'a str, value: &'a Expr) {
        let path = value.as_call_expr().and_then(|call| self.scopes.path(&call.func, self.scope));
        let kind = match value {
            Expr::Call(call) => called(path.as_deref(), call),
            _ => self.value(value),
        };
        if let Expr::Call(call) = value {
            let path = path.or_else(|| call.func.as_name_expr().map(|name| name.id.to_string()));
            if let Some(path) = path.filter(|path| is_class_name(dotted::last(path))) {
                let path = super::api::public(path.trim_start_matches('.')).into_owned();
                self.class.built.insert(name, path);
            }
        }
        let known = self.class.attributes.entry(name).or_insert(kind);
        *known = known.join(kind);
    }

    fn value(&self, value: &'a Expr) -> Kind {
        match value {
            Expr::Call(call) => called(self.scopes.path(&call.func, self.scope).as_deref(), call),
            Expr::If(both) => self.value(&both.body).join(self.value(&both.orelse)),
            Expr::BooleanLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::StringLiteral(_)
            | Expr::Compare(_) => Kind::Not,
            _ => Kind::Maybe,
        }
    }
}

/// Returns the kind of an attribute that a call is assigned to. `path` is the dotted name of the
/// called object, if it has one.
fn called(path: Option<&str>, call: &ExprCall) -> Kind {
    let name = match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    };
    match path {
        Some("torch.nn.Parameter" | "torch.nn.parameter.Parameter") => Kind::Tensor,
        Some("torch.nn.ParameterList" | "torch.nn.ParameterDict") => Kind::Seq,
        Some(path) if path.starts_with("torch.") => {
            if is_class_name(name) {
                Kind::Module
            } else {
                kinds::function_result(
                    path,
                    kinds::CallShape { arguments: call.arguments.args.len(), keywords: &[] },
                )
            }
        }
        _ if name == "get_buffer" || name == "get_parameter" => Kind::Tensor,
        _ if kinds::plain_builtin(name) => Kind::Not,
        _ if is_class_name(name) => Kind::Module,
        _ => Kind::Maybe,
    }
}

/// Returns the name of the attribute if the expression is an attribute of `self`.
pub(super) fn self_attribute(expr: &Expr) -> Option<&str> {
    let attribute = expr.as_attribute_expr()?;
    (attribute.value.as_name_expr()?.id == "self").then(|| attribute.attr.as_str())
}

impl<'a> Visitor<'a> for AttributeVisitor<'a, '_, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    if let Some(name) = self_attribute(target) {
                        self.give(name, &assign.value);
                    }
                }
            }
            Stmt::AnnAssign(assign) => {
                if let (Some(name), Some(value)) = (self_attribute(&assign.target), &assign.value) {
                    self.give(name, value);
                }
            }
            Stmt::Expr(expr) => {
                // `self.register_buffer("x", …)`, `self.add_module("x", …)`.
                if let Expr::Call(call) = &*expr.value
                    && let Some(kind) = match self_attribute(&call.func) {
                        Some("register_buffer" | "register_parameter") => Some(Kind::Tensor),
                        Some("add_module" | "register_module") => Some(Kind::Module),
                        _ => None,
                    }
                    && let Some(name) =
                        call.arguments.args.first().and_then(Expr::as_string_literal_expr)
                {
                    self.class.attributes.insert(name.value.to_str(), kind);
                }
            }
            Stmt::ClassDef(_) => {}
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}
