//! Records hints from names and arguments: data types, quantization, compilers, activation names.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextSize};

use pysyntax::dotted;

use super::api;
use super::classes;
use super::hint_tables;
use super::recorder::Recorder;
use crate::ops::libraries;
use crate::source_notes::HintKind;

/// Records the data type or compiler that a torch name refers to.
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

/// Records an activation by its name, which may be selected: `act_layer="silu"`,
/// `hidden_act: str = "gelu"`.
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

/// Records hints of a keyword argument: `torch_dtype="bfloat16"`, `backend="inductor"`.
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

/// Returns whether a call runs a model whose code is in a package and is selected by a
/// configuration.
fn loads_packaged_model(path: &str) -> bool {
    if matches!(
        path,
        "vllm.LLM"
            | "sglang.Engine"
            | "transformers.pipeline"
            | "timm.create_model"
            | "torch.hub.load"
            | "sentence_transformers.SentenceTransformer"
    ) {
        return true;
    }
    let Some(class) = ["from_pretrained", "from_config", "from_single_file"]
        .iter()
        .find_map(|method| path.strip_suffix(method)?.strip_suffix('.'))
    else {
        return false;
    };
    let name = dotted::last(class);
    match dotted::first(class) {
        "transformers" => name.starts_with("AutoModel"),
        "diffusers" => name.ends_with("Pipeline") || name.starts_with("AutoPipeline"),
        _ => false,
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
    if let Some(rest) = path.strip_prefix("torch.utils.cpp_extension.")
        && ["load", "load_inline", "CUDAExtension", "CppExtension"].contains(&rest)
    {
        recorder.hint(HintKind::Extension, rest, at);
    }
    if loads_packaged_model(path) {
        recorder.hint(HintKind::PackagedModel, path, at);
    }
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

/// Records hints of an import: a quantization method, or kernels that are not torch operators. A
/// `required` import runs whenever the file is imported.
pub(super) fn record_import(
    recorder: &mut Recorder<'_, '_>,
    module: &str,
    at: TextSize,
    required: bool,
) {
    let root = dotted::first(module);
    if let Some(found) = libraries::kernel_module(module) {
        let kind = if required && !found.partly {
            HintKind::CudaModule
        } else {
            HintKind::MaybeCudaModule
        };
        recorder.hint(kind, module, at);
    } else if root == "triton" {
        recorder.hint(HintKind::Triton, module, at);
    }
    if hint_tables::method_chosen_by(root).is_some() {
        recorder.hint(HintKind::Quantization, root, at);
    }
}
