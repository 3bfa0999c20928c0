//! Patterns of more than one expression: a complete method, a loop, two statements.

use ruff_python_ast::{Expr, Operator, Stmt, StmtFor, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextRange};

use super::finder::Finder;
use crate::python::classes;

/// The maximum number of statements of a hand-written norm.
const SHORT: usize = 7;

/// Suggests a fused RMSNorm for a `forward` that computes `x * rsqrt(mean(x ** 2) + eps) * weight`,
/// with any casts.
pub(super) fn suggest_method<'a>(finder: &mut Finder<'_, 'a, '_>, def: &'a StmtFunctionDef) {
    rotated_both(finder, def);
    if def.name.as_str() != "forward" || def.body.len() > SHORT {
        return;
    }
    let Some(class) = &finder.names.class else { return };
    let mut parameters = def.parameters.iter_non_variadic_params().skip(1);
    let (Some(x), None) = (parameters.next(), parameters.next()) else { return };
    let mut body = &*def.body;
    if let [Stmt::Expr(one), rest @ ..] = body
        && one.value.is_string_literal_expr()
    {
        body = rest;
    }
    let Some(Stmt::Return(last)) = body.last() else { return };
    let (Some(value), Some(first)) = (last.value.as_deref(), body.first()) else { return };
    let mut found = Rsqrt { finder, eps: None };
    ruff_python_ast::visitor::Visitor::visit_body(&mut found, body);
    let Some(eps) = found.eps else { return };
    let weighted = is_weighted(value) && class.attributes.contains_key("weight");
    let after = weighted.then(|| {
        let (x, eps) = (x.parameter.name.as_str(), finder.source(eps));
        format!("return torch_npu.npu_rms_norm({x}, self.weight, epsilon={eps})[0]")
    });
    let range = TextRange::new(first.start(), last.range.end());
    finder.suggest("rms_norm", range, after);
}

/// Finds two tensors that one function rotates: query and key.
pub(super) fn rotated_both<'a>(finder: &mut Finder<'_, 'a, '_>, def: &'a StmtFunctionDef) {
    let body: std::ops::Range<usize> = def.range.into();
    let within = |range: &std::ops::Range<usize>| body.contains(&range.start);
    let all = finder.recorder.suggested();
    let turned: Vec<_> = all
        .filter(|one| one.rule == "rotary" && within(&one.range))
        .map(|one| one.range.clone())
        .collect();
    if let [first, .., last] = turned.as_slice()
        && let (Ok(start), Ok(end)) = (first.start.try_into(), last.end.try_into())
    {
        finder.suggest("rotary_both", TextRange::new(start, end), None);
    }
}

/// Suggests a grouped product for a loop that calls each expert separately:
/// `for …: … self.experts[i](x) …`.
pub(super) fn suggest_loop<'a>(finder: &mut Finder<'_, 'a, '_>, each: &'a StmtFor) {
    let mut found = Experts { called: false };
    ruff_python_ast::visitor::Visitor::visit_body(&mut found, &each.body);
    if found.called {
        let line = TextRange::new(each.start(), each.iter.end());
        finder.suggest("grouped_matmul", line, None);
    }
}

/// Finds `x = x + y` followed by `self.norm(x)`, where `self.norm` is an RMSNorm, and a gathered
/// tensor in a product.
pub(super) fn suggest_body<'a>(finder: &mut Finder<'_, 'a, '_>, body: &'a [Stmt]) {
    for pair in body.windows(2) {
        add_and_norm(finder, &pair[0], &pair[1]);
        gathered(finder, &pair[0], &pair[1]);
    }
}

/// Returns whether an expression is `x.pow(2).mean(-1)`. If `x` is a difference, it belongs to a
/// different norm.
pub(super) fn is_mean_of_squares<'a>(finder: &Finder<'_, 'a, '_>, expr: &'a Expr) -> bool {
    let Some((squares, _)) = finder.on(finder.value_of(expr), &["mean"]) else { return false };
    let squares = finder.value_of(squares);
    let base = match squares {
        Expr::BinOp(both) if matches!(both.op, Operator::Pow | Operator::Mult) => &*both.left,
        _ => match finder.on(squares, &["pow", "square"]) {
            Some((base, _)) => base,
            None => return false,
        },
    };
    !matches!(finder.value_of(base), Expr::BinOp(both) if both.op == Operator::Sub)
}

pub(super) fn add_and_norm<'a>(finder: &mut Finder<'_, 'a, '_>, one: &'a Stmt, next: &'a Stmt) {
    let (Stmt::Assign(sum), Stmt::Assign(norm)) = (one, next) else { return };
    let ([Expr::Name(target)], Expr::BinOp(both)) = (&*sum.targets, &*sum.value) else {
        return;
    };
    if both.op != Operator::Add {
        return;
    }
    let Some((class, _, [Expr::Name(given)])) = finder.module_call(&norm.value) else { return };
    let rms = class.rsplit('.').next().is_some_and(|name| name.ends_with("RMSNorm"));
    if rms && given.id == target.id {
        finder.suggest("add_rms_norm", TextRange::new(one.start(), next.end()), None);
    }
}

pub(super) fn gathered<'a>(finder: &mut Finder<'_, 'a, '_>, one: &'a Stmt, next: &'a Stmt) {
    let Stmt::Expr(gather) = one else { return };
    let Some(call) = gather.value.as_call_expr() else { return };
    let Some(path) = finder.names.path(&call.func) else { return };
    let Some(Expr::Name(target)) = call.arguments.args.first() else { return };
    let Stmt::Assign(product) = next else { return };
    let Expr::BinOp(both) = &*product.value else { return };
    let left = both.left.as_name_expr().is_some_and(|name| name.id == target.id);
    if path == "torch.distributed.all_gather_into_tensor" && left && both.op == Operator::MatMult {
        finder.suggest("all_gather_mm", TextRange::new(one.start(), next.end()), None);
    }
}

/// Returns whether one factor of a product is exactly `self.weight`: `1 + self.weight` is a
/// different norm.
fn is_weighted(expr: &Expr) -> bool {
    let Expr::BinOp(both) = expr else { return false };
    let weight = |side: &Expr| classes::self_attribute(side) == Some("weight");
    both.op == Operator::Mult && (weight(&both.left) || weight(&both.right))
}

/// Finds `rsqrt(… + eps)` of a mean of squares.
struct Rsqrt<'w, 'a, 's> {
    finder: &'w Finder<'w, 'a, 's>,
    eps: Option<&'a Expr>,
}

impl<'a> ruff_python_ast::visitor::Visitor<'a> for Rsqrt<'_, 'a, '_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Some((Expr::BinOp(sum), [])) = self.finder.on(expr, &["rsqrt"])
            && sum.op == Operator::Add
            && is_mean_of_squares(self.finder, &sum.left)
        {
            self.eps = Some(&sum.right);
        }
        ruff_python_ast::visitor::walk_expr(self, expr);
    }
}

/// Finds a call of an element of `self.experts`.
struct Experts {
    called: bool,
}

impl<'a> ruff_python_ast::visitor::Visitor<'a> for Experts {
    fn visit_expr(&mut self, expr: &'a Expr) {
        let experts = |value: &Expr| classes::self_attribute(value) == Some("experts");
        if let Expr::Subscript(one) = expr
            && experts(&one.value)
        {
            self.called = true;
        }
        ruff_python_ast::visitor::walk_expr(self, expr);
    }
}
