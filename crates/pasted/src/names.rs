//! Labels in both languages, and the names of facts.

/// The order of facts. Packages and environment variables follow in the order of the text.
pub(crate) const ORDER: [&str; 37] = [
    "server",
    "npu",
    "npu_count",
    "hbm_gb",
    "hbm_gib",
    "pci_id",
    "driver",
    "firmware",
    "cann",
    "kernels",
    "nnal",
    "built_for",
    "soc_from_path",
    "os",
    "host_os",
    "kernel",
    "arch",
    "glibc",
    "gcc",
    "image",
    "python",
    "torch",
    "torch_npu",
    "vllm",
    "vllm_ascend",
    "sglang",
    "mindspore",
    "triton",
    "triton_ascend",
    "transformers",
    "llamafactory",
    "ms_swift",
    "paddle_custom_npu",
    "paddlepaddle",
    "lmdeploy",
    "verl",
    "mindie",
];

/// Labels without blanks, hyphens, underscores and words for "version".
const LABELS: [(&str, &[&str]); 31] = [
    ("torch", &["torch", "pytorch", "torch(npu)", "pytorch框架"]),
    (
        "torch_npu",
        &[
            "torchnpu",
            "pytorchnpu",
            "pta",
            "ascendpytorch",
            "torchnpu插件",
            "ascendextensionforpytorch",
            "npu版torch",
        ],
    ),
    (
        "cann",
        &[
            "cann",
            "canntoolkit",
            "ascendcann",
            "ascendcanntoolkit",
            "cann软件包",
            "cann包",
            "cann软件",
            "昇腾cann",
            "ascendtoolkit",
            "canntoolkits",
            "cann工具包",
            "cann套件",
            "cann开发套件",
            "npucann",
            "toolkit",
            "容器cann",
        ],
    ),
    (
        "driver",
        &[
            "driver",
            "npudriver",
            "ascenddriver",
            "驱动",
            "npu驱动",
            "hdk",
            "ascendhdk",
            "昇腾驱动",
            "ascendnpudriver",
            "npusmi",
            "hdk驱动",
            "驱动包",
            "固件驱动",
            "driver(hdk)",
            "ascendhdkdriver",
            "softwareversion",
            "software",
        ],
    ),
    (
        "firmware",
        &[
            "firmware",
            "固件",
            "npufirmware",
            "ascendfirmware",
            "npu固件",
            "ascendnpufirmware",
            "昇腾固件",
        ],
    ),
    ("python", &["python", "py", "python环境", "python解释器"]),
    (
        "arch",
        &[
            "arch",
            "architecture",
            "架构",
            "cpu架构",
            "系统架构",
            "cpuarch",
            "cpuarchitecture",
            "machine",
            "服务器架构",
            "硬件架构",
            "cpu",
        ],
    ),
    (
        "npu",
        &[
            "npu",
            "nputype",
            "npu型号",
            "芯片",
            "芯片型号",
            "chip",
            "chipname",
            "chiptype",
            "device",
            "devices",
            "hardware",
            "硬件",
            "硬件环境",
            "硬件型号",
            "训练卡",
            "推理卡",
            "显卡",
            "显卡型号",
            "npu卡",
            "soc",
            "加速卡",
            "卡型号",
            "卡",
            "设备",
            "设备型号",
            "gpu",
            "gpu型号",
            "npumodel",
            "npuname",
            "npu芯片",
            "npu设备",
            "昇腾卡",
            "昇腾芯片",
            "机器",
            "机型",
            "hardwareenvironment",
            "npuhardware",
            "accelerator",
            "npus",
            "硬件信息",
            "机器型号",
            "npu配置",
            "环境",
            "环境信息",
            "处理器",
            "服务器",
            "服务器型号",
            "server",
            "系统信息",
            "gputype",
            "device(s)",
            "hardwareplatform",
            "硬件平台",
            "ai处理器",
            "npu类型",
        ],
    ),
    (
        "npu_count",
        &[
            "npucount",
            "npu数量",
            "卡数",
            "npu卡数",
            "numberofnpus",
            "npunumber",
            "numnpus",
            "npunum",
            "npu个数",
            "gpucount",
            "gpu数量",
            "gpunumber",
            "numberofdevices",
            "显卡数量",
        ],
    ),
    (
        "os",
        &[
            "os",
            "操作系统",
            "系统",
            "osplatform",
            "operatingsystem",
            "osplatformanddistribution",
            "system",
            "系统平台",
            "linux",
            "distro",
            "distribution",
            "platform",
            "平台",
            "容器系统",
            "prettyname",
            "操作系统名称",
        ],
    ),
    (
        "kernel",
        &["kernel", "内核", "linuxkernel", "kernelrelease", "系统内核", "linux内核", "oskernel"],
    ),
    ("host_os", &["hostos", "宿主机", "宿主机系统", "宿主机操作系统", "物理机系统", "主机系统"]),
    ("glibc", &["glibc", "libc", "libc6"]),
    ("gcc", &["gcc", "gcc/compiler", "编译器", "gcc编译器"]),
    ("vllm", &["vllm"]),
    ("vllm_ascend", &["vllmascend", "vllmascendplugin"]),
    ("sglang", &["sglang", "sgl"]),
    ("mindspore", &["mindspore", "昇思mindspore", "昇思"]),
    ("triton", &["triton"]),
    ("triton_ascend", &["tritonascend"]),
    (
        "transformers",
        &["transformers", "transformer", "变压器", "hftransformers", "huggingfacetransformers"],
    ),
    ("llamafactory", &["llamafactory"]),
    ("ms_swift", &["msswift", "swift"]),
    ("nnal", &["nnal", "atb", "ascendcannnnal", "nnal(atb)", "nnal/atb"]),
    (
        "image",
        &[
            "image",
            "镜像",
            "dockerimage",
            "docker镜像",
            "容器镜像",
            "containerimage",
            "镜像名",
            "使用镜像",
        ],
    ),
    ("pci_id", &["pciid", "设备id", "pcideviceid"]),
    ("paddle_custom_npu", &["paddlecustomnpu"]),
    ("paddlepaddle", &["paddlepaddle", "paddle", "飞桨"]),
    ("lmdeploy", &["lmdeploy"]),
    ("verl", &["verl"]),
    ("mindie", &["mindie", "mindieimage"]),
];

