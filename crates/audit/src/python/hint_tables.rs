//! Tables of quantization methods and compile backends, by their names in sources.

use std::sync::LazyLock;

use foldhash::HashMap;

/// A quantization method: a row of `data/ops/quantization.tsv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantizationMethod {
    /// The value of `quant_method` in a `config.json`.
    pub name: &'static str,
    /// The known support on an NPU.
    pub known: &'static str,
    /// The devices that it requires; without them it raises an error, or expands the model.
    pub needs: &'static str,
}

/// Methods by their own names, and by the names that select them in sources.
static METHODS: LazyLock<[HashMap<&'static str, QuantizationMethod>; 2]> = LazyLock::new(|| {
    let mut methods: [HashMap<&'static str, QuantizationMethod>; 2] = Default::default();
    for row in crate::ops::table_rows("quantization") {
        if let [name, known, needs, names] = *row {
            let method = QuantizationMethod { name, known, needs };
            methods[0].insert(name, method);
            let names = names.split(' ').filter(|name| *name != "-");
            methods[1].extend(names.map(|name| (name, method)));
        }
    }
    methods
});

/// Returns the quantization method that a name in a source selects: a class, an option, a package.
pub fn method_chosen_by(name: &str) -> Option<QuantizationMethod> {
    METHODS[1].get(name).copied()
}

/// Returns the method with this name in a configuration.
pub fn method(name: &str) -> Option<QuantizationMethod> {
    METHODS[0].get(name).copied()
}

/// The support of a `torch.compile` backend on an NPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompileBackend {
    /// torch_npu registers it (`torch_npu/dynamo`).
    TorchNpu,
    /// It generates Triton code.
    Inductor,
    /// It runs the operators unchanged, for debugging.
    Eager,
    /// It is for other devices.
    Other,
    /// Unknown.
    Unknown,
}

/// Returns the kind of a `torch.compile` backend by its name. The names are those that PyTorch
/// registers (`torch/_dynamo/backends`), torch_npu, and some packages.
pub fn backend(name: &str) -> CompileBackend {
    match name {
        "npu" | "npugraph_ex" => CompileBackend::TorchNpu,
        "inductor" => CompileBackend::Inductor,
        "cudagraphs" | "tensorrt" | "torch_tensorrt" | "openxla" | "openxla_eval" | "ipex"
        | "onnxrt" | "tvm" | "hpu_backend" | "neuron" | "openvino" | "hidet" | "zentorch" => {
            CompileBackend::Other
        }
        "ts" | "aot_ts" | "pre_dispatch_eager" => CompileBackend::Eager,
        _ if name.starts_with("eager") || name.starts_with("aot_eager") => CompileBackend::Eager,
        _ => CompileBackend::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let [by_name, by_word] = &*METHODS;
        assert!(by_name.len() >= 25 && by_word.len() > by_name.len());
        let known = ["nf4", "gptq", "awq", "device", "expanded", "vllm", "npu", "open"];
        assert!(by_name.values().all(|method| known.contains(&method.known)));
        let needs = |method: &QuantizationMethod| matches!(method.known, "device" | "expanded");
        assert!(by_name.values().all(|method| needs(method) == (method.needs != "-")));
        assert_eq!(method_chosen_by("EetqConfig").map(|one| one.known), Some("device"));
        assert_eq!(method("gptq"), method_chosen_by("GPTQModel"));
        assert_eq!(method_chosen_by("Linear"), None);
    }
}
