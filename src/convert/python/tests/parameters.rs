//! Arguments whose meaning the callee decides, and tests in front of CUDA-only code.

use super::{becomes, converted, converted_with, flags, stays};
use crate::options::Options;
use crate::selection::Selection;
use crate::site::KeptBecause;

fn rules(source: &str) -> Vec<String> {
    flags(source).into_iter().map(|(rule, _)| rule).collect()
}

#[track_caller]
fn turns(before: &str, after: &str) {
    assert_eq!(converted(before), after, "{before}");
}

#[test]
fn each_library_has_its_own_spelling() {
    turns(
        "from lmdeploy import PytorchEngineConfig as C\nc = C(tp=2, device_type=\"cuda\")\n",
        "from lmdeploy import PytorchEngineConfig as C\nc = C(tp=2, device_type=\"ascend\")\n",
    );
    turns(
        "import paddle\npaddle.set_device('gpu:1')\n",
        "import paddle\npaddle.set_device('npu:1')\n",
    );
    turns(
        "import onnxruntime as ort\nb = ort.InferenceSession(m).io_binding()\n\
         b.bind_output('y', device_type='cuda', device_id=0)\n",
        "import onnxruntime as ort\nb = ort.InferenceSession(m).io_binding()\n\
         b.bind_output('y', device_type='cann', device_id=0)\n",
    );
    let other = "import onnxruntime\ndef f(b):\n    b.bind_input('x', 'cuda', 0)\n";
    turns(other, other);
    assert_eq!(rules(other), ["ort-io-binding"]);
}

#[test]
fn the_spelling_reaches_variables() {
    turns(
        "from lmdeploy import PytorchEngineConfig\nkind = 'cuda'\nc = PytorchEngineConfig(device_type=kind)\n",
        "from lmdeploy import PytorchEngineConfig\nkind = 'ascend'\nc = PytorchEngineConfig(device_type=kind)\n",
    );
    // One variable with two spellings needs manual work.
    let both = "import torch\nfrom lmdeploy import PytorchEngineConfig\ndevice = 'cuda'\n\
                x = torch.zeros(1, device=device)\nc = PytorchEngineConfig(device_type=device)\n";
    assert!(rules(both).len() == 1, "{:?}", rules(both));
}

#[test]
fn arguments_are_removed_and_replaced() {
    let vllm = |before: &str, after: &str| {
        let head = "from vllm import LLM\n";
        turns(&format!("{head}x = LLM({before})\n"), &format!("{head}x = LLM({after})\n"));
    };
    vllm("model='m', device='cuda'", "model='m'");
    vllm("device='cuda', model='m'", "model='m'");
    vllm("device='cuda'", "");
    vllm("model='m', device='cpu'", "model='m', device='cpu'");
    vllm("'m',\n    device=\"cuda\",\n", "'m',\n");
    let computed = "from vllm import LLM\nx = LLM('m', device=pick())\n";
    turns(computed, computed);
    assert_eq!(rules(computed).len(), 1);

    turns(
        "import ray\n@ray.remote(num_cpus=2, num_gpus=0.5)\ndef f():\n    pass\n",
        "import ray\n@ray.remote(num_cpus=2, resources={\"NPU\": 0.5})\ndef f():\n    pass\n",
    );
    let twice = "import ray\n@ray.remote(num_gpus=1, resources={'a': 1})\ndef f():\n    pass\n";
    turns(twice, twice);
    assert_eq!(rules(twice).len(), 1);
}

#[test]
fn numbers_are_cuda_devices_in_ultralytics() {
    let yolo = |before: &str, after: &str| {
        let head = "from ultralytics import YOLO\nm = YOLO('a.pt')\n";
        turns(
            &format!("{head}m.train(device={before})\n"),
            &format!("{head}m.train(device={after})\n"),
        );
    };
    yolo("0", "\"npu:0\"");
    yolo("[0, 1]", "\"npu:0,1\"");
    yolo("'2'", "\"npu:2\"");
    yolo("'cuda:1'", "'npu:1'");
    yolo("'cuda'", "'npu:0'");
    yolo("'cpu'", "'cpu'");
    yolo("'intel:npu'", "'intel:npu'");
    stays("m.train(device=0)\n");
}

