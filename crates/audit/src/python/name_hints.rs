//! What names and arguments say besides the operators that are called: data types, quantization,
//! compilers, activations by name.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextSize};

use super::api;
use super::classes;
use super::walk::Walker;
use crate::source_notes::HintKind;
use pysyntax::dotted;

impl<'a> Walker<'a, '_> {
    /// What mentioning a name of torch says besides its operators.
    pub(super) fn mentioned(&mut self, path: &str, at: TextSize, called: bool) {
        let Some(rest) = path.strip_prefix("torch.") else { return };
        if rest == "compile" && !called {
            self.hint(HintKind::Backend, "inductor", at);
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
        self.hint(kind, path, at);
    }

    pub(super) fn dtype_method(&mut self, name: &str, at: TextSize) {
        let kind = match name {
            "double" => HintKind::Double,
            "bfloat16" => HintKind::Bfloat16,
            "cfloat" | "cdouble" | "chalf" => HintKind::Complex,
            _ => return,
        };
        self.hint(kind, &format!(".{name}()"), at);
    }

    /// `act_layer="silu"`, `hidden_act: str = "gelu"`: an activation by its name, which may be chosen.
    pub(super) fn activation(&mut self, argument: &str, name: &str, at: TextSize) {
        let word =
            |word: &[u8]| word == b"act" || word.starts_with(b"activ") || word == b"nonlinearity";
        if !argument.as_bytes().split(|byte| *byte == b'_').any(word) {
            return;
        }
        let Some(reach) = api::activation(name) else { return };
        self.uses(reach, at, true);
        self.may_use_in_place(reach, at);
    }

    /// `torch_dtype="bfloat16"`, `backend="inductor"`.
    pub(super) fn keyword_text(&mut self, name: &str, text: &str, at: TextSize) {
        self.activation(name, text, at);
        if name == "quantization" && super::hint_tables::method(text).is_some() {
            self.hint(HintKind::Quantization, text, at);
        }
        if matches!(name, "dtype" | "torch_dtype") {
            let kind = match text.trim_start_matches("torch.") {
                "float64" | "double" => HintKind::Double,
                "bfloat16" => HintKind::Bfloat16,
                text if text.starts_with("float8") => HintKind::Float8,
                _ => return,
            };
            self.hint(kind, &format!("{name}=\"{text}\""), at);
        }
    }

    /// Calls that say more than their operators: `torch.compile`, quantization.
    pub(super) fn called_path(&mut self, path: &str, call: &'a ExprCall, at: TextSize) {
        if path == "torch.compile" {
            let backend = call.arguments.find_keyword("backend").map(|keyword| &keyword.value);
            match backend {
                None => self.hint(HintKind::Backend, "inductor", at),
                Some(Expr::StringLiteral(text)) => {
                    let text = text.value.to_str().to_owned();
                    self.hint(HintKind::Backend, &text, at);
                }
                Some(_) => {}
            }
        }
        let last = dotted::last(path);
        if classes::class_like(last) && super::hint_tables::chosen_by(last).is_some() {
            self.hint(HintKind::Quantization, last, at);
        }
        for keyword in &call.arguments.keywords {
            if let (Some(name), Expr::BooleanLiteral(value)) = (&keyword.arg, &keyword.value)
                && value.value
                && matches!(name.as_str(), "load_in_8bit" | "load_in_4bit")
            {
                self.hint(HintKind::Quantization, name.as_str(), keyword.value.start());
            }
        }
    }
}