/// Packages that appear in lists of environments beside those with a name of their own.
const PACKAGES: [&str; 56] = [
    "accelerate",
    "aiohttp",
    "apex",
    "attrs",
    "auto-gptq",
    "autoawq",
    "bitsandbytes",
    "compressed-tensors",
    "datasets",
    "decorator",
    "deepspeed",
    "deep-ep",
    "diffusers",
    "einops",
    "fastapi",
    "flash-attn",
    "gradio",
    "huggingface-hub",
    "llmcompressor",
    "mindformers",
    "mindnlp",
    "mindone",
    "mindspeed",
    "mindspeed-llm",
    "mindyolo",
    "modelscope",
    "msmodelslim",
    "mooncake",
    "numba",
    "numpy",
    "onnx",
    "onnxruntime",
    "openai",
    "opencv-python",
    "opencv-python-headless",
    "optimum",
    "outlines",
    "pandas",
    "peft",
    "protobuf",
    "psutil",
    "pydantic",
    "pyyaml",
    "pyzmq",
    "qwen-vl-utils",
    "ray",
    "safetensors",
    "scipy",
    "sentence-transformers",
    "sgl-kernel-npu",
    "setuptools",
    "tensorflow",
    "tokenizers",
    "torchaudio",
    "torchvision",
    "trl",
];

/// The fact that a label names: `PyTorch version (GPU?)`, `CANN 版本`, `**Python version**`.
pub(crate) fn of_label(label: &str) -> Option<String> {
    // Members of a JSON document, such as `"transformers_version"` of the configuration of a model.
    if label.len() > 100 || label.trim().starts_with(['"', '\'']) {
        return None;
    }
    let key = key(label);
    if key.is_empty() {
        return None;
    }
    for (name, labels) in LABELS {
        if labels.contains(&key.as_str()) {
            return Some(name.to_owned());
        }
    }
    PACKAGES
        .iter()
        .find(|package| package.replace('-', "") == key)
        .map(|package| format!("package.{package}"))
}

/// The fact of a package, by the name that pip knows.
pub(crate) fn of_package(package: &str) -> String {
    let name = pep503(package);
    match name.as_str() {
        "torch" | "vllm" | "sglang" | "mindspore" | "triton" | "transformers" | "llamafactory"
        | "paddlepaddle" | "lmdeploy" | "verl" => name,
        "torch-npu" | "vllm-ascend" | "triton-ascend" | "ms-swift" | "paddle-custom-npu" => {
            name.replace('-', "_")
        }
        "llama-factory" => "llamafactory".to_owned(),
        "pytorch" => "torch".to_owned(),
        _ => format!("package.{name}"),
    }
}

/// Whether a list that contains this package is one of Python packages.
pub(crate) fn is_known_package(package: &str) -> bool {
    let name = pep503(package);
    !of_package(&name).starts_with("package.") || PACKAGES.contains(&name.as_str())
}

/// Lower case, with one hyphen for each run of hyphens, underscores and dots.
pub(crate) fn pep503(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') {
            if !out.ends_with('-') {
                out.push('-');
            }
        } else {
            out.push(c.to_ascii_lowercase());
        }
    }
    out
}

/// A label in the form of the tables above.
fn key(label: &str) -> String {
    let mut text = label.trim().to_lowercase();
    // The bracket of a label holds an example or a question: `(GPU?)`, `(source or binary)`.
    if let Some(at) = text.find('(')
        && at > 0
    {
        text.truncate(at);
    }
    let mut text: String = text
        .chars()
        .filter(|c| !matches!(c, ' ' | '-' | '_' | '[' | ']' | '"' | '\'' | '*'))
        .collect();
    for word in [
        "version",
        "的版本号",
        "的版本",
        "版本号",
        "版本",
        "ver.",
        "信息为",
        "信息",
        "当前",
        "我的",
        "使用的",
        "本地",
    ] {
        // Some labels consist of such a word: `环境信息`.
        if text.len() > word.len()
            && !["softwareversion", "硬件信息", "环境信息", "系统信息"].contains(&text.as_str())
        {
            text = text.replace(word, "");
        }
    }
    text.trim_end_matches(['是', '为', '.']).to_owned()
}
