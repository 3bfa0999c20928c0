use proptest::prelude::*;

use super::*;
use crate::encoding::apply;
use crate::site::{Decision, FilePlan};

fn planned(name: &str, text: &str) -> FilePlan {
    let mut planner = Planner::new(text);
    plan(&mut planner, name);
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

fn with(text: &str) -> String {
    text.replace("NPU21", &torch_npu_for_test("2.1.0"))
}

#[test]
fn requirement_lines() {
    let version = torch_npu_for_test("2.7.1");
    assert!(version.starts_with("2.7.1"), "{version}");
    for (before, after) in [
        ("torch==2.1.0+cu118\n", "torch==2.1.0\ntorch-npu==NPU21\n"),
        ("torchaudio>=2.1.0+cu121,!=2.1.1+cu121\n", "torchaudio>=2.1.0,!=2.1.1\n"),
        ("torch (==2.1.0+cu118)\n", "torch (==2.1.0)\ntorch-npu==NPU21\n"),
        // Invalid versions.
        ("torch==2.7.1+cu111+cu118\n", "torch==2.7.1+cu111+cu118\ntorch-npu\n"),
        ("torch==2.7'.7'1+cu118\n", "torch==2.7'.7'1+cu118\ntorch-npu\n"),
        ("torch==1.1.0+cu12]x > '3.8'\n", "torch==1.1.0+cu12]x > '3.8'\ntorch-npu\n"),
        (
            "--extra-index-url https://a.org/whl/cu118\r\ntorch==2.1.0+cu118 # gpu\r\n",
            "--extra-index-url https://a.org/whl/cpu\r\ntorch==2.1.0 # gpu\r\ntorch-npu==NPU21\r\n",
        ),
        (
            "torchvision==0.16.0+cu118 ; python_version<'3.12'\n",
            "torchvision==0.16.0 ; python_version<'3.12'\n",
        ),
        // An index of torch wheels has no torch_npu.
        (
            "--index-url https://a.org/whl/cu118\ntorch==2.1.0\n",
            "--extra-index-url https://a.org/whl/cpu\ntorch==2.1.0\ntorch-npu==NPU21\n",
        ),
        (
            "-i https://a.org/simple\ntorch==2.1.0\n",
            "-i https://a.org/simple\ntorch==2.1.0\ntorch-npu==NPU21\n",
        ),
        (
            "--index-url=https://a.org/whl/cu118\nnumpy\n",
            "--index-url=https://a.org/whl/cpu\nnumpy\n",
        ),
        ("numpy\ntorch>=2.0", "numpy\ntorch>=2.0\ntorch-npu"),
        ("onnxruntime-gpu\n", "onnxruntime-cann\n"),
        (
            "torch==2.1.0; sys_platform == 'linux'\n",
            "torch==2.1.0; sys_platform == 'linux'\ntorch-npu==NPU21; sys_platform == 'linux'\n",
        ),
    ] {
        assert_eq!(converted("requirements.txt", before), with(after));
    }
}

#[test]
fn what_stays() {
    for (name, text) in [
        ("requirements.txt", "torch==2.1.0\ntorch_npu==2.1.0\n"),
        ("requirements-npu.txt", "torch==2.1.0\n"),
        ("requirements.txt", "# torch==2.1.0+cu118\ntorchmetrics\npytorch-lightning-bolts\n"),
        ("requirements.txt", "git+https://github.com/NVIDIA/nccl.git\n"),
        ("requirements.txt", "torch==2.1.0 --hash=sha256:00\n"),
        ("requirements.txt", "torch==2.1.0 \\\n    --hash=sha256:00\n"),
        ("pyproject.toml", "[project]\nname = \"torch==2.1.0+cu118\"\n"),
        ("pyproject.toml", "not toml torch==2.1.0+cu118"),
    ] {
        assert_eq!(converted(name, text), text);
    }
}

#[test]
fn what_is_flagged() {
    for (text, rules) in [
        ("nvidia-nccl-cu12==2.18.1\n", vec!["requirements-cuda-package"]),
        ("cupy-cuda12x\n", vec!["cupy"]),
        ("flash-attn>=2\nxformers\n", vec!["flash_attn", "xformers"]),
        ("bitsandbytes\n", vec!["bitsandbytes"]),
        ("nvidia-ml-py\n", vec!["pynvml|py3nvml|gpustat|GPUtil"]),
        ("torch==2.1.0 --hash=sha256:00\n", vec!["requirements-hash"]),
        ("torch==1.0.0\n", vec!["requirements-no-torch-npu"]),
        ("onnxruntime-gpu==1.16.0\n", vec!["requirements-other-versions"]),
        ("tritonclient\ntransformers\n", vec![]),
    ] {
        assert_eq!(flags("requirements.txt", text), rules, "{text}");
    }
}

#[test]
fn other_formats() {
    for (name, before, after) in [
        (
            "pyproject.toml",
            "[project]\ndependencies = [\n  \"torch==2.1.0+cu118\",\n  \"x\",\n]\n",
            "[project]\ndependencies = [\n  \"torch==2.1.0\",\n  \"torch-npu==NPU21\",\n  \"x\",\n]\n",
        ),
        (
            "pyproject.toml",
            "[project.optional-dependencies]\ngpu = ['onnxruntime-gpu', 'torch']\n",
            "[project.optional-dependencies]\ngpu = ['onnxruntime-cann', 'torch', 'torch-npu']\n",
        ),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\ntorch = \"2.1.0\" # x\n[[tool.poetry.source]]\nurl = \"https://a.org/whl/cu121\"\n",
            "[tool.poetry.dependencies]\ntorch = \"2.1.0\" # x\ntorch-npu = \"NPU21\"\n[[tool.poetry.source]]\nurl = \"https://a.org/whl/cpu\"\n",
        ),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    numpy\n    torch==2.1.0\n",
            "[options]\ninstall_requires =\n    numpy\n    torch==2.1.0\n    torch-npu==NPU21\n",
        ),
        (
            "environment.yml",
            "dependencies:\n  - python=3.10\n  - pip:\n    - torch==2.1.0+cu118\n    - x\n",
            "dependencies:\n  - python=3.10\n  - pip:\n    - torch==2.1.0\n    - torch-npu==NPU21\n    - x\n",
        ),
    ] {
        assert_eq!(converted(name, before), with(after));
    }
    assert_eq!(
        flags("environment.yml", "dependencies:\n - pytorch=2.1.0\n - pytorch-cuda=11.8\n"),
        ["requirements-conda-torch", "requirements-cuda-package"]
    );
}

proptest! {
    #[test]
    fn any_text_is_planned_once(
        name in proptest::sample::select(vec![
            "requirements.txt", "pyproject.toml", "setup.cfg", "environment.yml",
        ]),
        text in "(torch|==2\\.1\\.0|==1\\.1\\.0|x|\\+cu118|\n|\r\n| |; x|#|\\[options\\]|install_requires =|dependencies:|- pip:|- |\"|'|\\\\|onnxruntime-gpu|--hash|://a/whl/cu118|\\[project\\]|dependencies = \\[|\\]|,|中){0,20}",
    ) {
        let plan = planned(name, &text);
        for edit in &plan.edits {
            prop_assert!(text.get(edit.range.clone()).is_some());
        }
        let after = apply(&text, &plan.edits);
        prop_assert_eq!(planned(name, &after).edits, vec![]);
    }
}
