//! Complete sources with their expected operators and places.

use super::{of_text, source_facts};
use crate::model::Model;
use crate::place::Place;

fn ops(source: &str) -> Vec<String> {
    let model = of_text(source);
    model
        .uses
        .iter()
        .filter(|(_, used)| used.maybe + used.setup < used.count)
        .map(|(op, _)| op.name.clone())
        .collect()
}

fn place(model: &Model, name: &str) -> Vec<String> {
    let found = model.uses.iter().find(|(op, _)| op.name == name);
    found.map_or_else(Vec::new, |(_, used)| used.places.iter().map(Place::to_string).collect())
}

#[test]
fn resolves_names_through_imports() {
    let source = "import torch as th\nimport torch.nn.functional as F\nfrom torch import cat as c\n\
                  from torch.nn import functional as G\n\
                  def f(x: th.Tensor):\n    y = F.gelu(x)\n    z = G.silu(th.abs(x))\n    return c([y, z])\n";
    assert_eq!(ops(source), ["abs", "cat", "gelu", "silu"]);
    assert_eq!(place(&of_text(source), "gelu"), ["model.py:6"]);
}

/// Scopes contain only the bindings of statements. Bindings of expressions are collected during the
/// walk.
#[test]
fn expression_bindings_shadow_imports() {
    let head = "import torch\nimport torch.nn.functional as F\n";
    for body in [
        "def f(files):\n    return [F.gelu(1) for F in files]\n",
        "def f(files):\n    return {F.gelu(1): F for F in files if F.silu(2)}\n",
        "def f(files):\n    return sorted(files, key=lambda F: F.gelu(1))\n",
        "def f(file):\n    return (F := file) and F.gelu(1)\n",
        "def f(file):\n    while F := file.next():\n        F.gelu(1)\n",
        "x = [F.gelu(1) for F in y]\n",
    ] {
        assert_eq!(ops(&format!("{head}{body}")), [""; 0], "{body}");
    }
    let outside = "def f(files, x):\n    y = [F for F in files]\n    return F.gelu(x), y\n";
    assert_eq!(ops(&format!("{head}{outside}")), ["gelu"]);
}

#[test]
fn modules_use_the_operators_of_forward() {
    let source = "from torch import nn\nclass M(nn.Module):\n    def __init__(self):\n        \
                  self.a = nn.Conv2d(3, 4, 1)\n        self.b = nn.ReLU(inplace=True)\n        \
                  self.c = nn.GELU\n    def forward(self, x):\n        return self.b(self.a(x)) + x\n";
    assert_eq!(ops(source), ["add", "conv2d", "relu_"]);
    let model = of_text(source);
    assert_eq!(place(&model, "conv2d"), ["model.py:4"]);
    assert_eq!(place(&model, "add"), ["model.py:8"]);
}

/// Methods that share a name with a tensor method are not operators.
#[test]
fn counts_only_methods_of_tensors() {
    let none = "import torch\nimport numpy as np\ndef f(path, names):\n    a = path.split('/')\n    names.sort()\n    \
                n = np.zeros(3).mean()\n    b = ' '.join(a).index('x')\n    return len(a), sorted(names), n + 1, b\n";
    assert_eq!(ops(none), [""; 0]);
    let some = "import torch\ndef f(x: torch.Tensor, n: int):\n    a, b = x.chunk(2)\n    c = x.sort()\n    \
                return b.unsqueeze(0) * n, c\n";
    assert_eq!(ops(some), ["chunk", "mul", "sort", "unsqueeze"]);
    // The uses are the evidence: only tensors have `masked_fill` and `unsqueeze`.
    let evident = "import torch\ndef f(x, y):\n    z = x.unsqueeze(1)\n    return y.masked_fill(z == 0, 1) - x\n";
    assert_eq!(ops(evident), ["eq", "masked_fill", "sub", "unsqueeze"]);
}

