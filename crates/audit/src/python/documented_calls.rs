//! Records calls of APIs with limits in the torch_npu documents.

use ruff_python_ast::{Expr, ExprCall, Number};
use ruff_text_size::TextSize;

use pysyntax::dotted;

use super::classes;
use super::facts::{ApiAt, Role};
use super::names::Names;
use super::recorder::Recorder;
use crate::ops::documents;

/// Records a call by a dotted name: `torch.topk(…)`, `nn.GELU(…)`.
pub(super) fn record_call(
    names: &Names<'_, '_>,
    recorder: &mut Recorder<'_, '_>,
    public: &str,
    path: &str,
    call: &ExprCall,
    at: TextSize,
) {
    if !public.starts_with("torch.") && !public.starts_with("Tensor.") {
        return;
    }
    let Some(api) = documents::api(public).or_else(|| documents::api(path)) else { return };
    // A module that is built while a model is built runs with the model.
    let last = dotted::last(api);
    let module = classes::is_class_name(last) && !api.starts_with("torch.distributions.");
    let data = names.in_data_class();
    let role = if module && !data { Role::Run } else { recorder.role };
    record_limited(names, recorder, api, call, at, role);
}

/// Records a call of a tensor method.
pub(super) fn record_method(
    names: &Names<'_, '_>,
    recorder: &mut Recorder<'_, '_>,
    name: &str,
    call: &ExprCall,
    at: TextSize,
) {
    if let Some(api) = documents::method(name) {
        let role = recorder.role;
        record_limited(names, recorder, api, call, at, role);
    }
}

fn record_limited(
    names: &Names<'_, '_>,
    recorder: &mut Recorder<'_, '_>,
    api: &'static str,
    call: &ExprCall,
    at: TextSize,
    role: Role,
) {
    if recorder.unsure {
        return;
    }
    let mut given = Vec::new();
    for keyword in &call.arguments.keywords {
        if let Some(name) = &keyword.arg
            && documents::limits_argument(name.as_str())
            && let Some(value) = written_value(names, &keyword.value)
        {
            given.push((name.to_string(), value));
        }
    }
    let line = recorder.line(at);
    recorder.limited_api(ApiAt { api, line, role, given });
}

/// Returns a literal value of the source: `True`, `1`, `nearest`, `torch.float64`. For a tuple of
/// equal values, returns one of them.
fn written_value(names: &Names<'_, '_>, value: &Expr) -> Option<String> {
    match value {
        Expr::BooleanLiteral(one) => Some(if one.value { "True" } else { "False" }.to_owned()),
        Expr::NoneLiteral(_) => Some("None".to_owned()),
        Expr::StringLiteral(text) => Some(text.value.to_str().chars().take(60).collect()),
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(value) => Some(value.to_string()),
            Number::Float(value) => Some(value.to_string()),
            Number::Complex { .. } => None,
        },
        Expr::Tuple(tuple) => {
            let mut values = tuple.elts.iter().map(|one| written_value(names, one));
            let first = values.next()??;
            values.all(|one| one.as_ref() == Some(&first)).then_some(first)
        }
        Expr::Attribute(_) | Expr::Name(_) => {
            names.path(value).filter(|path| path.starts_with("torch."))
        }
        _ => None,
    }
}
