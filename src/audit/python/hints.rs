//! Names that say how a model is quantized, and with which library.

/// What quantizes a model with kernels of its own: classes, options and packages, as
/// `transformers` and the libraries themselves name them, and the library.
const LIBRARIES: &[(&str, &str)] = &[
    ("BitsAndBytesConfig", "bitsandbytes"),
    ("Linear8bitLt", "bitsandbytes"),
    ("Linear4bit", "bitsandbytes"),
    ("LinearNF4", "bitsandbytes"),
    ("LinearFP4", "bitsandbytes"),
    ("load_in_8bit", "bitsandbytes"),
    ("load_in_4bit", "bitsandbytes"),
    ("bitsandbytes", "bitsandbytes"),
    ("GPTQConfig", "gptq"),
    ("AutoGPTQForCausalLM", "gptq"),
    ("GPTQModel", "gptq"),
    ("auto_gptq", "gptq"),
    ("gptqmodel", "gptq"),
    ("AwqConfig", "awq"),
    ("AutoAWQForCausalLM", "awq"),
    ("awq", "awq"),
];

/// The library by which what has this name quantizes a model.
pub(crate) fn library(name: &str) -> Option<&'static str> {
    LIBRARIES.iter().find(|(known, _)| *known == name).map(|(_, library)| *library)
}
