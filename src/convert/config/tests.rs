use proptest::prelude::*;

use super::*;
use crate::encoding::apply;
use crate::site::{Decision, FilePlan};

fn planned(name: &str, text: &str) -> FilePlan {
    let mut planner = Planner::new(text);
    let _ = plan(&mut planner, name);
    planner.finish()
}

fn flags(name: &str, text: &str) -> Vec<&'static str> {
    let sites = planned(name, text).sites;
    let flagged = sites.iter().filter(|site| site.decision == Decision::Flagged);
    flagged.map(|site| site.rule.name).collect()
}

/// The converted text; asserts that a second run plans no edit.
fn converted(name: &str, text: &str) -> String {
    let after = apply(text, &planned(name, text).edits);
    assert_eq!(planned(name, &after).edits, [], "a second run edits\n{after}");
    after
}

#[test]
fn settings_that_rules_are_about_are_reported() {
    for (name, text, rule) in [
        ("a.yaml", "model: m\ntf32: true\nbf16: true\n", "tf32"),
        ("a.yaml", "training:\n  optim: paged_adamw_8bit\n", "optim"),
        ("a.json", "{\"aio\": {\"use_gds\": true}}", "use_gds"),
        ("a.toml", "load_in_4bit = true\n", "load_in_4bit"),
        ("a.ini", "[model]\nattn_implementation = flash_attention_3\n", "attn_implementation"),
    ] {
        assert_eq!(converted(name, text), text);
        assert_eq!(flags(name, text), [rule], "{text}");
    }
    for text in ["tf32: false\n", "optim: adamw_torch\n", "load_in_4bit: ${quantize}\n"] {
        assert!(flags("a.yaml", text).is_empty(), "{text}");
    }
}

#[test]
fn yaml_values() {
    for (before, after) in [
        ("device: cuda  # cuda\nname: cuda\n", "device: npu  # cuda\nname: cuda\n"),
        ("a:\n  device: 'cuda:0'\r\n  b: 1\r\n", "a:\n  device: 'npu:0'\r\n  b: 1\r\n"),
        ("x: {device: cuda, backend: \"nccl\"}", "x: {device: npu, backend: \"hccl\"}"),
        ("- device: cuda\n- device: cpu\n", "- device: npu\n- device: cpu\n"),
        ("devices:\n- cuda:0\n- cuda:1\n", "devices:\n- npu:0\n- npu:1\n"),
        ("devices: [cuda:0, cuda:1]\n", "devices: [npu:0, npu:1]\n"),
        (
            "env:\n  CUDA_VISIBLE_DEVICES: \"0, 1\"\n  A: b\n",
            "env:\n  ASCEND_RT_VISIBLE_DEVICES: \"0,1\"\n  A: b\n",
        ),
        (
            "environment:\n  - CUDA_VISIBLE_DEVICES=0\n",
            "environment:\n  - ASCEND_RT_VISIBLE_DEVICES=0\n",
        ),
        (
            "env:\n- name: CUDA_VISIBLE_DEVICES\n  value: \"0\"\n",
            "env:\n- name: ASCEND_RT_VISIBLE_DEVICES\n  value: \"0\"\n",
        ),
        (
            "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\n",
            "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_NPU\n",
        ),
        (
            "steps:\n  - run: |\n      export CUDA_VISIBLE_DEVICES=0\n      python a.py --device cuda\n",
            "steps:\n  - run: |\n      export ASCEND_RT_VISIBLE_DEVICES=0\n      python a.py --device npu\n",
        ),
    ] {
        assert_eq!(converted("a.yaml", before), after);
    }
}

#[test]
fn other_formats() {
    for (name, before, after) in [
        (
            "ds.json",
            "{\"communication_data_type\": \"fp16\",\n \"dist_backend\": \"nccl\", \"device\": \"cpu\"}",
            "{\"communication_data_type\": \"fp16\",\n \"dist_backend\": \"hccl\", \"device\": \"cpu\"}",
        ),
        (
            "a.jsonc",
            "// cuda\n{\"a\": [{\"device\": \"cuda:1\",},], /* nccl */ \"env\": {\"CUDA_VISIBLE_DEVICES\": \"0\"}}\n",
            "// cuda\n{\"a\": [{\"device\": \"npu:1\",},], /* nccl */ \"env\": {\"ASCEND_RT_VISIBLE_DEVICES\": \"0\"}}\n",
        ),
        (
            "a.toml",
            "[train]\ndevice = 'cuda' # cuda\nbackend = \"nccl\"\ntitle = \"cuda\"\n",
            "[train]\ndevice = 'npu' # cuda\nbackend = \"hccl\"\ntitle = \"cuda\"\n",
        ),
        (
            "a.ini",
            "[cuda]\n; device = cuda\ndevice = cuda\nbackend: nccl ; nccl\n",
            "[cuda]\n; device = cuda\ndevice = npu\nbackend: hccl ; nccl\n",
        ),
    ] {
        assert_eq!(converted(name, before), after);
    }
}

