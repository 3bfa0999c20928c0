//! Conditions whose value is known before a model runs on an NPU.

use ruff_python_ast::{BoolOp, CmpOp, Expr, Number, Stmt, UnaryOp};

/// Functions with a known result, by the end of their name.
const ANSWERS: &[(&str, bool)] = &[
    ("cuda.is_available", true),
    ("npu.is_available", true),
    ("is_torch_npu_available", true),
    ("is_npu_available", true),
    ("mps.is_available", false),
    ("xpu.is_available", false),
    ("xla.is_available", false),
    ("mkldnn.is_available", false),
    ("is_torch_xla_available", false),
    ("is_torch_xpu_available", false),
    ("is_torch_mlu_available", false),
    ("is_torch_fx_proxy", false),
    ("jit.is_scripting", false),
    ("jit.is_tracing", false),
    ("onnx.is_in_onnx_export", false),
    ("compiler.is_exporting", false),
];

/// Names of devices that are neither an NPU nor mapped to one.
const OTHER_DEVICES: &[&str] = &["cpu", "mps", "xpu", "xla", "hpu", "mlu", "musa", "meta", "tpu"];

/// Returns the value of a condition, if it is known. `path` returns the dotted name of an
/// expression.
pub(super) fn truth(test: &Expr, path: &dyn Fn(&Expr) -> Option<String>) -> Option<bool> {
    match test {
        Expr::BooleanLiteral(value) => Some(value.value),
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(value) => Some(value.as_i64() != Some(0)),
            _ => None,
        },
        Expr::NoneLiteral(_) => Some(false),
        Expr::Name(name) if name.id == "TYPE_CHECKING" => Some(false),
        Expr::Attribute(attribute) if attribute.attr.as_str() == "TYPE_CHECKING" => Some(false),
        Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => {
            truth(&unary.operand, path).map(|value| !value)
        }
        Expr::BoolOp(both) => {
            let values: Vec<Option<bool>> =
                both.values.iter().map(|value| truth(value, path)).collect();
            let decides = both.op == BoolOp::Or;
            if values.contains(&Some(decides)) {
                return Some(decides);
            }
            values.iter().all(Option::is_some).then_some(!decides)
        }
        Expr::Call(call) if call.arguments.args.is_empty() => {
            let name = path(&call.func).or_else(|| dotted(&call.func))?;
            ANSWERS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, answer)| *answer)
        }
        // `x.device.type == "cpu"`.
        Expr::Compare(compare) => {
            let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { return None };
            let text = right.as_string_literal_expr()?;
            let name = dotted(&compare.left)?;
            let device = name.contains("device") || name.ends_with(".type");
            let other = OTHER_DEVICES.contains(&text.value.to_str());
            match op {
                CmpOp::Eq if device && other => Some(false),
                CmpOp::NotEq if device && other => Some(true),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns an expression of names and attributes as written.
pub(super) fn dotted(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => {
            let mut base = dotted(&attribute.value)?;
            base.push('.');
            base.push_str(attribute.attr.as_str());
            Some(base)
        }
        _ => None,
    }
}

/// Returns whether a body ends the enclosing function or the loop iteration.
pub(super) fn leaves(body: &[Stmt]) -> bool {
    let last = body.last();
    matches!(last, Some(Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_)))
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::parse_expression;

    use super::*;

    fn known(source: &str) -> Option<bool> {
        truth(parse_expression(source).unwrap().expr(), &|_| None)
    }

    #[test]
    fn evaluates_constant_conditions() {
        for (source, value) in [
            ("not torch.cuda.is_available()", Some(false)),
            ("torch.cuda.is_available()", Some(true)),
            ("TYPE_CHECKING", Some(false)),
            ("torch.jit.is_scripting() or torch.jit.is_tracing()", Some(false)),
            ("not torch.jit.is_scripting() and x", None),
            ("torch.jit.is_scripting() and x", Some(false)),
            ("x.device.type == 'cpu'", Some(false)),
            ("x.device.type != 'mps'", Some(true)),
            ("x.device.type == 'cuda'", None),
            ("mode == 'cpu'", None),
            ("False", Some(false)),
            ("0", Some(false)),
            ("x", None),
        ] {
            assert_eq!(known(source), value, "{source}");
        }
    }
}