#[test]
fn separates_dead_code_and_preparation() {
    let dead = "import torch\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    torch.lgamma(1)\n\
                def f(x: torch.Tensor):\n    if not torch.cuda.is_available():\n        return torch.mode(x)\n    \
                if torch.jit.is_scripting():\n        return torch.digamma(x)\n    return torch.abs(x)\n";
    assert_eq!(ops(dead), ["abs"]);
    let built = "import torch\nfrom torch import nn\nclass M(nn.Module):\n    def __init__(self):\n        \
                 self.w = nn.Parameter(torch.linalg.qr(torch.randn(4, 4))[0])\n    def forward(self, x):\n        \
                 return x @ self.w\n";
    assert_eq!(ops(built), ["matmul"]);
    let host = "import torch\ndef f(x: torch.Tensor):\n    y = x.cpu()\n    return y.mode(0)\n";
    assert_eq!(ops(host), ["to"]);
}

#[test]
fn argument_selects_operators() {
    let source = "import torch.nn.functional as F\ndef f(x, m):\n    a = F.interpolate(x, scale_factor=2, mode='bicubic')\n    \
                  return F.interpolate(a, (4, 4))\n";
    let found = ops(source);
    assert!(found.contains(&"upsample_bicubic2d".to_owned()), "{found:?}");
    assert!(!found.contains(&"upsample_bilinear2d".to_owned()), "{found:?}");
    let open = "import torch.nn.functional as F\ndef f(x, m):\n    return F.interpolate(x, scale_factor=2, mode=m)\n";
    assert!(ops(open).is_empty() || !ops(open).contains(&"upsample_bicubic2d".to_owned()));
    let fused = "import torch\noptimizer = torch.optim.AdamW(p, fused=True)\n";
    assert!(ops(fused).contains(&"_fused_adamw_".to_owned()));
    assert!(!ops(&fused.replace("True", "False")).contains(&"_fused_adamw_".to_owned()));
}

#[test]
fn language_operators_and_indices_use_aten_operators() {
    let source = "import torch\ndef f(x: torch.Tensor, i: int):\n    y = 2 - x[0]\n    y[x > 0] = 1\n    y += x[:, None]\n    \
                  return -(y @ x) / i, x.shape[0] // 2\n";
    let found = ops(source);
    for name in ["rsub", "select", "gt", "index_put_", "add_", "unsqueeze", "neg", "matmul", "div"]
    {
        assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
    }
    assert!(!found.contains(&"floor_divide".to_owned()), "{found:?}");
}

#[test]
fn records_operators_called_by_name() {
    let source = "import torch, torch_npu\ndef f(x):\n    a = torch.ops.aten.mm.default(x, x)\n    \
                  return torch_npu.npu_swiglu(a), torch.ops.npu.npu_rms_norm(x)\n";
    let model = of_text(source);
    let names: Vec<String> = model.uses.keys().map(ToString::to_string).collect();
    assert_eq!(names, ["aten::mm", "npu::npu_rms_norm", "npu::npu_swiglu"]);
}

#[test]
fn hostile_sources_are_read_or_rejected() {
    let deep = format!("import torch\nx = {}1{}\n", "(".repeat(3000), ")".repeat(3000));
    let facts =
        |text: &str| source_facts::facts(source_facts::Source { text, ..Default::default() });
    let _ = facts(&deep);
    let chain = format!("import torch\ny = x{}\n", ".abs()".repeat(3000));
    let _ = facts(&chain);
    assert!(facts("def (").is_err());
    assert!(facts("").is_ok());
}

/// A registry names functions that this model may never call.
#[test]
fn registry_entries_are_uncertain_uses() {
    let registry = "import torch\ndef ctc(x):\n    return torch.mode(x)\ndef other(x):\n    return torch.lgamma(x)\n\
                    LOSSES = {'ctc': ctc}\n";
    let model = "from registry import LOSSES, other\ndef f(x):\n    return LOSSES['a'](other(x))\n";
    let facts = |text: &str, name: &str| {
        let source = source_facts::Source { text, path: name, module: name, ..Default::default() };
        source_facts::facts(source).unwrap()
    };
    let known = std::sync::Arc::new(facts(registry, "registry"));
    let load = |name: &str| (name == "registry").then(|| std::sync::Arc::clone(&known));
    let model = super::reachability::model(vec![facts(model, "model").into()], Some(&load), false);
    let of = |name: &str| {
        let found = model.uses.iter().find(|(op, _)| op.name == name);
        found.map(|(_, used)| (used.count, used.maybe))
    };
    assert_eq!((of("mode"), of("lgamma")), (Some((1, 1)), Some((1, 0))));
}