#[test]
fn a_version_of_the_library_decides() {
    let source = "from ultralytics import YOLO\nYOLO('a.pt').train(device=0)\n";
    for (version, changed) in [("8.4.120", true), ("8.4.110", false)] {
        let packages = [("ultralytics".to_owned(), version.parse().unwrap())];
        let options = Options { packages: packages.into(), ..Options::default() };
        assert_eq!(converted_with(source, &options) != source, changed, "{version}");
    }
    let flash = "m = A.from_pretrained(p, attn_implementation='flash_attention_2')\n";
    turns(flash, flash);
    assert!(rules(flash).is_empty());
    let packages = [("transformers".to_owned(), "4.50.3".parse().unwrap())];
    let options = Options { packages: packages.into(), ..Options::default() };
    let context = crate::python::Context::alone(&options);
    assert_eq!(crate::python::plan(flash, &context).unwrap().sites.len(), 1);
}

#[test]
fn lightning_has_no_name_for_npus() {
    for source in [
        "import lightning as L\nf = L.Fabric(accelerator=\"cuda\", devices=2)\n",
        "from pytorch_lightning import Trainer\nt = Trainer(accelerator='gpu')\n",
        "import lightning.pytorch as pl\nname = 'cuda'\nt = pl.Trainer(accelerator=name)\n",
        "from lightning.fabric import Fabric\ndef f(accelerator='cuda'):\n    return Fabric(accelerator=accelerator)\n",
    ] {
        turns(source, source);
        assert!(rules(source).iter().any(|rule| rule.contains("Trainer(accelerator)")), "{source}");
    }
    turns(
        "import lightning as L\nimport torch\nx = torch.zeros(1, device='cuda')\nf = L.Fabric(accelerator='cpu')\n",
        "import lightning as L\nimport torch\nimport torch_npu\nx = torch.zeros(1, device='npu')\nf = L.Fabric(accelerator='cpu')\n",
    );
}

#[test]
fn code_is_not_registered_for_another_device() {
    for source in [
        "import torch\n@torch.library.register_kernel('a::b', 'cuda')\ndef _(x):\n    return k(x)\n",
        "from triton.backends.compiler import GPUTarget\nt = GPUTarget('cuda', 80, 32)\n",
        "import numba\n@numba.vectorize(['f4(f4)'], target='cuda')\ndef f(x):\n    return x\n",
        "import xgboost as xgb\nm = xgb.XGBClassifier(device='cuda')\n",
    ] {
        turns(source, source);
        assert!(!rules(source).is_empty(), "{source}");
    }
}

#[test]
fn devices_are_given_by_name_too() {
    becomes("d = torch.device(type='cuda', index=1)\n", "d = torch.device(type='npu', index=1)\n");
    becomes("d = dist.Backend(name='nccl')\n", "d = dist.Backend(name='hccl')\n");
    becomes(
        "import random\nb = random.choice(['nccl', 'NCCL'])\ndist.init_process_group(backend=b)\n",
        "import random\nb = random.choice(['hccl', 'HCCL'])\ndist.init_process_group(backend=b)\n",
    );
    becomes(
        "kind = next(iter(('cuda', 'tpu0')))\nx.to(kind)\n",
        "kind = next(iter(('npu', 'tpu0')))\nx.to(kind)\n",
    );
}

#[test]
fn members_of_a_class_stay_apart() {
    for source in [
        "@enum.unique\nclass D(enum.Enum):\n    CUDA = 'cuda'\n    NPU = 'npu'\n",
        "class D(str, enum.Enum):\n    GPU = 'cuda'\n    A = 'a'\n    B = 'b'\n    C = 'c'\n    ASCEND = 'npu'\n",
        "class D:\n    CUDA = 'cuda'; NPU = 'npu'\n    def f(self):\n        return D(device='cpu')\n",
        "@pytest.mark.parametrize('device', ['cpu', pytest.param('cuda', marks=g), pytest.param('npu', marks=n)])\n\
         def test(device):\n    pass\n",
    ] {
        stays(source);
    }
    becomes("class D:\n    device = 'cuda'\n", "class D:\n    device = 'npu'\n");
}

