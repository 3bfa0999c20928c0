//! Functions and classes with a fused equivalent in torch_npu.

use ruff_python_ast::{Expr, ExprCall, Operator};
use ruff_text_size::Ranged as _;

use super::finder::{Callee, Finder};
use super::flows;
use crate::python::api;

/// Arguments that the torch_npu optimizers accept, as far as those of torch accept the same.
const RMSPROP: &[&str] = &["params", "lr", "alpha", "eps", "weight_decay", "momentum", "centered"];
const ADADELTA: &[&str] = &["params", "lr", "rho", "eps", "weight_decay"];

pub(super) fn suggest_call<'a>(
    finder: &mut Finder<'_, 'a, '_>,
    expr: &'a Expr,
    call: &'a ExprCall,
) {
    flows::flow_of_call(finder, expr, call);
    let Some(path) = finder.names.path(&call.func) else { return };
    let public: &str = &api::public(&path);
    if let Some(after) = optimizer(finder, expr, call, public) {
        let (rule, after) = after;
        finder.suggest(rule, expr.range(), after);
        return;
    }
    let keyword = |name: &str| call.arguments.find_keyword(name).map(|one| &one.value);
    let text = |value: Option<&'a Expr>| {
        value.and_then(Expr::as_string_literal_expr).map(|text| text.value.to_str())
    };
    let last = public.rsplit('.').next().unwrap_or_default();
    let (rule, after) = match public {
        "torch.nn.functional.scaled_dot_product_attention" => ("attention", None),
        "torch.nn.functional.rms_norm" => ("rms_norm", rms_norm(finder, call)),
        "torch.nn.RMSNorm" => ("rms_norm", None),
        "torch.nn.functional.cross_entropy" => ("cross_entropy", cross_entropy(finder, call)),
        "torch.nn.CrossEntropyLoss" => ("cross_entropy", None),
        "torch.nn.LSTM" if keyword("bidirectional").is_some_and(is_true) => ("bi_lstm", None),
        "torch.nn.Linear" => ("format_cast", None),
        "torch.nn.Sequential" => {
            sequential(finder, expr, call);
            return;
        }
        "torch.nn.functional.interpolate"
            if text(call.arguments.find_argument_value("mode", 3)) == Some("linear") =>
        {
            ("interpolate_linear", None)
        }
        "torchvision.ops.nms" | "torchvision.ops.batched_nms" => ("nms", None),
        "torchvision.ops.roi_align" | "torchvision.ops.RoIAlign" => ("roi_align", None),
        "torchvision.ops.deform_conv2d" | "torchvision.ops.DeformConv2d" => ("deform_conv", None),
        "torchvision.ops.StochasticDepth" | "timm.layers.DropPath" => ("drop_path", None),
        "torchvision.transforms.ColorJitter" | "torchvision.transforms.v2.ColorJitter" => {
            ("color_jitter", None)
        }
        _ if public.starts_with("torch.distributed.") => {
            collective(finder, expr, call, last);
            return;
        }
        _ => return,
    };
    finder.suggest(rule, expr.range(), after);
}

pub(super) fn optimizer<'a>(
    finder: &Finder<'_, 'a, '_>,
    expr: &'a Expr,
    call: &'a ExprCall,
    public: &str,
) -> Option<(&'static str, Option<String>)> {
    let keywords = &call.arguments.keywords;
    let has = |name: &str| call.arguments.find_keyword(name).is_some();
    let spreads = keywords.iter().any(|keyword| keyword.arg.is_none());
    let with = |more: &str| {
        let source = finder.source(expr);
        let open = source.strip_suffix(')')?.trim_end().trim_end_matches(',');
        Some(format!("{open}, {more})"))
    };
    let renamed = |name: &str, takes: &[&str]| {
        let fits = !spreads
            && keywords
                .iter()
                .all(|one| one.arg.as_ref().is_some_and(|name| takes.contains(&name.as_str())));
        let source = finder.source(expr);
        let arguments = source.get(finder.source(&*call.func).len()..)?;
        fits.then(|| format!("torch_npu.optim.{name}{arguments}"))
    };
    match public {
        "torch.optim.AdamW" | "torch.optim.Adam" | "torch.optim.SGD" => {
            let differ = ["fused", "foreach", "capturable", "differentiable"];
            if spreads || differ.iter().any(|name| has(name)) {
                return None;
            }
            let rule = match public {
                "torch.optim.AdamW" => "fused_adamw",
                "torch.optim.Adam" => "fused_adam",
                _ => "fused_sgd",
            };
            Some((rule, Some(with("fused=True")?)))
        }
        "torch.optim.RMSprop" => Some(("fused_rmsprop", renamed("NpuFusedRMSprop", RMSPROP))),
        "torch.optim.Adadelta" => Some(("fused_adadelta", renamed("NpuFusedAdadelta", ADADELTA))),
        "torch.nn.utils.clip_grad_norm_" if !spreads && !has("foreach") => {
            Some(("clip_grad_norm", with("foreach=True")))
        }
        _ if matches!(public.rsplit('.').next(), Some("Lamb" | "FusedLAMB")) => {
            Some(("fused_lamb", None))
        }
        _ => None,
    }
}

