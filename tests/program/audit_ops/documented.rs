//! Limits in the torch_npu docs of the APIs that sources call.

use serde_json::{Value, json};

use super::{json_of, text};

const SOURCE: &str = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n\
    class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        \
    self.rnn = nn.LSTM(4, 4, dropout=0.5)\n        self.pool = nn.AvgPool3d(2)\n\n    \
    def forward(self, x):\n        x = self.pool(F.gelu(x, approximate=\"tanh\"))\n        \
    start = torch.zeros(4, dtype=torch.float64)\n        \
    return torch.topk(x, 2, sorted=False), x.acos(), torch.mode(x), start\n";

fn api<'r>(report: &'r Value, name: &str) -> &'r Value {
    let all = report["inputs"][0]["apis"].as_array().unwrap();
    all.iter().find(|one| one["api"] == name).unwrap_or_else(|| panic!("{name}: {all:#?}"))
}

fn kinds(one: &Value) -> Vec<&str> {
    let points = one["points"].as_array().map_or(&[][..], Vec::as_slice);
    points.iter().map(|point| point["kind"].as_str().unwrap()).collect()
}

/// Both the documents and the registrations are reported; neither fails a gate.
#[test]
fn documents_are_quoted_beside_registrations() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("net.py");
    std::fs::write(&path, SOURCE).unwrap();
    let path = path.to_str().unwrap();
    let (_, report) = json_of(&["--torch-npu", "2.9.0-7.3.0", path]);
    assert_eq!(report["target"]["documents"], "2.9.0-7.3.0");
    // A kernel is registered for an API that the documents call unsupported.
    let pool = api(&report, "torch.nn.AvgPool3d");
    assert_eq!((&pool["supported"], kinds(pool)), (&json!(false), vec!["registered"]));
    assert_eq!(pool["registered"], "native");
    let rnn = api(&report, "torch.nn.LSTM");
    let point = &rnn["points"][0];
    assert_eq!((&point["kind"], &point["value"]), (&json!("argument"), &json!("0.5")));
    assert!(point["places"][0].as_str().unwrap().ends_with("net.py:9"), "{point}");
    assert_eq!(kinds(api(&report, "torch.topk")), ["argument"]);
    assert_eq!(kinds(api(&report, "torch.Tensor.acos")), ["may_fall_back"]);
    let gelu = api(&report, "torch.nn.functional.gelu");
    assert_eq!(gelu["dtypes"], json!([["*", ["bf16", "fp16", "fp32"]]]));
    assert_eq!(kinds(gelu), [""; 0]);
    let found = report["findings"].as_array().unwrap();
    let of_documents = found.iter().filter(|one| one["id"] == "OPS-API");
    let of_documents: Vec<&Value> = of_documents.collect();
    assert!(of_documents.iter().all(|one| one["severity"] == "info"));
    assert_eq!(of_documents.len(), 4, "{of_documents:#?}");
    // An API used by name, on a chip that the documents of a later release omit.
    let args =
        ["--torch-npu", "2.9.0-26.1.0", "--soc", "Ascend950DT", "--assume-dtype", "float64", path];
    let (_, report) = json_of(&args);
    let gelu = api(&report, "torch.nn.functional.gelu");
    assert!(kinds(gelu).contains(&"dtype"), "{gelu}");
    assert!(kinds(api(&report, "torch.nn.LSTM")).contains(&"chip"));
    let (_, shown, _) = text(&["--torch-npu", "2.9.0-7.3.0", "--all", path]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["Limits in the torch_npu docs", "no `dropout`", "`sorted=False`"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    // No document is for this PyTorch, so nothing is reported.
    let (_, report) = json_of(&["--torch-npu", "2.1.0-5.0.0", path]);
    assert_eq!(
        (&report["target"]["documents"], &report["inputs"][0]["apis"]),
        (&json!(null), &json!(null))
    );
}