#[test]
fn questions_before_cuda_only_code_stay() {
    for source in [
        "import act_cuda\ndef f(x):\n    if x.is_cuda:\n        return act_cuda.forward(x)\n    return g(x)\n",
        "def _act_cuda(x):\n    return _plugin.act(x)\ndef f(x):\n    if x.device.type == 'cuda' and ok():\n        return _act_cuda(x)\n    return g(x)\n",
        "import triton\n@triton.jit\ndef k(p):\n    pass\ndef f(x):\n    if x.is_cuda:\n        k[(1,)](x)\n    return x\n",
        "import act_cuda\ndef f(x):\n    return act_cuda.run(x) if x.is_cuda else g(x)\n",
        "import act_cuda\ndef f(x):\n    if not x.is_cuda:\n        return g(x)\n    return act_cuda.run(x)\n",
    ] {
        stays(source);
        let head = "import torch\n";
        let found = rules(&format!("{head}{source}"));
        assert!(found.iter().any(|rule| rule == "cuda-only-guard"), "{found:?}\n{source}");
    }
    let facts = "def f(on):\n    if not torch.cuda.is_available() or not on:\n        return\n    \
                 p = torch.cuda.get_device_properties(0)\n    v = parse(f'{p.major}.{p.minor}')\n";
    assert!(super::body(facts).contains("not torch.cuda.is_available()"));
}

#[test]
fn ordinary_branches_for_cuda_are_converted() {
    for source in [
        "if torch.cuda.is_available():\n    x = move_to_cuda(x)\n",
        "import act_cuda\nif torch.cuda.is_available():\n    m = m.to('cuda')\n    act_cuda.init(m)\n",
        "if x.is_cuda:\n    y = x.float()\n",
        "def setup_cuda():\n    return kernel()\nif torch.cuda.is_available():\n    setup_cuda()\n",
        "if not torch.cuda.is_available():\n    return_code = 1\n",
        "def train_cuda():\n    net(kernel_size=3)\nif torch.cuda.is_available():\n    train_cuda()\n",
        "def step_cuda(m):\n    return _plugin.f(m.to(0))\nif torch.cuda.is_available():\n    step_cuda(m)\n",
        "def f(x):\n    if not x.is_cuda:\n        return x\n    return x.sum()\n",
    ] {
        let out = super::body(source);
        assert!(!out.contains("cuda.is_available") && !out.contains("is_cuda"), "{out}");
    }
}

#[test]
fn comments_keep_their_line() {
    let source = "import torch\nimport torch_npu\nx = torch.zeros(1, device='cuda')  # ascend-doctor: keep\n\
                  y = torch.zeros(1, device='cuda')\nz = torch.cuda.nvtx.range_push('a')  # ascend-doctor: keep (NVTX)\n";
    let options = Options::default();
    let plan = crate::python::plan(source, &crate::python::Context::alone(&options)).unwrap();
    let kept: Vec<_> = plan.kept.iter().map(|kept| (kept.line, kept.why)).collect();
    assert_eq!(kept, [(3, KeptBecause::Comment), (5, KeptBecause::Comment)]);
    assert_eq!(plan.sites.len(), 1);
    assert!(converted(source).contains("y = torch.zeros(1, device='npu')"));
    // A name stays together with its import.
    let import = "from torch import cuda  # ascend-doctor: keep\ncuda.synchronize()\n";
    assert_eq!(converted(import), import);
    // Text inserted above a kept line is not on it.
    let call = "import torch\nx = torch.cuda.device_count()  # ascend-doctor: keep\ny = torch.cuda.device_count()\n";
    assert!(converted(call).starts_with("import torch\nimport torch_npu\nx = torch.cuda"));
}

#[test]
fn selected_rules_change_and_others_stay() {
    let source = "import torch\nd = torch.device('cuda')\ntorch.cuda.synchronize()\n";
    let with = |only: &[&str], skip: &[&str]| {
        let owned =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let selection = Selection::new(&owned(only), &owned(skip)).unwrap();
        converted_with(source, &Options { selection, ..Options::default() })
    };
    assert_eq!(with(&["CV0269"], &[]), source.replace("'cuda'", "'npu'"));
    let family = with(&["torch-cuda"], &[]);
    assert!(family.contains("import torch_npu") && family.contains("'cuda'"), "{family}");
    assert!(with(&[], &["CV0255"]).starts_with("import torch\nd = torch.device('npu')"));
    assert_eq!(with(&["environment"], &[]), source);
    let import = "from torch.cuda import CUDAGraph\ng = CUDAGraph()\n";
    let selection = Selection::new(&[], &["CV0258".to_owned()]).unwrap();
    let out = converted_with(import, &Options { selection, ..Options::default() });
    assert!(
        out == import || out.contains("NPUGraph as CUDAGraph") || out.contains("g = NPUGraph()"),
        "{out}"
    );
}

