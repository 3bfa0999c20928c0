//! Records hints of names and arguments: data types, quantization, compilers, activations by name.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextSize};

use pysyntax::dotted;

use super::api;
use super::classes;
use super::hint_tables;
use super::recorder::Recorder;
use crate::source_notes::HintKind;

/// Records the data type or compiler that a name of torch stands for.
pub(super) fn record_mention(
    recorder: &mut Recorder<'_, '_>,
    path: &str,
    at: TextSize,
    called: bool,
) {
    let Some(rest) = path.strip_prefix("torch.") else { return };
    if rest == "compile" && !called {
        recorder.hint(HintKind::Backend, "inductor", at);
    }
    let kind = match rest {
        "float64" | "double" | "DoubleTensor" => HintKind::Double,
        "complex64" | "complex128" | "cfloat" | "cdouble" | "chalf" | "complex32" => {
            HintKind::Complex
        }
        "bfloat16" | "BFloat16Tensor" => HintKind::Bfloat16,
        _ if rest.starts_with("float8_") => HintKind::Float8,
        _ => return,
    };
    recorder.hint(kind, path, at);
}

pub(super) fn record_dtype_method(recorder: &mut Recorder<'_, '_>, name: &str, at: TextSize) {
    let kind = match name {
        "double" => HintKind::Double,
        "bfloat16" => HintKind::Bfloat16,
        "cfloat" | "cdouble" | "chalf" => HintKind::Complex,
        _ => return,
    };
    recorder.hint(kind, &format!(".{name}()"), at);
}

/// `act_layer="silu"`, `hidden_act: str = "gelu"`: an activation by its name, which may be chosen.
pub(super) fn record_activation(
    recorder: &mut Recorder<'_, '_>,
    argument: &str,
    name: &str,
    at: TextSize,
) {
    let word =
        |word: &[u8]| word == b"act" || word.starts_with(b"activ") || word == b"nonlinearity";
    if !argument.as_bytes().split(|byte| *byte == b'_').any(word) {
        return;
    }
    let Some(reach) = api::activation(name) else { return };
    recorder.uses(reach, at, true);
    recorder.may_use_in_place(reach, at);
}

/// `torch_dtype="bfloat16"`, `backend="inductor"`.
pub(super) fn record_keyword(
    recorder: &mut Recorder<'_, '_>,
    name: &str,
    text: &str,
    at: TextSize,
) {
    record_activation(recorder, name, text, at);
    if name == "quantization" && hint_tables::method(text).is_some() {
        recorder.hint(HintKind::Quantization, text, at);
    }
    if matches!(name, "dtype" | "torch_dtype") {
        let kind = match text.trim_start_matches("torch.") {
            "float64" | "double" => HintKind::Double,
            "bfloat16" => HintKind::Bfloat16,
            text if text.starts_with("float8") => HintKind::Float8,
            _ => return,
        };
        recorder.hint(kind, &format!("{name}=\"{text}\""), at);
    }
}

/// Records the compiler or quantization method that a call selects.
pub(super) fn record_call(
    recorder: &mut Recorder<'_, '_>,
    path: &str,
    call: &ExprCall,
    at: TextSize,
) {
    if path == "torch.compile" {
        let backend = call.arguments.find_keyword("backend").map(|keyword| &keyword.value);
        match backend {
            None => recorder.hint(HintKind::Backend, "inductor", at),
            Some(Expr::StringLiteral(text)) => {
                let text = text.value.to_str().to_owned();
                recorder.hint(HintKind::Backend, &text, at);
            }
            Some(_) => {}
        }
    }
    let last = dotted::last(path);
    if classes::is_class_name(last) && hint_tables::method_chosen_by(last).is_some() {
        recorder.hint(HintKind::Quantization, last, at);
    }
    for keyword in &call.arguments.keywords {
        if let (Some(name), Expr::BooleanLiteral(value)) = (&keyword.arg, &keyword.value)
            && value.value
            && matches!(name.as_str(), "load_in_8bit" | "load_in_4bit")
        {
            recorder.hint(HintKind::Quantization, name.as_str(), keyword.value.start());
        }
    }
}

pub(super) fn record_import(recorder: &mut Recorder<'_, '_>, module: &str, at: TextSize) {
    let root = dotted::first(module);
    if hint_tables::method_chosen_by(root).is_some() {
        recorder.hint(HintKind::Quantization, root, at);
    }
}
