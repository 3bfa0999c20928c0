//! Products and sums of one expression.

use ruff_python_ast::{Expr, ExprBinOp, Number, Operator};
use ruff_text_size::Ranged as _;

use super::Walker;

impl<'a> Walker<'a, '_> {
    /// The argument of a call of this function, with one argument.
    fn sole<'e>(&self, expr: &'e Expr, names: &[&str]) -> Option<&'e Expr> {
        let call = expr.as_call_expr()?;
        let path = self.path(&call.func)?;
        let path = super::super::api::public(&path);
        let [argument] = &*call.arguments.args else { return None };
        (names.contains(&path.as_ref()) && call.arguments.keywords.is_empty()).then_some(argument)
    }

    pub(in super::super) fn suggest_binary(&mut self, expr: &'a Expr, both: &'a ExprBinOp) {
        if !self.wanted.suggestions {
            return;
        }
        match both.op {
            Operator::MatMult => self.attention(expr, &both.left),
            Operator::Mult => self.gated(expr, both),
            Operator::Add => self.rotated(expr, both),
            _ => {}
        }
    }

    /// `silu(gate) * up`, `gelu(gate) * up`, `x * sigmoid(1.702 * x)`.
    fn gated(&mut self, expr: &'a Expr, both: &'a ExprBinOp) {
        for (one, other) in [(&both.left, &both.right), (&both.right, &both.left)] {
            if let Some(gate) = self.sole(one, &["torch.nn.functional.silu"]) {
                let (gate, up) = (self.source(gate), self.source(&**other));
                let after =
                    format!("torch_npu.npu_swiglu(torch.cat(({gate}, {up}), dim=-1), dim=-1)");
                self.suggest("swiglu", expr.range(), Some(after));
                return;
            }
            if self.sole(one, &["torch.nn.functional.gelu"]).is_some() {
                self.suggest("geglu", expr.range(), None);
                return;
            }
            if let Some(inner) = self.sole(one, &["torch.sigmoid", "torch.nn.functional.sigmoid"])
                && let Expr::BinOp(scaled) = inner
                && scaled.op == Operator::Mult
                && let Some(x) = times_1702(scaled)
                && self.source(x) == self.source(&**other)
            {
                let after = format!("torch_npu.npu_fast_gelu({})", self.source(x));
                self.suggest("fast_gelu", expr.range(), Some(after));
                return;
            }
        }
    }

    /// `(q * cos) + (rotate_half(q) * sin)`.
    fn rotated(&mut self, expr: &'a Expr, both: &'a ExprBinOp) {
        let (Expr::BinOp(plain), Expr::BinOp(turned)) = (&*both.left, &*both.right) else { return };
        if plain.op != Operator::Mult || turned.op != Operator::Mult {
            return;
        }
        let Expr::Call(call) = &*turned.left else { return };
        let named = super::super::constant_conditions::dotted(&call.func);
        let half = named.is_some_and(|name| name.rsplit('.').next() == Some("rotate_half"));
        let [argument] = &*call.arguments.args else { return };
        let q = self.source(&*plain.left);
        if half && self.source(argument) == q {
            let (cos, sin) = (self.source(&*plain.right), self.source(&*turned.right));
            self.suggest(
                "rotary",
                expr.range(),
                Some(format!("torch_npu.npu_rotary_mul({q}, {cos}, {sin})")),
            );
        }
    }
}

/// What is multiplied by 1.702.
fn times_1702(both: &ExprBinOp) -> Option<&Expr> {
    let is = |expr: &Expr| {
        expr.as_number_literal_expr().is_some_and(
            |number| matches!(number.value, Number::Float(value) if (value - 1.702).abs() < 1e-9),
        )
    };
    if is(&both.left) { Some(&both.right) } else { is(&both.right).then_some(&both.left) }
}
