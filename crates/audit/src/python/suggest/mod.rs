//! Expressions that an operator of `torch_npu` computes at once.
//!
//! A pattern is taken where the names and the assignments before it leave no doubt; what replaces it
//! is written out where it means the same for every value. `data/ops/fusions.tsv` has a row for
//! each pattern.
//!
//! - [`gates`] are products and sums of one expression;
//! - [`flows`] go through assignments: attention, softmax with a mask, routing of experts;
//! - [`calls`] are functions and classes by their names;
//! - [`blocks`] are loops and whole methods.

mod blocks;
mod calls;
mod flows;
mod gates;
#[cfg(test)]
mod tests;

use foldhash::HashMap;
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use super::classes;
use super::walk::Walker;
use crate::source_notes::Suggestion;

/// As many assignments as are followed from one name.
const MOST_STEPS: usize = 6;

/// What local names were given, in the order of the text.
pub(super) type Given<'a> = HashMap<&'a str, Vec<&'a Expr>>;

/// What a call is of: a function by its path, or a method of a value.
enum Callee<'a> {
    Function(String),
    Method(&'a Expr, &'a str),
}

impl<'a> Walker<'a, '_> {
    fn source(&self, of: &impl Ranged) -> String {
        self.text.get(std::ops::Range::<usize>::from(of.range())).unwrap_or_default().to_owned()
    }

    fn suggest(&mut self, rule: &'static str, range: TextRange, after: Option<String>) {
        let suggestion = Suggestion {
            rule,
            line: self.line(range.start()),
            before: self.source(&range),
            range: range.into(),
            after,
        };
        let known = |one: &Suggestion| one.rule == rule && one.line == suggestion.line;
        if !self.draft.suggested().any(known) {
            self.draft.suggests(suggestion);
        }
    }

    /// Notes what a name is given.
    pub(super) fn gives(&mut self, name: &'a str, value: &'a Expr) {
        if self.wanted.suggestions {
            self.given.entry(name).or_default().push(value);
        }
    }

    /// The expression that a name was given last before it stands here; of another expression it
    /// itself.
    fn value_of(&self, expr: &'a Expr) -> &'a Expr {
        let mut expr = expr;
        for _ in 0..MOST_STEPS {
            let Expr::Name(name) = expr else { break };
            let given = self.given.get(name.id.as_str());
            let before = |value: &&&Expr| value.end() <= name.range.start();
            let Some(value) = given.and_then(|all| all.iter().rev().find(before)) else { break };
            expr = value;
        }
        expr
    }

    fn callee(&self, expr: &'a Expr) -> Option<(Callee<'a>, &'a [Expr])> {
        let call = expr.as_call_expr()?;
        let arguments = &*call.arguments.args;
        if let Some(path) = self.path(&call.func) {
            return Some((Callee::Function(super::api::public(&path).into_owned()), arguments));
        }
        let attribute = call.func.as_attribute_expr()?;
        Some((Callee::Method(&attribute.value, attribute.attr.as_str()), arguments))
    }

    /// What a function of torch, or a method of tensors, with one of these names is called on, with the
    /// other arguments.
    fn on(&self, expr: &'a Expr, names: &[&str]) -> Option<(&'a Expr, &'a [Expr])> {
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

    /// The class of which `self.x(…)` is called, and the arguments.
    fn module_call(&self, expr: &'a Expr) -> Option<(&str, &'a str, &'a [Expr])> {
        let call = expr.as_call_expr()?;
        let name = classes::of_self(&call.func)?;
        let class = self.class?.built.get(name)?;
        Some((class, name, &call.arguments.args))
    }
}
