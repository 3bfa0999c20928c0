//! Imports, and names from other files.

use super::*;

#[test]
fn imports() {
    for (before, after) in [
        (
            "import torch\nfrom torch.cuda import amp\namp.autocast()\n",
            "import torch\nimport torch_npu\nfrom torch_npu.npu import amp\namp.autocast()\n",
        ),
        (
            "import torch as th\nth.cuda.synchronize()\n",
            "import torch as th\nimport torch_npu\nth.npu.synchronize()\n",
        ),
        (
            "from torch import cuda\ncuda.synchronize()\n",
            "import torch_npu\nfrom torch import npu\nnpu.synchronize()\n",
        ),
        (
            "from torch import cuda as C\nC.CUDAGraph()\n",
            "import torch_npu\nfrom torch import npu as C\nC.NPUGraph()\n",
        ),
        (
            "from torch.cuda.amp import autocast, GradScaler\n",
            "from torch_npu.npu.amp import autocast, GradScaler\nimport torch_npu\n",
        ),
        (
            "from torch.cuda import amp, nvtx\n",
            "from torch.cuda import nvtx\nfrom torch_npu.npu import amp\nimport torch_npu\n",
        ),
        (
            "\"\"\"doc\"\"\"\nfrom __future__ import annotations\nimport torch\ntorch.cuda.synchronize()\n",
            "\"\"\"doc\"\"\"\nfrom __future__ import annotations\nimport torch\nimport torch_npu\ntorch.npu.synchronize()\n",
        ),
        (
            "def f():\n    import torch\n    torch.cuda.synchronize()\n",
            "def f():\n    import torch\n    import torch_npu\n    torch.npu.synchronize()\n",
        ),
        (
            "try: import torch\nexcept ImportError: pass\ntorch.cuda.synchronize()\n",
            "try: import torch; import torch_npu\nexcept ImportError: pass\ntorch.npu.synchronize()\n",
        ),
        (
            "from torch.distributed import is_nccl_available\nis_nccl_available()\n",
            "import torch_npu\nfrom torch.distributed import is_hccl_available\nis_hccl_available()\n",
        ),
        (
            "from torch.profiler import profile, record_function, ProfilerActivity\nProfilerActivity.CUDA\n",
            "from torch.profiler import record_function\nfrom torch_npu.profiler import profile, ProfilerActivity\nimport torch_npu\nProfilerActivity.NPU\n",
        ),
        (
            "import torch\r\ntorch.cuda.synchronize()\r\n",
            "import torch\r\nimport torch_npu\r\ntorch.npu.synchronize()\r\n",
        ),
    ] {
        assert_eq!(converted(before), after);
    }
}

/// Includes files without an import of torch, and files without a test for `__main__`.

#[test]
fn script_that_uses_the_npu_imports_torch_npu() {
    for (before, after) in [
        (
            "from transformers import AutoModel\nmodel = AutoModel.from_pretrained('x').cuda()\n",
            "import torch_npu\nfrom transformers import AutoModel\nmodel = AutoModel.from_pretrained('x').npu()\n",
        ),
        (
            "import torch\nfrom m import model\nmodel.to('cuda')\n",
            "import torch\nimport torch_npu\nfrom m import model\nmodel.to('npu')\n",
        ),
        (
            "from m import f\ndef main():\n    f().cuda()\nif __name__ == '__main__':\n    main()\n",
            "import torch_npu\nfrom m import f\ndef main():\n    f().npu()\nif __name__ == '__main__':\n    main()\n",
        ),
        // The launch script imports the module of a library.
        (
            "def load(model):\n    return model.cuda()\n",
            "def load(model):\n    return model.npu()\n",
        ),
        (
            "import torch\ndevice = 'cuda'\ndef load(model):\n    return model.to(device)\n",
            "import torch\ndevice = 'npu'\ndef load(model):\n    return model.to(device)\n",
        ),
    ] {
        assert_eq!(converted(before), after);
    }
}

#[test]
fn names_of_other_files_are_followed() {
    let files = [
        (Module::of("pkg/compat.py"), "from torch import cuda\n"),
        (Module::of("pkg/a.py"), "from .compat import cuda\ng = cuda.CUDAGraph()\nimport apex\n"),
    ];
    let mut project = Project::of(["pkg".to_owned(), "apex".to_owned()]);
    project.add_imported("cuda");
    project.add(&files[0].0, files[0].1);
    let options = Options::default();
    let out = |at: usize| {
        let (module, text): &(Module, &str) = &files[at];
        let context = Context {
            package: &module.package,
            project: Some(&project),
            ..Context::alone(&options)
        };
        let plan = plan(text, &context).unwrap();
        assert!(plan.sites.iter().all(|site| site.rule.name != "apex"));
        apply(text, &plan.edits)
    };
    // The name that the other file imports stays.
    assert_eq!(out(0), "import torch_npu\nfrom torch import npu as cuda\n");
    assert_eq!(
        out(1),
        "import torch_npu\nfrom .compat import cuda\ng = cuda.NPUGraph()\nimport apex\n"
    );
}

