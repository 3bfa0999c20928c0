//! `config.json` of a Hugging Face model: operators that its architecture implies.
//!
//! The file names no operators. The operators derived from its keys are those of the reference
//! implementation in transformers. They are hints, and the report marks them as such.

use serde_json::{Map, Value};

use super::model::{Format, Model, Note, Op};

/// Returns whether the object has keys that only a model configuration has.
pub(super) fn is_config(value: &Map<String, Value>) -> bool {
    value.contains_key("model_type")
        || (value.contains_key("architectures") && value.contains_key("torch_dtype"))
}

/// Returns the operators of an activation function by its name (`ACT2FN` of
/// transformers/activations.py).
fn activation(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "gelu" | "gelu_10" | "gelu_python" | "gelu_pytorch_tanh" | "gelu_accurate" => &["gelu"],
        "gelu_new" | "gelu_fast" => &["tanh", "pow", "mul"],
        "quick_gelu" => &["sigmoid", "mul"],
        "silu" | "swish" => &["silu"],
        "relu" => &["relu"],
        "relu2" => &["relu", "square"],
        "relu6" => &["relu6"],
        "leaky_relu" => &["leaky_relu"],
        "mish" => &["mish"],
        "sigmoid" => &["sigmoid"],
        "tanh" => &["tanh"],
        "laplace" => &["erf"],
        _ => return None,
    })
}

/// Operators that the presence of a key implies.
const KEYS: [(&[&str], &[&str]); 7] = [
    (&["vocab_size"], &["embedding"]),
    (&["hidden_size", "d_model", "n_embd"], &["linear"]),
    (&["num_attention_heads", "n_head", "num_heads"], &["scaled_dot_product_attention"]),
    (&["rms_norm_eps"], &["pow", "mean", "rsqrt"]),
    (&["layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon"], &["layer_norm"]),
    (&["rope_theta", "rope_scaling", "rope_parameters"], &["cos", "sin", "cat"]),
    (&["num_experts", "num_local_experts", "n_routed_experts"], &["topk", "softmax", "index_add_"]),
];

/// Reads the operators and properties of a configuration. A model of several parts nests their
/// configurations.
pub(super) fn read(value: &Map<String, Value>) -> Model {
    let mut model = Model::new(Format::Config);
    model.note(Note::Hints);
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    if let Some(kind) = text("model_type") {
        model.say("model_type", kind);
    }
    if let Some(name) =
        value.get("architectures").and_then(|names| names.get(0)).and_then(Value::as_str)
    {
        model.say("architecture", name);
    }
    if let Some(method) = value
        .get("quantization_config")
        .and_then(|config| config.get("quant_method"))
        .and_then(Value::as_str)
    {
        model.say("quantization", method);
    }
    if let Some(dtype) = text("torch_dtype").or_else(|| text("dtype")) {
        *model.dtypes.entry(dtype.chars().take(40).collect()).or_default() += 1;
    }
    part(value, "", &mut model);
    for (key, inner) in value {
        if let Some(inner) = inner.as_object()
            && key.ends_with("_config")
            && key != "quantization_config"
        {
            part(inner, key, &mut model);
        }
    }
    model
}

fn part(value: &Map<String, Value>, prefix: &str, model: &mut Model) {
    let place =
        |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    let mut uses = |key: &str, ops: &[&str]| {
        for op in ops {
            if let Some(op) = Op::parse(&format!("aten::{op}"), false) {
                model.uses(op, 1, Some(&place(key)));
            }
        }
    };
    for (keys, ops) in KEYS {
        if let Some(key) = keys.iter().find(|key| value.get(**key).is_some_and(|v| !v.is_null())) {
            uses(key, ops);
        }
    }
    for key in ["hidden_act", "hidden_activation", "activation_function"] {
        if let Some(ops) = value.get(key).and_then(Value::as_str).and_then(activation) {
            uses(key, ops);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_architecture_has_its_operators() {
        let value = serde_json::json!({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
            "torch_dtype": "bfloat16", "hidden_size": 4096, "hidden_act": "silu", "rms_norm_eps": 1e-5,
            "num_attention_heads": 32, "rope_theta": 1e4, "vocab_size": 32000, "rope_scaling": null,
            "quantization_config": {"quant_method": "gptq", "bits": 4},
            "vision_config": {"hidden_act": "quick_gelu", "layer_norm_eps": 1e-5}});
        let object = value.as_object().unwrap();
        assert!(is_config(object));
        let model = read(object);
        let names: Vec<String> = model.uses.keys().map(|op| op.name.clone()).collect();
        for name in ["embedding", "silu", "rsqrt", "cos", "layer_norm", "sigmoid"] {
            assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
        }
        assert_eq!(model.says["quantization"], "gptq");
        assert_eq!(model.dtypes["bfloat16"], 1);
        let sigmoid = Op::parse("aten::sigmoid", false).unwrap();
        assert_eq!(
            model.uses[&sigmoid].places,
            ["vision_config.hidden_act".to_owned()].map(crate::place::Place::Named)
        );
    }
}
