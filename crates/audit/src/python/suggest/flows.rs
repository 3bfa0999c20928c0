//! Patterns that go through assignments.

use ruff_python_ast::{Expr, ExprCall, Operator};
use ruff_text_size::Ranged as _;

use super::finder::Finder;
use crate::python::constant_conditions;

/// The maximum depth of an expression that computes attention scores.
const DEEP: usize = 12;

/// Finds attention: `softmax(q @ k.transpose(-2, -1) …) @ v`, with the language operator or a
/// function.
pub(super) fn attention<'a>(finder: &mut Finder<'_, 'a, '_>, expr: &'a Expr, weights: &'a Expr) {
    let weights = plain(finder, weights);
    if let Some((scores, _)) = finder.on(weights, &["softmax"])
        && is_product(finder, scores, DEEP)
    {
        finder.suggest("attention", expr.range(), None);
    }
}

/// Returns a value without a cast or dropout around it, which do not affect the patterns.
pub(super) fn plain<'a>(finder: &Finder<'_, 'a, '_>, expr: &'a Expr) -> &'a Expr {
    let mut expr = finder.value_of(expr);
    for _ in 0..DEEP {
        let passes = ["dropout", "to", "type_as", "float", "half", "type", "contiguous"];
        let inner = match finder.on(expr, &passes) {
            Some((inner, _)) => inner,
            // `self.dropout(weights)`.
            None => match finder.module_call(expr) {
                Some(("torch.nn.Dropout", _, [inner])) => inner,
                _ => break,
            },
        };
        expr = finder.value_of(inner);
    }
    expr
}

/// Returns whether a value is a product with a transposed matrix, with optional scale and mask.
pub(super) fn is_product<'a>(finder: &Finder<'_, 'a, '_>, expr: &'a Expr, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let expr = plain(finder, expr);
    if let Expr::BinOp(both) = expr {
        return match both.op {
            Operator::MatMult => is_transposed(finder, &both.right),
            Operator::Mult | Operator::Div | Operator::Add | Operator::Sub => {
                is_product(finder, &both.left, depth) || is_product(finder, &both.right, depth)
            }
            _ => false,
        };
    }
    if let Some((_, rest)) = finder.on(expr, &["matmul", "bmm"]) {
        return rest.first().is_some_and(|right| is_transposed(finder, right));
    }
    let masks = ["masked_fill", "masked_fill_", "where", "div", "mul", "add", "softcap"];
    if let Some((first, rest)) = finder.on(expr, &masks) {
        return is_product(finder, first, depth)
            || rest.iter().any(|one| is_product(finder, one, depth));
    }
    false
}

pub(super) fn is_transposed<'a>(finder: &Finder<'_, 'a, '_>, expr: &'a Expr) -> bool {
    let expr = plain(finder, expr);
    let attribute = expr.as_attribute_expr().map(|one| one.attr.as_str());
    matches!(attribute, Some("mT" | "T"))
        || finder.on(expr, &["transpose", "permute", "t"]).is_some()
}

/// Compares calls of functions and methods whose argument identifies the pattern.
pub(super) fn flow_of_call<'a>(
    finder: &mut Finder<'_, 'a, '_>,
    expr: &'a Expr,
    call: &'a ExprCall,
) {
    if let Some((weights, [_])) = finder.on(expr, &["matmul", "bmm"]) {
        attention(finder, expr, weights);
    }
    if let Some((scores, _)) = finder.on(expr, &["softmax"]) {
        masked_softmax(finder, expr, scores);
    }
    if let Some((gates, rest)) = finder.on(expr, &["topk"]) {
        routing(finder, expr, gates, rest, call);
    }
    if let Some((weights, _)) = finder.on(expr, &["cumsum"]) {
        let inner = finder.on(finder.value_of(weights), &["softmax"]).map(|(inner, _)| inner);
        if inner.is_some_and(|sorted| is_sorted(finder, sorted)) {
            finder.suggest("top_k_top_p", expr.range(), None);
        }
    }
    if let Some((moved, shape)) = finder.on(expr, &["reshape", "view"]) {
        transposed(finder, expr, moved, shape);
    }
    norm_and_silu(finder, expr);
    feed_forward(finder, expr);
}

/// Finds `softmax(x * scale + mask)`. In attention, one operator computes the complete expression
/// instead.
pub(super) fn masked_softmax<'a>(
    finder: &mut Finder<'_, 'a, '_>,
    expr: &'a Expr,
    scores: &'a Expr,
) {
    let Expr::BinOp(sum) = plain(finder, scores) else { return };
    let says_mask = |side: &Expr| {
        constant_conditions::dotted(side)
            .is_some_and(|name| name.to_ascii_lowercase().contains("mask"))
    };
    if sum.op == Operator::Add
        && (says_mask(&sum.left) || says_mask(&sum.right))
        && !is_product(finder, scores, DEEP)
    {
        finder.suggest("scaled_masked_softmax", expr.range(), None);
    }
}