/// A value with the methods of a tensor need not be a tensor.
#[test]
fn methods_of_unknown_values_are_uncertain_uses() {
    let open = "import torch\ndef f(model):\n    return model.covariance.logdet()\n";
    let used = |source: &str, name: &str| {
        let model = of_text(source);
        let found = model.uses.iter().find(|(op, _)| op.name == name);
        found.map(|(_, used)| (used.count, used.maybe))
    };
    assert_eq!(used(open, "logdet"), Some((1, 1)));
    // A class of the tree has a method of this name, which is irrelevant for a value that is
    // certainly a tensor.
    let own = "import torch\nclass Operator:\n    def cholesky(self):\n        return self\n\
               def f(op):\n    return op.cholesky()\ndef g(x: torch.Tensor):\n    return x.cholesky()\n";
    assert_eq!(used(own, "cholesky"), Some((2, 1)));
    let plain = "import torch\ndef f(x):\n    return x.unsqueeze(0).lgamma() + x.shape[0]\n";
    assert_eq!(used(plain, "lgamma"), Some((1, 0)));
}

/// Language operators count only if the function uses the same name as a tensor elsewhere.
#[test]
fn operators_of_unknown_values_need_evidence() {
    let names = |body: &str| -> Vec<String> {
        let text =
            format!("import torch\nimport torch.nn.functional as F\ndef f(x, w, other):\n{body}\n");
        let model = of_text(&text);
        model.uses.keys().map(|op| op.name.clone()).collect()
    };
    assert_eq!(names("    return x @ w"), [""; 0]);
    assert_eq!(names("    x **= 2\n    return x + w, ~x, x % w, x // w, x < w"), [""; 0]);
    assert_eq!(names("    torch.relu(x)\n    return x @ w"), ["matmul", "relu"]);
    assert_eq!(names("    y = x ** w\n    return y, F.relu(x)"), ["pow", "relu"]);
    assert_eq!(names("    torch.cat([x, other])\n    return x % w"), ["cat", "remainder"]);
    assert_eq!(names("    w = fetch()\n    torch.relu(w)\n    return ~w"), ["bitwise_not", "relu"]);
    assert_eq!(
        names("    x //= other\n    return x.masked_fill(w, 0)"),
        ["floor_divide", "floor_divide_", "masked_fill"]
    );
    // That proves nothing about the methods, which another type may have.
    let text =
        "import torch\ndef f(x):\n    y = fetch()\n    y.logdet()\n    z = y + 1\n    z.logdet()\n";
    let model = of_text(text);
    let of = |name: &str| {
        let found = model.uses.iter().find(|(op, _)| op.name == name).map(|(_, used)| used);
        found.map(|used| (used.count, used.maybe))
    };
    assert_eq!((of("add"), of("logdet")), (Some((1, 0)), Some((2, 2))));
    // Neither a shape nor a list of tensors is a tensor. A value that is used like an array may be
    // an array.
    assert_eq!(names("    torch.zeros(w)\n    return w + w"), ["zeros"]);
    assert_eq!(names("    torch.cat(w)\n    return w + w"), ["cat"]);
    assert_eq!(names("    w = fetch()\n    n = w.shape\n    return w + w"), [""; 0]);
}

/// Also on values that are probably tensors, or modules: either then has that data type.
#[test]
fn records_data_types_of_methods() {
    let source = "from torch import nn\nclass M(nn.Module):\n    def forward(self, x):\n        \
                  return x.double(), x.bfloat16()\n";
    let model = of_text(source);
    let hints: Vec<&str> = model.hints.iter().map(|(hint, _)| hint.name.as_str()).collect();
    assert_eq!(hints, [".double()", ".bfloat16()"]);
    assert_eq!(ops(source), ["to"]);
}
