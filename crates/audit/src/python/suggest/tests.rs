//! Each pattern, and similar code that must not match.

use super::super::of_text;

fn rules(source: &str) -> Vec<(&'static str, u32)> {
    let source =
        format!("import torch\nfrom torch import nn\nimport torch.nn.functional as F\n{source}");
    let mut found: Vec<(&'static str, u32)> =
        of_text(&source).suggestions.iter().map(|(one, _)| (one.rule, one.line - 3)).collect();
    found.sort_unstable();
    found
}

fn after(source: &str) -> Vec<String> {
    let source =
        format!("import torch\nfrom torch import nn\nimport torch.nn.functional as F\n{source}");
    of_text(&source).suggestions.iter().filter_map(|(one, _)| one.after.clone()).collect()
}

const NORM: &str = "class Norm(nn.Module):\n    def __init__(self, n, eps):\n        super().__init__()\n        \
    self.weight = nn.Parameter(torch.ones(n))\n        self.eps = eps\n    def forward(self, x):\n        \
    dtype = x.dtype\n        x = x.to(torch.float32)\n        variance = x.pow(2).mean(-1, keepdim=True)\n        \
    x = x * torch.rsqrt(variance + self.eps)\n        return self.weight * x.to(dtype)\n";

#[test]
fn suggests_rms_norm_for_handwritten_norm() {
    assert_eq!(rules(NORM), [("rms_norm", 7)]);
    assert_eq!(after(NORM), ["return torch_npu.npu_rms_norm(x, self.weight, epsilon=self.eps)[0]"]);
    // `1 + weight` is a different norm, whose weight would have to change.
    let gemma = NORM.replace("self.weight * x", "(1 + self.weight) * x");
    assert_eq!((rules(&gemma).len(), after(&gemma).len()), (1, 0));
    // With a difference, it is a layer norm.
    let layer = NORM.replace("x.pow(2)", "(x - x.mean(-1)).pow(2)");
    assert_eq!(rules(&layer), []);
    let layer = NORM.replace("x = x.to(torch.float32)", "x = x - x.mean(-1, keepdim=True)");
    assert_eq!(rules(&layer), []);
}

#[test]
fn suggests_attention_across_assignments() {
    let manual = "def f(q, k, v, mask, scale):\n    w = torch.matmul(q, k.transpose(2, 3)) * scale\n    \
        if mask is not None:\n        w = w + mask\n    w = F.softmax(w, dim=-1).to(q.dtype)\n    \
        w = F.dropout(w, p=0.1)\n    return torch.matmul(w, v)\n";
    assert_eq!(rules(manual), [("attention", 7)]);
    let short = "def f(q, k, v):\n    return (q @ k.mT).softmax(-1) @ v\n";
    assert_eq!(rules(short), [("attention", 2)]);
    // A product without a transposed matrix, and weights that are not scores.
    assert_eq!(rules("def f(q, k, v):\n    return (q @ k).softmax(-1) @ v\n"), []);
    assert_eq!(rules("def f(q, v):\n    return q.softmax(-1) @ v\n"), []);
    // The name belongs to another function.
    let other = "def f(q, k):\n    w = (q @ k.mT).softmax(-1)\n    return w\ndef g(w, v):\n    return w @ v\n";
    assert_eq!(rules(other), []);
    let masked = "def f(x, attn_mask):\n    return torch.softmax(x * 0.5 + attn_mask, -1)\n";
    assert_eq!(rules(masked), [("scaled_masked_softmax", 2)]);
}

#[test]
fn suggests_routing_and_sampling_operators() {
    let gate = "def f(x, k):\n    return torch.topk(F.softmax(x, dim=-1), k)\n";
    assert_eq!(rules(gate), [("moe_gating", 2)]);
    assert_eq!(after(gate), ["torch_npu.npu_moe_gating_top_k_softmax(x, None, k=k)[:2]"]);
    let named = "def f(x, k):\n    p = F.softmax(x, dim=-1)\n    a, b = torch.topk(p, k, dim=-1)\n    return a, b\n";
    assert_eq!((rules(named), after(named).len()), (vec![("moe_gating", 3)], 0));
    let filter = "def f(x, p):\n    s, i = torch.sort(x, descending=True)\n    c = torch.cumsum(F.softmax(s, dim=-1), dim=-1)\n    return c > p\n";
    assert_eq!(rules(filter), [("top_k_top_p", 3)]);
    assert_eq!(rules("def f(x):\n    return torch.cumsum(F.softmax(x, -1), -1)\n"), []);
    let experts = "class M(nn.Module):\n    def forward(self, x):\n        for i in range(8):\n            x = self.experts[i](x)\n        return x\n";
    assert_eq!(rules(experts), [("grouped_matmul", 3)]);
}

#[test]
fn suggests_fused_modules_by_attribute_class() {
    let block = "class B(nn.Module):\n    def __init__(self, n):\n        self.norm = nn.GroupNorm(8, n)\n        \
        self.up = nn.Linear(n, n)\n        self.act = nn.GELU()\n        self.down = nn.Linear(n, n)\n        \
        self.drop = nn.Dropout(0.1)\n    def forward(self, x):\n        x = F.silu(self.norm(x))\n        \
        return self.down(self.drop(self.act(self.up(x))))\n";
    let found = rules(block);
    assert!(found.contains(&("group_norm_silu", 9)) && found.contains(&("ffn", 10)), "{found:?}");
    assert_eq!(
        after(block),
        [
            "torch_npu.npu_group_norm_silu(x, self.norm.weight, self.norm.bias, self.norm.num_groups, eps=self.norm.eps)[0]"
        ]
    );
    assert!(
        !rules(&block.replace("GroupNorm(8, n)", "LayerNorm(n)")).contains(&("group_norm_silu", 9))
    );
    let add = "class B(nn.Module):\n    def __init__(self, n):\n        self.norm = LlamaRMSNorm(n)\n    def forward(self, x, r):\n        \
        x = r + x\n        y = self.norm(x)\n        return y\n";
    assert_eq!(rules(add), [("add_rms_norm", 5)]);
    assert_eq!(rules(&add.replace("self.norm(x)", "self.norm(r)")), []);
    let stack = "m = nn.Sequential(nn.GroupNorm(8, 64), nn.SiLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))\n";
    let found: Vec<&str> = rules(stack).into_iter().map(|(rule, _)| rule).collect();
    assert!(found.contains(&"group_norm_silu") && found.contains(&"ffn"), "{found:?}");
}

#[test]
fn suggests_fused_calls_by_name() {
    for (source, rule) in [
        ("nn.LSTM(4, 4, bidirectional=True)", "bi_lstm"),
        ("nn.CrossEntropyLoss()", "cross_entropy"),
        ("torch.optim.RMSprop(p, lr=0.1)", "fused_rmsprop"),
        ("torch.optim.Adadelta(p)", "fused_adadelta"),
        ("nn.utils.clip_grad_norm_(p, 1.0)", "clip_grad_norm"),
        ("F.interpolate(x, scale_factor=2, mode='linear')", "interpolate_linear"),
        ("nn.Linear(4, 4)", "format_cast"),
        ("x.permute(0, 2, 1, 3).reshape(4, 4)", "confusion_transpose"),
        ("F.rms_norm(x, (4,), w, 1e-6)", "rms_norm"),
        ("F.gelu(a) * b", "geglu"),
        ("x * torch.sigmoid(1.702 * x)", "fast_gelu"),
    ] {
        let found = rules(&format!("def f(x: torch.Tensor, p, w, a, b):\n    return {source}\n"));
        assert_eq!(found, [(rule, 2)], "{source}");
    }
    let imported = "from torchvision.ops import nms, roi_align, deform_conv2d, StochasticDepth\n\
        from timm.optim import Lamb\nfrom torchvision.transforms import ColorJitter\nimport torch.distributed as dist\n\
        def f(x, w):\n    nms(x, w, 0.5)\n    roi_align(x, w, 2)\n    deform_conv2d(x, w, w)\n    StochasticDepth(0.1, 'row')\n    \
        Lamb(x)\n    ColorJitter(0.5)\n    y = x @ w\n    dist.all_reduce(y)\n    dist.reduce_scatter_tensor(x, y)\n    \
        dist.all_gather_into_tensor(g, x)\n    z = g @ w\n    return z\n";
    let found: Vec<&str> = rules(imported).into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(
        found,
        [
            "all_gather_mm",
            "color_jitter",
            "deform_conv",
            "drop_path",
            "fused_lamb",
            "mm_all_reduce",
            "mm_reduce_scatter",
            "nms",
            "roi_align"
        ]
    );
    assert_eq!(
        after("o = torch.optim.RMSprop(p, lr=0.1)\n"),
        ["torch_npu.optim.NpuFusedRMSprop(p, lr=0.1)"]
    );
    assert_eq!(after("o = torch.optim.RMSprop(p, maximize=True)\n"), [""; 0]);
    let loss = "def f(x, y):\n    return F.cross_entropy(x.view(-1, 4), y)\n";
    assert_eq!(after(loss), ["torch_npu.npu_cross_entropy_loss(x.view(-1, 4), y)[0]"]);
    let both = "def f(q, k, cos, sin):\n    a = (q * cos) + (rotate_half(q) * sin)\n    b = (k * cos) + (rotate_half(k) * sin)\n    return a, b\n";
    assert_eq!(rules(both), [("rotary", 2), ("rotary", 3), ("rotary_both", 2)]);
}

/// Every pattern in the code has a row in the table, and every row has a pattern.
#[test]
fn patterns_match_the_table() {
    let rows: std::collections::BTreeSet<&str> = crate::ops::table_text("fusions")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('\t').next())
        .collect();
    let code = [
        include_str!("blocks.rs"),
        include_str!("calls.rs"),
        include_str!("flows.rs"),
        include_str!("gates.rs"),
    ]
    .concat();
    let missing: Vec<&&str> =
        rows.iter().filter(|row| !code.contains(&format!("\"{row}\""))).collect();
    assert!(missing.is_empty() && rows.len() == 34, "{missing:?} of {}", rows.len());
}

/// The replacement uses `torch_npu`, so the source must bind that name.
#[test]
fn adds_missing_torch_npu_import() {
    let source = |import: &str| {
        format!(
            "import torch\n{import}import torch.nn.functional as F\ndef f(a, b):\n    return F.silu(a) * b\n"
        )
    };
    let at = |import: &str| of_text(&source(import)).imports.into_values().next();
    let behind_torch = Some("import torch\n".len());
    assert_eq!(at(""), behind_torch);
    assert_eq!(at("import torch_npu\n"), None);
    assert_eq!(at("import torch_npu.npu\n"), None);
    assert_eq!(at("from torch_npu import npu\n"), behind_torch);
    assert_eq!(at("import torch_npu as t\n"), behind_torch);
}