#[test]
fn objects_of_other_files_are_objects() {
    becomes(
        "from models import net\nimport zoo\nnet.cuda()\nzoo.a.cuda(0)\nok = net.x.is_cuda\n",
        "from models import net\nimport zoo\nnet.npu()\nzoo.a.npu(0)\nok = net.x.is_npu\n",
    );
    becomes(
        "from config import cfg\ncfg.device = 'cuda' if x else 'cpu'\ncfg.main_device = 'cuda'\n",
        "from config import cfg\ncfg.device = 'npu' if x else 'cpu'\ncfg.main_device = 'npu'\n",
    );
    stays("import tvm2\ntvm2.cuda(0)\n");
    stays("from numba import cuda as c\nc.cuda()\n");
    becomes(
        "class A:\n    def is_cuda(self):\n        return x.is_cuda\n",
        "class A:\n    def is_cuda(self):\n        return x.is_npu\n",
    );
    stays("class A:\n    @property\n    def is_cuda(self):\n        return self.is_cuda\n");
}

#[test]
fn torch_may_come_with_a_star() {
    assert_eq!(
        converted("from common import *\nx = torch.cuda.device_count()\n"),
        "import torch_npu\nfrom common import *\nx = torch.npu.device_count()\n"
    );
}

#[test]
fn property_reads_the_attribute_of_its_parts() {
    becomes(
        "class A:\n    @property\n    def is_cuda(self):\n        return self.w.is_cuda\nx = a.is_cuda\n",
        "class A:\n    @property\n    def is_cuda(self):\n        return self.w.is_npu\nx = a.is_cuda\n",
    );
}

#[test]
fn ambiguous_strings_follow_their_neighbors() {
    for (before, after) in [
        ("d = {'gpu': 'cuda', 'cpu': 'cpu'}[x]\n", "d = {'gpu': 'npu', 'cpu': 'cpu'}[x]\n"),
        ("ok = x.type().startswith('torch.cuda.')\n", "ok = x.type().startswith('torch.npu.')\n"),
        ("ok = 'cuda' in x.type()\n", "ok = 'npu' in x.type()\n"),
        ("ok = 'cuda' in [d.type for d in ds]\n", "ok = 'npu' in [d.type for d in ds]\n"),
        ("i = re.match(r'cuda:(\\d+)', device)\n", "i = re.match(r'npu:(\\d+)', device)\n"),
        (
            "Dropdown(choices=['cuda', 'cpu'], value='cuda', label='cuda')\n",
            "Dropdown(choices=['npu', 'cpu'], value='npu', label='cuda')\n",
        ),
    ] {
        becomes(before, after);
    }
    becomes(
        "m = importlib.import_module('torch.cuda.amp')\n",
        "m = importlib.import_module('torch_npu.npu.amp')\n",
    );
    stays("d = {'name': 'cuda', 'kind': 'lib'}\n");
    stays("i = re.match(r'cuda:(\\d+)', line)\n");
}

#[test]
fn objects_with_a_cuda_of_their_own_move_by_to() {
    let own = "import torch\nclass Sparse:\n    def to(self, d):\n        return self\n    def cuda(self):\n        return self.to('cuda')\n";
    let user = "import torch\nfrom own import each\neach(lambda x: x.cuda())\ny = t.cuda(non_blocking=True)\nz = t.cuda(1)\n";
    let mut project = Project::of(["own".to_owned(), "user".to_owned()]);
    let options = Options::default();
    let shown = {
        let context = Context {
            name: "own",
            explains: true,
            project: Some(&project),
            ..Context::alone(&options)
        };
        plan(own, &context).unwrap().shown.unwrap()
    };
    assert_eq!(shown.open, ["cuda"]);
    assert_eq!(project.share(&shown.roles), ["cuda"]);
    let context = Context { name: "user", project: Some(&project), ..Context::alone(&options) };
    let out = apply(user, &plan(user, &context).unwrap().edits);
    assert!(out.contains("each(lambda x: x.to(\"npu\"))\n"), "{out}");
    assert!(out.contains("t.to(\"npu\", non_blocking=True)\nz = t.npu(1)\n"), "{out}");
}
