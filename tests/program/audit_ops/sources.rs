//! Python sources.

use serde_json::Value;

use super::{json_of, text};

const BLOCK: &str = "import torch\nfrom torch import nn\n\n\nclass Block(nn.Module):\n    def __init__(self):\n        \
    super().__init__()\n        self.norm = nn.LayerNorm(4)\n        \
    self.start = torch.linalg.qr(torch.randn(4, 4))[0]\n\n    def forward(self, x):\n        \
    return torch.mode(self.norm(x), dim=-1)[0].lgamma()\n";

/// Operators of sources are reported with file and line, in every format.
#[test]
fn sources_are_audited_line_by_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("net.py");
    std::fs::write(&path, BLOCK).unwrap();
    let (status, shown, error) = text(&["--torch-npu", "2.9.0", path.to_str().unwrap()]);
    assert_eq!(status, 0, "{shown}{error}");
    assert!(shown.contains("`aten::mode` falls back") && shown.contains("net.py:12"), "{shown}");
    // Code that runs while the model is built gives no finding.
    assert!(!shown.contains("linalg_qr"), "{shown}");
    let (_, sarif, _) =
        text(&["--format", "sarif", "--torch-npu", "2.9.0", path.to_str().unwrap()]);
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 12, "{result}");
    assert_eq!(
        text(&["--torch-npu", "2.9.0", "--fail-on", "fallback", path.to_str().unwrap()]).0,
        1
    );
}

