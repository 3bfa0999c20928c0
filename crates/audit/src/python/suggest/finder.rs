//! Follows names to assigned values and records suggestions: the common part of all patterns.

use foldhash::HashMap;
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use crate::python::api;
use crate::python::classes;
use crate::python::names::Names;
use crate::python::recorder::Recorder;
use crate::source_notes::Suggestion;

/// The maximum number of assignments that are followed from one name.
const MOST_STEPS: usize = 6;

/// Values that were assigned to local names, in the order of the text.
pub(in super::super) type Assigned<'a> = HashMap<&'a str, Vec<&'a Expr>>;

/// The callee of a call: a function by its path, or a method of a value.
pub(super) enum Callee<'a> {
    Function(String),
    Method(&'a Expr, &'a str),
}

/// The current position of the walk, at which patterns are compared.
pub(super) struct Finder<'f, 'a, 's> {
    pub(super) names: &'f Names<'a, 's>,
    pub(super) recorder: &'f mut Recorder<'a, 's>,
    pub(super) assigned: &'f Assigned<'a>,
}

impl<'a> Finder<'_, 'a, '_> {
    pub(super) fn source(&self, of: &impl Ranged) -> String {
        self.names
            .text
            .get(std::ops::Range::<usize>::from(of.range()))
            .unwrap_or_default()
            .to_owned()
    }

    pub(super) fn suggest(&mut self, rule: &'static str, range: TextRange, after: Option<String>) {
        let suggestion = Suggestion {
            rule,
            line: self.recorder.line(range.start()),
            before: self.source(&range),
            range: range.into(),
            after,
        };
        let known = |one: &Suggestion| one.rule == rule && one.line == suggestion.line;
        if !self.recorder.suggested().any(known) {
            self.recorder.suggests(suggestion);
        }
    }

    /// Returns the expression that was last assigned to a name before this position. Returns other
    /// expressions unchanged.
    pub(super) fn value_of(&self, expr: &'a Expr) -> &'a Expr {
        let mut expr = expr;
        for _ in 0..MOST_STEPS {
            let Expr::Name(name) = expr else { break };
            let given = self.assigned.get(name.id.as_str());
            let before = |value: &&&Expr| value.end() <= name.range.start();
            let Some(value) = given.and_then(|all| all.iter().rev().find(before)) else { break };
            expr = value;
        }
        expr
    }

    pub(super) fn callee(&self, expr: &'a Expr) -> Option<(Callee<'a>, &'a [Expr])> {
        let call = expr.as_call_expr()?;
        let arguments = &*call.arguments.args;
        if let Some(path) = self.names.path(&call.func) {
            return Some((Callee::Function(api::public(&path).into_owned()), arguments));
        }
        let attribute = call.func.as_attribute_expr()?;
        Some((Callee::Method(&attribute.value, attribute.attr.as_str()), arguments))
    }

    /// Returns the tensor that a torch function or a tensor method with one of these names is
    /// called on, and the other arguments.
    pub(super) fn on(&self, expr: &'a Expr, names: &[&str]) -> Option<(&'a Expr, &'a [Expr])> {
        match self.callee(expr)? {
            (Callee::Function(path), arguments) => {
                let (module, name) = path.rsplit_once('.')?;
                let of_torch = matches!(module, "torch" | "torch.nn.functional");
                let (first, rest) = arguments.split_first()?;
                (of_torch && names.contains(&name)).then_some((first, rest))
            }
            (Callee::Method(value, name), arguments) => {
                names.contains(&name).then_some((value, arguments))
            }
        }
    }

    /// Returns the class and name of the attribute that `self.x(…)` calls, and the arguments.
    pub(super) fn module_call(&self, expr: &'a Expr) -> Option<(&str, &'a str, &'a [Expr])> {
        let call = expr.as_call_expr()?;
        let name = classes::self_attribute(&call.func)?;
        let class = self.names.class.as_ref()?.built.get(name)?;
        Some((class, name, &call.arguments.args))
    }
}
