//! Products and sums of one expression.

use ruff_python_ast::{Expr, ExprBinOp, Number, Operator};
use ruff_text_size::Ranged as _;

use super::finder::Finder;
use super::flows;
use crate::python::api;
use crate::python::constant_conditions;

/// Returns the only argument of a call to one of these functions.
pub(super) fn sole<'e>(
    finder: &Finder<'_, '_, '_>,
    expr: &'e Expr,
    names: &[&str],
) -> Option<&'e Expr> {
    let call = expr.as_call_expr()?;
    let path = finder.names.path(&call.func)?;
    let path = api::public(&path);
    let [argument] = &*call.arguments.args else { return None };
    (names.contains(&path.as_ref()) && call.arguments.keywords.is_empty()).then_some(argument)
}

pub(super) fn suggest_binary<'a>(
    finder: &mut Finder<'_, 'a, '_>,
    expr: &'a Expr,
    both: &'a ExprBinOp,
) {
    match both.op {
        Operator::MatMult => flows::attention(finder, expr, &both.left),
        Operator::Mult => gated(finder, expr, both),
        Operator::Add => rotated(finder, expr, both),
        _ => {}
    }
}

/// Finds `silu(gate) * up`, `gelu(gate) * up`, `x * sigmoid(1.702 * x)`.
pub(super) fn gated<'a>(finder: &mut Finder<'_, 'a, '_>, expr: &'a Expr, both: &'a ExprBinOp) {
    for (one, other) in [(&both.left, &both.right), (&both.right, &both.left)] {
        if let Some(gate) = sole(finder, one, &["torch.nn.functional.silu"]) {
            let (gate, up) = (finder.source(gate), finder.source(&**other));
            let after = format!("torch_npu.npu_swiglu(torch.cat(({gate}, {up}), dim=-1), dim=-1)");
            finder.suggest("swiglu", expr.range(), Some(after));
            return;
        }
        if sole(finder, one, &["torch.nn.functional.gelu"]).is_some() {
            finder.suggest("geglu", expr.range(), None);
            return;
        }
        if let Some(inner) = sole(finder, one, &["torch.sigmoid", "torch.nn.functional.sigmoid"])
            && let Expr::BinOp(scaled) = inner
            && scaled.op == Operator::Mult
            && let Some(x) = times_1702(scaled)
            && finder.source(x) == finder.source(&**other)
        {
            let after = format!("torch_npu.npu_fast_gelu({})", finder.source(x));
            finder.suggest("fast_gelu", expr.range(), Some(after));
            return;
        }
    }
}

/// Finds `(q * cos) + (rotate_half(q) * sin)`.
pub(super) fn rotated<'a>(finder: &mut Finder<'_, 'a, '_>, expr: &'a Expr, both: &'a ExprBinOp) {
    let (Expr::BinOp(plain), Expr::BinOp(turned)) = (&*both.left, &*both.right) else { return };
    if plain.op != Operator::Mult || turned.op != Operator::Mult {
        return;
    }
    let Expr::Call(call) = &*turned.left else { return };
    let named = constant_conditions::dotted(&call.func);
    let half = named.is_some_and(|name| name.rsplit('.').next() == Some("rotate_half"));
    let [argument] = &*call.arguments.args else { return };
    let q = finder.source(&*plain.left);
    if half && finder.source(argument) == q {
        let (cos, sin) = (finder.source(&*plain.right), finder.source(&*turned.right));
        finder.suggest(
            "rotary",
            expr.range(),
            Some(format!("torch_npu.npu_rotary_mul({q}, {cos}, {sin})")),
        );
    }
}

/// Returns the factor that is multiplied by 1.702.
fn times_1702(both: &ExprBinOp) -> Option<&Expr> {
    let is = |expr: &Expr| {
        expr.as_number_literal_expr().is_some_and(
            |number| matches!(number.value, Number::Float(value) if (value - 1.702).abs() < 1e-9),
        )
    };
    if is(&both.left) { Some(&both.right) } else { is(&both.right).then_some(&both.left) }
}