#[test]
fn what_stays() {
    for (name, text) in [
        ("a.yaml", "description: |\n  device: cuda\n  x\ndevice: cpu\n"),
        ("a.yaml", "device: cuda\n  more of it\n"),
        ("a.yaml", "text: \"a\n  device: cuda\"\n"),
        ("a.yaml", "cuda:\n  device: npu\n  fallback_device: cuda\n"),
        ("a.yaml", "device: {{ .Values.cuda }}\n"),
        ("a.yaml", "url: https://example.com/cuda\ndevice: $cuda\n# device: cuda\n"),
        ("a.yaml", "env:\n  CUDA_VISIBLE_DEVICES: 0\n  ASCEND_RT_VISIBLE_DEVICES: 0\n"),
        ("a.yaml", "matrix:\n  - device: cuda\n  - device: npu\n"),
        ("a.yaml", "jobs:\n  build:\n    device: cuda\n"),
        ("a.json", "{\"device\": \"cuda\""),
        ("a.json", "{\"message\": \"device: cuda\", \"cuda\": true}"),
        ("a.toml", "device = cuda"),
        ("a.ini", "[a]\ntext = x\n  device = cuda\n"),
    ] {
        assert_eq!(converted(name, text), text);
    }
}

#[test]
fn what_is_flagged() {
    for (text, rules) in [
        ("accelerator: gpu\n", vec!["config-device"]),
        ("env:\n  NCCL_DEBUG: INFO\n", vec!["NCCL_DEBUG"]),
        ("services:\n  a:\n    runtime: nvidia\n", vec!["compose-nvidia"]),
        ("devices:\n  - driver: nvidia\n    count: all\n", vec!["compose-nvidia"]),
        ("resources:\n  limits:\n    nvidia.com/gpu: 1\n", vec!["k8s-nvidia-gpu"]),
        ("container:\n  image: nvidia/cuda:12.1.0-base\n", vec!["ci-cuda-image"]),
        ("gpus: 2\nimage: python:3.10\n", vec![]),
    ] {
        assert_eq!(flags("a.yaml", text), rules, "{text}");
    }
}

#[test]
fn many_places_take_linear_time() {
    let text = "device: cuda\n".repeat(20_000);
    let plan = planned("a.yaml", &text);
    assert_eq!((plan.edits.len(), plan.sites.len()), (20_000, 20_000));
}

#[test]
fn deep_nesting_is_refused() {
    let mut planner = Planner::new("");
    assert!(plan(&mut planner, "a.json").is_ok());
    let deep = format!("{}\"cuda\"", "[".repeat(200_000));
    assert!(plan(&mut Planner::new(&deep), "a.json").is_err());
    assert!(plan(&mut Planner::new(&deep), "a.yaml").is_ok());
}

proptest! {
    #[test]
    fn any_text_is_planned_once(
        name in proptest::sample::select(vec!["a.yaml", "a.json", "a.toml", "a.ini"]),
        text in "(device|backend|: |=|cuda|nccl|:0|\n|\r\n|  |- |\"|'|\\{|\\}|\\[|\\]|,|#|\\||\\\\|env|CUDA_VISIBLE_DEVICES|0, 1|name|value|run|中){0,24}",
    ) {
        let plan = planned(name, &text);
        for edit in &plan.edits {
            prop_assert!(text.get(edit.range.clone()).is_some());
        }
        let after = apply(&text, &plan.edits);
        prop_assert_eq!(planned(name, &after).edits, vec![]);
    }
}

#[test]
fn commands_and_their_arguments_in_configurations() {
    for (name, before, after) in [
        (
            "a.yaml",
            "command: [\"python\", \"a.py\", \"--device\", \"cuda\"]\nargs:\n- --backend\n- nccl\n- --name\n- cuda\n",
            "command: [\"python\", \"a.py\", \"--device\", \"npu\"]\nargs:\n- --backend\n- hccl\n- --name\n- cuda\n",
        ),
        ("a.yaml", "cmd: python a.py --device cuda\n", "cmd: python a.py --device npu\n"),
        (
            "a.yaml",
            "_target_: torch.cuda.amp.GradScaler\ntext: torch.cuda.amp is used\n",
            "_target_: torch_npu.npu.amp.GradScaler\ntext: torch.cuda.amp is used\n",
        ),
        (
            "a.json",
            "{\"args\": [\"--device=cuda\", \"--device\", \"x\", \"cuda\"]}",
            "{\"args\": [\"--device=npu\", \"--device\", \"x\", \"cuda\"]}",
        ),
    ] {
        assert_eq!(converted(name, before), after);
    }
}