/// A directory stands for its sources without its tests; imports are followed on request.
#[test]
fn directories_and_imports_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("pkg/tests")).unwrap();
    std::fs::write(at("pkg/__init__.py"), "").unwrap();
    std::fs::write(at("pkg/ops.py"), "import torch\ndef f(x):\n    return torch.digamma(x)\ndef g(x):\n    return torch.mode(x)\n").unwrap();
    std::fs::write(
        at("pkg/net.py"),
        "import torch\nfrom .ops import f\ndef run(x):\n    return f(torch.abs(x))\n",
    )
    .unwrap();
    std::fs::write(at("pkg/tests/test_ops.py"), "import torch\ntorch.hypot(1, 2)\n").unwrap();
    let names = |args: &[&str]| {
        let (_, report) = json_of(&[&["--torch-npu", "2.9.0"], args].concat());
        let rows = report["inputs"][0]["operators"].as_array().unwrap().clone();
        let mut names: Vec<String> =
            rows.iter().map(|row| row["op"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let net = at("pkg/net.py");
    assert_eq!(names(&[net.to_str().unwrap()]), ["aten::abs"]);
    assert_eq!(names(&["--follow-imports", net.to_str().unwrap()]), ["aten::abs", "aten::digamma"]);
    assert_eq!(
        names(&[dir.path().to_str().unwrap()]),
        ["aten::abs", "aten::digamma", "aten::mode"]
    );
    std::fs::write(&net, "def (").unwrap();
    let (status, _, error) = text(&[net.to_str().unwrap()]);
    assert!(status == 2 && error.contains("line 1"), "{error}");
}

#[test]
fn data_types_and_libraries_of_sources_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("load.py");
    std::fs::write(&path, "import torch\nfrom transformers import BitsAndBytesConfig\n\
        config = BitsAndBytesConfig(load_in_8bit=True)\nmodel = torch.compile(build(torch.bfloat16))\n\
        x = torch.zeros(2, dtype=torch.float64)\n").unwrap();
    let path = path.to_str().unwrap();
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", "--soc", "Ascend310P3", path]);
    for word in
        ["OPS-QUANT", "OPS-COMPILE", "use bfloat16 (1 place)", "21 of 846 AI Core operators"]
    {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", "--soc", "Ascend910B3", path]);
    assert!(!shown.contains("bfloat16"), "{shown}");
}

/// Fused operators are suggested with the change, if release and chip support them.
#[test]
fn fused_operators_are_suggested() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mlp.py");
    std::fs::write(
        &path,
        "import torch\nimport torch.nn.functional as F\ndef f(gate, up, q, cos, sin):\n    \
        y = F.silu(gate) * up\n    return y, (q * cos) + (rotate_half(q) * sin)\n\
        optimizer = torch.optim.AdamW(parameters, lr=1e-4)\n",
    )
    .unwrap();
    let path = path.to_str().unwrap();
    let (status, report) = json_of(&["--torch-npu", "2.9.0", "--suggest", path]);
    let after: Vec<&str> = report["suggestions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["after"].as_str().unwrap())
        .collect();
    assert_eq!(status, 0);
    assert_eq!(
        after,
        [
            "torch.optim.AdamW(parameters, lr=1e-4, fused=True)",
            "torch_npu.npu_rotary_mul(q, cos, sin)",
            "torch_npu.npu_swiglu(torch.cat((gate, up), dim=-1), dim=-1)",
        ]
    );
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", "--suggest", path]);
    assert!(shown.contains("OPS-FUSE") && shown.contains("mlp.py:4"), "{shown}");
    // Neither without the option, nor for a chip that is not in the document.
    assert!(!text(&["--torch-npu", "2.9.0", path]).1.contains("OPS-FUSE"));
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", "--soc", "Ascend310P3", "--suggest", path]);
    assert!(!shown.contains("npu_swiglu") && shown.contains("npu_rotary_mul"), "{shown}");
}

/// The changes are a diff for `patch` and `git apply`, with the required import.
#[test]
fn suggestions_are_a_diff() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mlp.py");
    let source = "import torch\nimport torch.nn.functional as F\n\n\ndef f(gate, up):\n    return F.silu(gate) * up\n";
    std::fs::write(&path, source).unwrap();
    let args = ["--torch-npu", "2.9.0", "--suggest", path.to_str().unwrap()];
    let (_, report) = json_of(&args);
    let patch = report["patches"][0].as_str().unwrap();
    let lines: Vec<&str> = patch.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "@@ -1,6 +1,7 @@",
            " import torch",
            "+import torch_npu",
            " import torch.nn.functional as F",
            " ",
            " ",
            " def f(gate, up):",
            "-    return F.silu(gate) * up",
            "+    return torch_npu.npu_swiglu(torch.cat((gate, up), dim=-1), dim=-1)",
        ]
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), source, "nothing is written");
    for (format, fence) in
        [("text", "+import torch_npu"), ("markdown", "```diff"), ("html", "<pre>")]
    {
        let (_, shown, _) = text(&[&["--format", format], &args[..]].concat());
        assert!(
            shown.contains(fence) && shown.contains("npu_swiglu(torch.cat"),
            "{format}: {shown}"
        );
    }
    // With an existing import, no second one is added.
    std::fs::write(&path, format!("import torch_npu\n{source}")).unwrap();
    let (_, report) = json_of(&args);
    assert!(!report["patches"][0].as_str().unwrap().contains("+import"));
}

/// The cells of a notebook are one source; places are lines of the file.
#[test]
fn notebooks_are_sources() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("train.ipynb");
    std::fs::write(
        &path,
        "{\n \"cells\": [\n  {\"cell_type\": \"markdown\", \"source\": [\"torch.hypot(x)\"]},\n  \
         {\"cell_type\": \"code\", \"source\": [\n   \"%pip install torch\\n\",\n   \"import torch\\n\",\n   \"x = torch.randn(4)\"]},\n  \
         {\"cell_type\": \"code\", \"source\": \"%%bash\\npython x.py\"},\n  {\"cell_type\": \"code\", \"source\": [\n   \"def (\"]},\n  \
         {\"cell_type\": \"code\", \"source\": [\n   \"!ls\\n\",\n   \"y = torch.mode(x)\\n\",\n   \"y\"]}\n ],\n \"nbformat\": 4\n}\n",
    )
    .unwrap();
    let shown = path.to_str().unwrap();
    for input in [shown, dir.path().to_str().unwrap()] {
        let (status, report) = json_of(&["--torch-npu", "2.9.0", input]);
        assert_eq!(status, 0);
        let row = &report["inputs"][0]["operators"][0];
        assert_eq!(
            (&row["op"], &row["class"]),
            (&"aten::mode".into(), &"fallback".into()),
            "{row}"
        );
        assert_eq!(row["places"][0], format!("{shown}:13"));
        // Code that does not parse is reported.
        assert_eq!(report["inputs"][0]["notes"][0], "not_parsed");
    }
    std::fs::write(&path, "{\"cells\": [").unwrap();
    let (status, _, error) = text(&[shown]);
    assert!(status == 2 && error.contains("valid JSON"), "{error}");
}

