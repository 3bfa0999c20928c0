//! Patterns that go through assignments.

use ruff_python_ast::{Expr, ExprCall, Operator};
use ruff_text_size::Ranged as _;

use super::Walker;

/// As deep as an expression of scores is looked into.
const DEEP: usize = 12;

impl<'a> Walker<'a, '_> {
    /// `softmax(q @ k.transpose(-2, -1) …) @ v`, as an operator of the language.
    pub(super) fn attention(&mut self, expr: &'a Expr, weights: &'a Expr) {
        let weights = self.plain(weights);
        if let Some((scores, _)) = self.on(weights, &["softmax"])
            && self.is_product(scores, DEEP)
        {
            self.suggest("attention", expr.range(), None);
        }
    }

    /// A value without what does not matter: a cast, dropout.
    fn plain(&self, expr: &'a Expr) -> &'a Expr {
        let mut expr = self.value_of(expr);
        for _ in 0..DEEP {
            let passes = ["dropout", "to", "type_as", "float", "half", "type", "contiguous"];
            let inner = match self.on(expr, &passes) {
                Some((inner, _)) => inner,
                // `self.dropout(weights)`.
                None => match self.module_call(expr) {
                    Some(("torch.nn.Dropout", _, [inner])) => inner,
                    _ => break,
                },
            };
            expr = self.value_of(inner);
        }
        expr
    }

    /// Whether a value is a product with a transposed matrix, scaled and masked as it may be.
    fn is_product(&self, expr: &'a Expr, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let expr = self.plain(expr);
        if let Expr::BinOp(both) = expr {
            return match both.op {
                Operator::MatMult => self.is_transposed(&both.right),
                Operator::Mult | Operator::Div | Operator::Add | Operator::Sub => {
                    self.is_product(&both.left, depth) || self.is_product(&both.right, depth)
                }
                _ => false,
            };
        }
        if let Some((_, rest)) = self.on(expr, &["matmul", "bmm"]) {
            return rest.first().is_some_and(|right| self.is_transposed(right));
        }
        let masks = ["masked_fill", "masked_fill_", "where", "div", "mul", "add", "softcap"];
        if let Some((first, rest)) = self.on(expr, &masks) {
            return self.is_product(first, depth)
                || rest.iter().any(|one| self.is_product(one, depth));
        }
        false
    }

    fn is_transposed(&self, expr: &'a Expr) -> bool {
        let expr = self.plain(expr);
        let attribute = expr.as_attribute_expr().map(|one| one.attr.as_str());
        matches!(attribute, Some("mT" | "T"))
            || self.on(expr, &["transpose", "permute", "t"]).is_some()
    }

    /// Calls of functions and methods whose argument says what they are part of.
    pub(super) fn flow_of_call(&mut self, expr: &'a Expr, call: &'a ExprCall) {
        if let Some((weights, [_])) = self.on(expr, &["matmul", "bmm"]) {
            self.attention(expr, weights);
        }
        if let Some((scores, _)) = self.on(expr, &["softmax"]) {
            self.masked_softmax(expr, scores);
        }
        if let Some((gates, rest)) = self.on(expr, &["topk"]) {
            self.routing(expr, gates, rest, call);
        }
        if let Some((weights, _)) = self.on(expr, &["cumsum"]) {
            let inner = self.on(self.value_of(weights), &["softmax"]).map(|(inner, _)| inner);
            if inner.is_some_and(|sorted| self.is_sorted(sorted)) {
                self.suggest("top_k_top_p", expr.range(), None);
            }
        }
        if let Some((moved, shape)) = self.on(expr, &["reshape", "view"]) {
            self.transposed(expr, moved, shape);
        }
        self.norm_and_silu(expr);
        self.feed_forward(expr);
    }

    /// `softmax(x * scale + mask)`; of attention, the whole is one operator.
    fn masked_softmax(&mut self, expr: &'a Expr, scores: &'a Expr) {
        let Expr::BinOp(sum) = self.plain(scores) else { return };
        let says_mask = |side: &Expr| {
            super::super::constant_conditions::dotted(side)
                .is_some_and(|name| name.to_ascii_lowercase().contains("mask"))
        };
        if sum.op == Operator::Add
            && (says_mask(&sum.left) || says_mask(&sum.right))
            && !self.is_product(scores, DEEP)
        {
            self.suggest("scaled_masked_softmax", expr.range(), None);
        }
    }

    /// `topk(softmax(gate), k)`: which experts a token goes to.
    fn routing(&mut self, expr: &'a Expr, gates: &'a Expr, rest: &'a [Expr], call: &'a ExprCall) {
        let Some((logits, _)) = self.on(self.plain(gates), &["softmax"]) else { return };
        let direct = gates.is_call_expr() && call.arguments.keywords.is_empty();
        let after = match rest {
            [k] if direct => Some(format!(
                "torch_npu.npu_moe_gating_top_k_softmax({}, None, k={})[:2]",
                self.source(logits),
                self.source(k)
            )),
            _ => None,
        };
        self.suggest("moe_gating", expr.range(), after);
    }

    /// Values that `sort` gave first.
    fn is_sorted(&self, expr: &'a Expr) -> bool {
        let sorts = |value: &'a Expr| self.on(value, &["sort"]).is_some();
        match expr {
            Expr::Name(name) => {
                let all = self.given.get(name.id.as_str());
                let before = |value: &&&'a Expr| value.end() <= name.range.start();
                all.and_then(|all| all.iter().rev().find(before)).is_some_and(|value| sorts(value))
            }
            Expr::Subscript(one) => sorts(&one.value),
            Expr::Attribute(one) => sorts(self.value_of(&one.value)),
            _ => false,
        }
    }

    /// `x.permute(…).reshape(…)`.
    fn transposed(&mut self, expr: &'a Expr, moved: &'a Expr, shape: &'a [Expr]) {
        let moved = match self.on(moved, &["contiguous"]) {
            Some((inner, _)) => inner,
            None => moved,
        };
        let Some((x, order)) = self.on(moved, &["permute"]) else { return };
        let known = |all: &[Expr]| {
            !all.is_empty()
                && !all.iter().any(|one| one.is_starred_expr() || one.is_unary_op_expr())
        };
        let list = |all: &[Expr]| match all {
            [Expr::Tuple(_) | Expr::List(_)] => self.source(&all[0]),
            all => {
                format!(
                    "[{}]",
                    all.iter().map(|one| self.source(one)).collect::<Vec<_>>().join(", ")
                )
            }
        };
        // A size that is left to be found out is no shape.
        let after = (known(order) && known(shape)).then(|| {
            let (x, order, shape) = (self.source(x), list(order), list(shape));
            format!(
                "torch_npu.npu_confusion_transpose({x}, {order}, {shape}, transpose_first=True)"
            )
        });
        self.suggest("confusion_transpose", expr.range(), after);
    }

    /// `silu(self.norm(x))`, where `self.norm` is a `GroupNorm`.
    fn norm_and_silu(&mut self, expr: &'a Expr) {
        let inner = match self.on(expr, &["silu"]) {
            Some((inner, _)) => inner,
            None => match self.module_call(expr) {
                Some(("torch.nn.SiLU", _, [inner])) => inner,
                _ => return,
            },
        };
        let Some(("torch.nn.GroupNorm", norm, [x])) = self.module_call(self.value_of(inner)) else {
            return;
        };
        let after = inner.is_call_expr().then(|| {
            format!(
                "torch_npu.npu_group_norm_silu({}, self.{norm}.weight, self.{norm}.bias, self.{norm}.num_groups, eps=self.{norm}.eps)[0]",
                self.source(x)
            )
        });
        self.suggest("group_norm_silu", expr.range(), after);
    }

    /// `self.down(act(self.up(x)))`, where both are linear.
    fn feed_forward(&mut self, expr: &'a Expr) {
        let Some(("torch.nn.Linear", _, [inner])) = self.module_call(expr) else { return };
        let activated = self.plain(inner);
        let acts = ["relu", "gelu", "silu"];
        let inner = match self.on(activated, &acts) {
            Some((inner, _)) => inner,
            None => match self.module_call(activated) {
                Some(("torch.nn.ReLU" | "torch.nn.GELU" | "torch.nn.SiLU", _, [inner])) => inner,
                _ => return,
            },
        };
        if let Some(("torch.nn.Linear", ..)) = self.module_call(self.value_of(inner)) {
            self.suggest("ffn", expr.range(), None);
        }
    }
}