#[test]
fn names_of_code_in_strings_change_with_the_code() {
    for (before, after) in [
        (
            "from unittest import mock\n@mock.patch('torch.cuda.is_available', return_value=True)\ndef t(m):\n    pass\n",
            "from unittest import mock\n@mock.patch('torch.npu.is_available', return_value=True)\ndef t(m):\n    pass\n",
        ),
        (
            "def t(monkeypatch):\n    monkeypatch.setattr('torch.cuda.device_count', lambda: 2)\n",
            "def t(monkeypatch):\n    monkeypatch.setattr('torch.npu.device_count', lambda: 2)\n",
        ),
    ] {
        becomes(before, after);
    }
    stays("def t(m):\n    m.setattr(x, 'torch.cuda.device_count', 1)\n");
}

#[test]
fn words_of_other_libraries_stay() {
    for source in [
        "from pygments.lexers import get_lexer_by_name\nx = get_lexer_by_name('cuda')\n",
        "labels = ['barracuda', 'cuda']\ni = labels.index('cuda')\n",
    ] {
        stays(source);
    }
    let source = "import lightgbm as lgb\nb = lgb.train({'device_type': 'cuda'}, d)\n";
    turns(source, source);
    assert_eq!(rules(source).len(), 1);
}

#[test]
fn omitted_arguments_have_a_default() {
    let whisper = |before: &str, after: &str| {
        let head = "import torch_npu\nimport whisper\n";
        turns(
            &format!("{head}m = whisper.load_model({before})\n"),
            &format!("{head}m = whisper.load_model({after})\n"),
        );
    };
    whisper("", "device=\"npu\"");
    whisper("'base'", "'base', device=\"npu\"");
    whisper("\n    'base',\n", "\n    'base', device=\"npu\",\n");
    whisper("'base', in_memory=True", "'base', in_memory=True, device=\"npu\"");
    // A passed argument replaces the default.
    whisper("'base', 'cpu'", "'base', 'cpu'");
    // The starred arguments may contain it.
    whisper("*args", "*args");
    whisper("'base', **options", "'base', **options");
    // A second argument next to a bare generator is a syntax error.
    let generator = "import whisper\nm = whisper.load_model(x for x in y)\n";
    turns(generator, generator);
    assert_eq!(rules(generator), ["whisper.load_model(device:1)"]);
}

#[test]
fn omitted_arguments_are_reported() {
    let omitted = "import easyocr\nr = easyocr.Reader(['en'])\n";
    turns(omitted, omitted);
    assert_eq!(rules(omitted), ["easyocr.Reader(gpu:1)"]);
    assert!(rules("import easyocr\nr = easyocr.Reader(['en'], gpu=False)\n").is_empty());
    assert!(rules("import easyocr\nr = easyocr.Reader(['en'], **options)\n").is_empty());
    assert_eq!(rules("import easyocr\nr = easyocr.Reader(['en'], True)\n").len(), 1);
}

#[test]
fn providers_of_tensorrt_are_reported() {
    for provider in ["TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider"] {
        let source = format!(
            "import onnxruntime\ns = onnxruntime.InferenceSession(m, providers=['{provider}'])\n"
        );
        assert_eq!(rules(&source).len(), 1, "{provider}");
    }
}

#[test]
fn methods_of_this_file_are_no_methods_of_libraries() {
    let own = "class P:\n    def enable_model_cpu_offload(self):\n        pass\n\
               def f(p):\n    p.enable_model_cpu_offload()\n";
    turns(own, own);
    assert!(converted(&own[own.find("def f").unwrap()..]).contains("offload(device=\"npu\")"));
}