/// The backward pass counts on request.
#[test]
fn the_backward_pass_is_counted_where_asked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("net.py");
    std::fs::write(&path, "import torch.nn.functional as F\ndef f(x):\n    return F.gelu(x)\n")
        .unwrap();
    let names = |options: &[&str]| {
        let args = [&["--torch-npu", "2.9.0"], options, &[path.to_str().unwrap()]].concat();
        let (_, report) = json_of(&args);
        let rows = report["inputs"][0]["operators"].as_array().unwrap().clone();
        rows.iter().map(|row| row["op"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["aten::gelu"]);
    assert_eq!(names(&["--backward"]), ["aten::gelu", "aten::gelu_backward"]);
}

/// Methods of quantization and backends of compilers, each with the known facts.
#[test]
fn quantization_and_backends_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("load.py");
    std::fs::write(
        &path,
        "import torch\nfrom transformers import EetqConfig, Mxfp4Config, HqqConfig, CompressedTensorsConfig, GPTQConfig, AwqConfig\n\
         all = [EetqConfig(), Mxfp4Config(), HqqConfig(), CompressedTensorsConfig(), GPTQConfig(), AwqConfig()]\n\
         engine = LLM(model, quantization=\"fp_quant\")\nf = torch.compile(g, backend=\"cudagraphs\")\n\
         h = torch.compile(g, backend=\"aot_eager\")\ni = torch.compile(g, backend=\"mine\")\nj = torch.compile(g, backend=\"npugraph_ex\")\n\
         @torch.compile\ndef k(x):\n    return x\n",
    )
    .unwrap();
    let (_, report) = json_of(&["--torch-npu", "2.9.0", path.to_str().unwrap()]);
    let all = report["findings"].as_array().unwrap();
    let of = |id: &str| -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = all
            .iter()
            .filter(|one| one["id"] == id)
            .map(|one| {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                (text(&one["severity"]), text(&one["title"]["en"]))
            })
            .collect();
        found.sort();
        found
    };
    let quant = of("OPS-QUANT");
    for (severity, words) in [
        ("warning", "eetq quantization without CUDA ("),
        ("warning", "fp_quant quantization without CUDA / XPU ("),
        ("warning", "mxfp4 models to bfloat16 without CUDA / XPU / CPU ("),
        ("info", "hqq quantization (1 place); NPU support"),
        ("info", "compressed-tensors quantization (1 place), supported"),
        ("warning", "GPTQ quantization (1 place)"),
        ("warning", "AWQ quantization (1 place)"),
    ] {
        let there = quant.iter().any(|(level, title)| level == severity && title.contains(words));
        assert!(there, "{words}: {quant:#?}");
    }
    let compile = of("OPS-COMPILE");
    for (severity, words) in [
        ("warning", "cudagraphs"),
        ("info", "aot_eager"),
        ("info", "mine"),
        ("info", "uses inductor"),
    ] {
        let there = compile.iter().any(|(level, title)| level == severity && title.contains(words));
        assert!(there, "{words}: {compile:#?}");
    }
    assert!(!compile.iter().any(|(_, title)| title.contains("npugraph_ex")), "{compile:#?}");
}