pub(super) fn rms_norm<'a>(finder: &Finder<'_, 'a, '_>, call: &'a ExprCall) -> Option<String> {
    let eps = call.arguments.find_argument_value("eps", 3)?;
    let [x, _, weight, ..] = &*call.arguments.args else { return None };
    Some(format!(
        "torch_npu.npu_rms_norm({}, {}, epsilon={})[0]",
        finder.source(x),
        finder.source(weight),
        finder.source(eps)
    ))
}

/// Writes out a cross entropy whose logits get two dimensions, as the operator requires:
/// `logits.view(-1, size)`.
pub(super) fn cross_entropy<'a>(finder: &Finder<'_, 'a, '_>, call: &'a ExprCall) -> Option<String> {
    let [logits, target] = &*call.arguments.args else { return None };
    let (_, shape) = finder.on(logits, &["view", "reshape"])?;
    let two = shape.len() == 2 && call.arguments.keywords.is_empty();
    two.then(|| {
        let (logits, target) = (finder.source(logits), finder.source(target));
        format!("torch_npu.npu_cross_entropy_loss({logits}, {target})[0]")
    })
}

/// Finds fusible layers: `nn.Sequential(nn.GroupNorm(…), nn.SiLU())`,
/// `nn.Sequential(nn.Linear(…), nn.GELU(), nn.Linear(…))`.
pub(super) fn sequential<'a>(finder: &mut Finder<'_, 'a, '_>, expr: &'a Expr, call: &'a ExprCall) {
    let classes: Vec<String> = call
        .arguments
        .args
        .iter()
        .map(|one| match finder.callee(one) {
            Some((Callee::Function(path), _)) => path,
            _ => String::new(),
        })
        .collect();
    let names: Vec<&str> =
        classes.iter().map(|path| path.trim_start_matches("torch.nn.")).collect();
    if names.windows(2).any(|pair| pair == ["GroupNorm", "SiLU"]) {
        finder.suggest("group_norm_silu", expr.range(), None);
    }
    let act = |name: &str| matches!(name, "ReLU" | "GELU" | "SiLU");
    if names.windows(3).any(|all| all[0] == "Linear" && act(all[1]) && all[2] == "Linear") {
        finder.suggest("ffn", expr.range(), None);
    }
}

/// Finds a collective operation on the result of a matrix product.
pub(super) fn collective<'a>(
    finder: &mut Finder<'_, 'a, '_>,
    expr: &'a Expr,
    call: &'a ExprCall,
    name: &str,
) {
    let argument = |at: usize| call.arguments.args.get(at).map(|one| finder.value_of(one));
    let (rule, value) = match name {
        "all_reduce" => ("mm_all_reduce", argument(0)),
        "reduce_scatter_tensor" => ("mm_reduce_scatter", argument(1)),
        _ => return,
    };
    if value.is_some_and(|value| is_matmul(finder, value)) {
        finder.suggest(rule, expr.range(), None);
    }
}

pub(super) fn is_matmul<'a>(finder: &Finder<'_, 'a, '_>, expr: &'a Expr) -> bool {
    matches!(expr, Expr::BinOp(both) if both.op == Operator::MatMult)
        || finder.on(expr, &["matmul", "mm", "linear"]).is_some()
        || matches!(finder.module_call(expr), Some(("torch.nn.Linear", ..)))
}

fn is_true(expr: &Expr) -> bool {
    expr.as_boolean_literal_expr().is_some_and(|value| value.value)
}