#[test]
fn a_kept_text_keeps_no_variable() {
    let direct = "from mmengine.dist import init_dist\ninit_dist('pytorch', backend='nccl')\n";
    turns(direct, direct);
    turns(
        "import torch.distributed as dist\nimport torch_npu\nfrom mmengine.dist import init_dist\nb = 'nccl'\n\
         init_dist('pytorch', backend=b)\ndist.init_process_group(b)\n",
        "import torch.distributed as dist\nimport torch_npu\nfrom mmengine.dist import init_dist\nb = 'hccl'\n\
         init_dist('pytorch', backend=b)\ndist.init_process_group(b)\n",
    );
}

#[test]
fn a_default_belongs_to_versions() {
    let source = "from diffusers import DiffusionPipeline\np = DiffusionPipeline.from_pretrained(x)\np.enable_model_cpu_offload()\n";
    let with = |version: &str| {
        let packages = [("diffusers".to_owned(), version.parse().unwrap())];
        converted_with(source, &Options { packages: packages.into(), ..Options::default() })
    };
    assert!(with("0.33.1").contains("offload(device=\"npu\")"));
    assert_eq!(with("0.34.0"), source);
    assert!(converted(source).contains("offload(device=\"npu\")"));
    // Versions without the argument are reported instead.
    let scaler = "from timm.utils import NativeScaler\ns = NativeScaler()\n";
    let packages = [("timm".to_owned(), "0.9.0".parse().unwrap())];
    let options = Options { packages: packages.into(), ..Options::default() };
    assert_eq!(converted_with(scaler, &options), scaler);
    let context = crate::python::Context::alone(&options);
    assert_eq!(crate::python::plan(scaler, &context).unwrap().sites.len(), 1);
}

#[test]
fn values_that_are_no_strings_are_compared() {
    let head = "from transformers import TrainingArguments as T\n";
    for (arguments, reported) in [
        ("tf32=True", true),
        ("tf32=False", false),
        ("tf32=None", false),
        ("optim='adamw_bnb_8bit'", true),
        ("optim='adamw_torch'", false),
        ("optim='adamw_apex_fused'", true),
    ] {
        let source = format!("{head}a = T(output_dir='o', {arguments})\n");
        turns(&source, &source);
        assert_eq!(!rules(&source).is_empty(), reported, "{arguments}");
    }
    // Through a variable and a conditional expression.
    assert_eq!(rules(&format!("{head}flag = True\na = T(output_dir='o', tf32=flag)\n")).len(), 1);
    assert_eq!(
        rules(&format!("{head}a = T(output_dir='o', tf32=True if x else False)\n")).len(),
        1
    );
    // Names and calls of the library.
    let kernel = "from torch.nn.attention import SDPBackend as B, sdpa_kernel\n\
                  with sdpa_kernel([B.MATH, B.CUDNN_ATTENTION]):\n    pass\n";
    turns(kernel, kernel);
    assert_eq!(rules(kernel).len(), 1);
    turns(
        "from accelerate.utils import RNGType, synchronize_rng_state as s\ns(RNGType.CUDA)\n",
        "from accelerate.utils import RNGType, synchronize_rng_state as s\ns(RNGType.NPU)\n",
    );
    let config = "from torchao.quantization import Int4WeightOnlyConfig, quantize_\n\
                  quantize_(model, Int4WeightOnlyConfig(group_size=32))\n";
    assert_eq!(rules(config).len(), 1);
}

#[test]
fn calls_as_such_are_reported() {
    let ray = "import ray\nids = ray.get_gpu_ids()\n";
    assert_eq!(rules(ray), ["ray.get_gpu_ids()"]);
    let offload = "def f(self):\n    self.unet.enable_xformers_memory_efficient_attention()\n";
    assert_eq!(rules(offload).len(), 1);
}

#[test]
fn one_parameter_has_rules_for_several_values() {
    let compile = |backend: &str| rules(&format!("import torch\nm = torch.compile(m{backend})\n"));
    assert_eq!(compile(", backend='cudagraphs'").len(), 1);
    assert!(compile(", backend='cudagraphs'")[0].contains("backend"));
    assert!(compile(", backend='aot_eager'").is_empty());
    assert_eq!(compile(""), ["torch-compile"]);
    assert_eq!(compile(", backend='inductor'"), ["torch-compile"]);
    let all = "from allennlp.training import GradientDescentTrainer as G\nt = G(m, o, l, cuda_device=args.device)\n";
    assert_eq!(rules(all).len(), 1);
}
