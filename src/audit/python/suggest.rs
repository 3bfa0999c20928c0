//! Expressions that an operator of `torch_npu` computes at once.

use ruff_python_ast::{Expr, ExprBinOp, ExprCall, Number, Operator};
use ruff_text_size::Ranged as _;

use super::facts::Suggestion;
use super::walk::Walker;

impl<'a> Walker<'a, '_> {
    fn source(&self, expr: &Expr) -> String {
        let text = self.text.get(std::ops::Range::<usize>::from(expr.range()));
        text.unwrap_or_default().to_owned()
    }

    fn suggest(&mut self, rule: &'static str, expr: &Expr, after: Option<String>) {
        let suggestion =
            Suggestion { rule, line: self.line(expr.start()), before: self.source(expr), after };
        let unit = self.here();
        if !unit.suggestions.contains(&suggestion) {
            unit.suggestions.push(suggestion);
        }
    }

    /// The argument of a call of this function, with one argument.
    fn sole<'e>(&self, expr: &'e Expr, names: &[&str]) -> Option<&'e Expr> {
        let call = expr.as_call_expr()?;
        let path = self.path(&call.func)?;
        let path = super::api::public(&path);
        let [argument] = &*call.arguments.args else { return None };
        (names.contains(&path.as_ref()) && call.arguments.keywords.is_empty()).then_some(argument)
    }

    pub(super) fn suggest_binary(&mut self, expr: &'a Expr, both: &'a ExprBinOp) {
        match both.op {
            Operator::Mult => self.gated(expr, both),
            Operator::Add => self.rotated(expr, both),
            _ => {}
        }
    }

    /// `silu(gate) * up`, `gelu(gate) * up`, `x * sigmoid(1.702 * x)`.
    fn gated(&mut self, expr: &'a Expr, both: &'a ExprBinOp) {
        for (one, other) in [(&both.left, &both.right), (&both.right, &both.left)] {
            if let Some(gate) = self.sole(one, &["torch.nn.functional.silu"]) {
                let (gate, up) = (self.source(gate), self.source(other));
                let after =
                    format!("torch_npu.npu_swiglu(torch.cat(({gate}, {up}), dim=-1), dim=-1)");
                self.suggest("swiglu", expr, Some(after));
                return;
            }
            if self.sole(one, &["torch.nn.functional.gelu"]).is_some() {
                self.suggest("geglu", expr, None);
                return;
            }
            if let Some(inner) = self.sole(one, &["torch.sigmoid", "torch.nn.functional.sigmoid"])
                && let Expr::BinOp(scaled) = inner
                && scaled.op == Operator::Mult
                && let Some(x) = times_1702(scaled)
                && self.source(x) == self.source(other)
            {
                let after = format!("torch_npu.npu_fast_gelu({})", self.source(x));
                self.suggest("fast_gelu", expr, Some(after));
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
        let named = super::dead::dotted(&call.func);
        let half = named.is_some_and(|name| name.rsplit('.').next() == Some("rotate_half"));
        let [argument] = &*call.arguments.args else { return };
        let q = self.source(&plain.left);
        if half && self.source(argument) == q {
            let (cos, sin) = (self.source(&plain.right), self.source(&turned.right));
            self.suggest(
                "rotary",
                expr,
                Some(format!("torch_npu.npu_rotary_mul({q}, {cos}, {sin})")),
            );
        }
    }

    pub(super) fn suggest_call(&mut self, expr: &'a Expr, call: &'a ExprCall, public: &str) {
        let keyword = |name: &str| call.arguments.find_keyword(name).is_some();
        let rule = match public {
            "torch.optim.AdamW" => "fused_adamw",
            "torch.optim.Adam" => "fused_adam",
            "torch.optim.SGD" => "fused_sgd",
            "torch.nn.functional.scaled_dot_product_attention" => "attention",
            "torch.nn.functional.rms_norm" | "torch.nn.RMSNorm" => "rms_norm",
            "torch.rsqrt" => {
                // The norm that a class of this name computes by hand.
                let class = self.here().name.split('.').next().unwrap_or_default().to_owned();
                if class.ends_with("RMSNorm") || class.ends_with("T5LayerNorm") {
                    self.suggest("rms_norm", expr, None);
                }
                return;
            }
            _ => return,
        };
        let after = match rule {
            "fused_adamw" | "fused_adam" | "fused_sgd" => {
                let differ = ["fused", "foreach", "capturable", "differentiable"];
                let spreads = call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
                if spreads || differ.iter().any(|name| keyword(name)) {
                    return;
                }
                let source = self.source(expr);
                let Some(open) = source.strip_suffix(')') else { return };
                let open = open.trim_end().trim_end_matches(',');
                Some(format!("{open}, fused=True)"))
            }
            "rms_norm" if public == "torch.nn.functional.rms_norm" => {
                match (&*call.arguments.args, call.arguments.find_argument_value("eps", 3)) {
                    ([x, _, weight, ..], Some(eps)) => Some(format!(
                        "torch_npu.npu_rms_norm({}, {}, epsilon={})[0]",
                        self.source(x),
                        self.source(weight),
                        self.source(eps)
                    )),
                    _ => None,
                }
            }
            _ => None,
        };
        self.suggest(rule, expr, after);
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