/// Finds the selection of experts for a token: `topk(softmax(gate), k)`.
pub(super) fn routing<'a>(
    finder: &mut Finder<'_, 'a, '_>,
    expr: &'a Expr,
    gates: &'a Expr,
    rest: &'a [Expr],
    call: &'a ExprCall,
) {
    let Some((logits, _)) = finder.on(plain(finder, gates), &["softmax"]) else { return };
    let direct = gates.is_call_expr() && call.arguments.keywords.is_empty();
    let after = match rest {
        [k] if direct => Some(format!(
            "torch_npu.npu_moe_gating_top_k_softmax({}, None, k={})[:2]",
            finder.source(logits),
            finder.source(k)
        )),
        _ => None,
    };
    finder.suggest("moe_gating", expr.range(), after);
}

/// Returns whether an expression is the first result of `sort`.
pub(super) fn is_sorted<'a>(finder: &Finder<'_, 'a, '_>, expr: &'a Expr) -> bool {
    let sorts = |value: &'a Expr| finder.on(value, &["sort"]).is_some();
    match expr {
        Expr::Name(name) => {
            let all = finder.assigned.get(name.id.as_str());
            let before = |value: &&&'a Expr| value.end() <= name.range.start();
            all.and_then(|all| all.iter().rev().find(before)).is_some_and(|value| sorts(value))
        }
        Expr::Subscript(one) => sorts(&one.value),
        Expr::Attribute(one) => sorts(finder.value_of(&one.value)),
        _ => false,
    }
}

/// Finds `x.permute(…).reshape(…)`.
pub(super) fn transposed<'a>(
    finder: &mut Finder<'_, 'a, '_>,
    expr: &'a Expr,
    moved: &'a Expr,
    shape: &'a [Expr],
) {
    let moved = match finder.on(moved, &["contiguous"]) {
        Some((inner, _)) => inner,
        None => moved,
    };
    let Some((x, order)) = finder.on(moved, &["permute"]) else { return };
    let known = |all: &[Expr]| {
        !all.is_empty() && !all.iter().any(|one| one.is_starred_expr() || one.is_unary_op_expr())
    };
    let list = |all: &[Expr]| match all {
        [Expr::Tuple(_) | Expr::List(_)] => finder.source(&all[0]),
        all => {
            format!("[{}]", all.iter().map(|one| finder.source(one)).collect::<Vec<_>>().join(", "))
        }
    };
    // The operator requires explicit sizes, so `-1` prevents the replacement.
    let after = (known(order) && known(shape)).then(|| {
        let (x, order, shape) = (finder.source(x), list(order), list(shape));
        format!("torch_npu.npu_confusion_transpose({x}, {order}, {shape}, transpose_first=True)")
    });
    finder.suggest("confusion_transpose", expr.range(), after);
}

/// Finds `silu(self.norm(x))`, where `self.norm` is a `GroupNorm`.
pub(super) fn norm_and_silu<'a>(finder: &mut Finder<'_, 'a, '_>, expr: &'a Expr) {
    let inner = match finder.on(expr, &["silu"]) {
        Some((inner, _)) => inner,
        None => match finder.module_call(expr) {
            Some(("torch.nn.SiLU", _, [inner])) => inner,
            _ => return,
        },
    };
    let Some(("torch.nn.GroupNorm", norm, [x])) = finder.module_call(finder.value_of(inner)) else {
        return;
    };
    let after = inner.is_call_expr().then(|| {
        format!(
            "torch_npu.npu_group_norm_silu({}, self.{norm}.weight, self.{norm}.bias, self.{norm}.num_groups, eps=self.{norm}.eps)[0]",
            finder.source(x)
        )
    });
    finder.suggest("group_norm_silu", expr.range(), after);
}

/// Finds `self.down(act(self.up(x)))`, where both layers are linear.
pub(super) fn feed_forward<'a>(finder: &mut Finder<'_, 'a, '_>, expr: &'a Expr) {
    let Some(("torch.nn.Linear", _, [inner])) = finder.module_call(expr) else { return };
    let activated = plain(finder, inner);
    let acts = ["relu", "gelu", "silu"];
    let inner = match finder.on(activated, &acts) {
        Some((inner, _)) => inner,
        None => match finder.module_call(activated) {
            Some(("torch.nn.ReLU" | "torch.nn.GELU" | "torch.nn.SiLU", _, [inner])) => inner,
            _ => return,
        },
    };
    if let Some(("torch.nn.Linear", ..)) = finder.module_call(finder.value_of(inner)) {
        finder.suggest("ffn", expr.range(), None);
    }
}
