//! Conversion of small sources, by kind of place.

mod calls;
mod modules;
mod parameters;
mod reported;
mod stays;

use super::*;
use crate::encoding::apply;

fn converted(source: &str) -> String {
    converted_with(source, &Options::default())
}

fn converted_with(source: &str, options: &Options) -> String {
    let context = Context::alone(options);
    let plan = plan(source, &context).unwrap_or_else(|error| panic!("{error:?}\n{source}"));
    let out = apply(source, &plan.edits);
    let again = super::plan(&out, &context).unwrap_or_else(|error| panic!("{error:?}\n{out}"));
    assert_eq!(again.edits, [], "a second run changes\n{out}");
    out
}

/// With torch and torch_npu imported in front.
fn body(source: &str) -> String {
    const HEAD: &str =
        "import os\nimport torch\nimport torch_npu\nimport torch.distributed as dist\n";
    let out = converted(&format!("{HEAD}{source}"));
    out.strip_prefix(HEAD).unwrap_or_else(|| panic!("{out}")).to_owned()
}

fn flags(source: &str) -> Vec<(String, u32)> {
    let options = Options::default();
    plan(source, &Context::alone(&options))
        .unwrap()
        .sites
        .iter()
        .filter(|site| site.decision == crate::site::Decision::Flagged)
        .map(|site| (site.rule.name.to_owned(), site.line))
        .collect()
}

#[track_caller]
fn becomes(before: &str, after: &str) {
    assert_eq!(body(before), after);
}

#[track_caller]
fn stays(source: &str) {
    assert_eq!(body(source), source);
}

#[test]
fn names_of_torch() {
    becomes("torch.cuda.synchronize()\n", "torch.npu.synchronize()\n");
    becomes("x = torch.cuda.amp.autocast(amp)\n", "x = torch.npu.amp.autocast(amp)\n");
    becomes("g = torch.cuda.CUDAGraph()\n", "g = torch.npu.NPUGraph()\n");
    becomes("f'{torch.cuda.memory_reserved():.3g}G'\n", "f'{torch.npu.memory_reserved():.3g}G'\n");
    stays("torch.backends.cuda.matmul.allow_tf32 = True\n");
    stays("except_ = torch.cuda.OutOfMemoryError\n");
    stays("torch.cuda.nvtx.range_push('x')\n");
    becomes(
        "a = torch.profiler.ProfilerActivity.CUDA\n",
        "a = torch_npu.profiler.ProfilerActivity.NPU\n",
    );
    becomes("dist.is_nccl_available()\n", "dist.is_hccl_available()\n");
}

#[test]
fn devices_in_their_places() {
    for (before, after) in [
        ("d = torch.device('cuda', 1)\n", "d = torch.device('npu', 1)\n"),
        ("x.to('cuda:0')\n", "x.to('npu:0')\n"),
        ("x = torch.zeros(2, device=\"cuda\")\n", "x = torch.zeros(2, device=\"npu\")\n"),
        ("ok = d.type == 'cuda'\n", "ok = d.type == 'npu'\n"),
        ("ok = d.type in ('cuda', 'mps')\n", "ok = d.type in ('npu', 'mps')\n"),
        ("ok = 'cuda' in device\n", "ok = 'npu' in device\n"),
        ("device = f'cuda:{rank}'\n", "device = f'npu:{rank}'\n"),
        ("device = 'cuda:' + str(i)\n", "device = 'npu:' + str(i)\n"),
        ("x = str(device).replace('cuda:', '')\n", "x = str(device).replace('npu:', '')\n"),
        ("arg = 'cuda:0'\ntorch.device(arg)\n", "arg = 'npu:0'\ntorch.device(arg)\n"),
        ("arg = 'cuda'\ntorch.device(arg)\n", "arg = 'npu'\ntorch.device(arg)\n"),
        (
            "x = 'cuda' if torch.cuda.is_available() else 'cpu'\n",
            "x = 'npu' if torch.npu.is_available() else 'cpu'\n",
        ),
        (
            "p.add_argument('--device', default='cuda', help='cuda device')\n",
            "p.add_argument('--device', default='npu', help='cuda device')\n",
        ),
        ("def f(device='cuda'):\n    pass\n", "def f(device='npu'):\n    pass\n"),
        ("def f(where='cuda'):\n    x.to(where)\n", "def f(where='npu'):\n    x.to(where)\n"),
        (
            "def f(where):\n    x.to(where)\nf('cuda')\n",
            "def f(where):\n    x.to(where)\nf('npu')\n",
        ),
        (
            "def pick():\n    return 'cuda'\nx.to(pick())\n",
            "def pick():\n    return 'npu'\nx.to(pick())\n",
        ),
        ("for d in ['cpu', 'cuda']:\n    pass\n", "for d in ['cpu', 'npu']:\n    pass\n"),
        ("x.cuda(non_blocking=True)\n", "x.npu(non_blocking=True)\n"),
        ("ok = x.is_cuda\n", "ok = x.is_npu\n"),
        ("c = {'device': 'cuda'}\n", "c = {'device': 'npu'}\n"),
        (
            "if mode == 'cpu':\n    pass\nelif mode == 'cuda':\n    pass\nx.to(mode)\n",
            "if mode == 'cpu':\n    pass\nelif mode == 'npu':\n    pass\nx.to(mode)\n",
        ),
        // Without a use as a device it may be the program's own choice.
        (
            "if mode == 'cpu':\n    pass\nelif mode == 'cuda':\n    pass\n",
            "if mode == 'cpu':\n    pass\nelif mode == 'cuda':\n    pass\n",
        ),
        ("model.load('x', 'cuda')\n", "model.load('x', 'npu')\n"),
        ("getattr(torch, 'cuda')\n", "getattr(torch, 'npu')\n"),
        ("t = x.type('torch.cuda.FloatTensor')\n", "t = x.type('torch.npu.FloatTensor')\n"),
    ] {
        becomes(before, after);
    }
}

#[test]
fn strings_that_resemble_devices_stay() {
    for source in [
        "cuda = 3\nif cuda:\n    pass\n",
        "self.cuda = True\n",
        "print('cuda')\n",
        "raise ValueError('cuda')\n",
        "x = state['cuda_rng_state']\n",
        "x = d['cuda']\n",
        "p.add_argument('--cuda', action='store_true')\n",
        "args.cuda = True\n",
        "name = 'cuda'\n",
        "assert x, 'insufficient CUDA devices'\n",
        "'''cuda'''\n",
        "s = f'CUDA:{d} ({p.name})'\n",
        "logger.info('using cuda')\n",
        "x = os.path.join(root, 'cuda')\n",
        "import numba\n",
        "url = 'https://example.com/cuda'\n",
        "warnings.filterwarnings('ignore', message='device_type of \\'cuda\\', but CUDA')\n",
    ] {
        stays(source);
    }
}

#[test]
fn backends() {
    becomes("backend = 'nccl'\n", "backend = 'hccl'\n");
    becomes("dist.init_process_group('nccl')\n", "dist.init_process_group('hccl')\n");
    becomes(
        "dist.init_process_group(backend='cpu:gloo,cuda:nccl')\n",
        "dist.init_process_group(backend='cpu:gloo,npu:hccl')\n",
    );
    becomes("x = dist.get_backend() == 'nccl'\n", "x = dist.get_backend() == 'hccl'\n");
    becomes("x = 'nccl' if y else 'gloo'\n", "x = 'hccl' if y else 'gloo'\n");
    // An attribute of the class of backends, under each of its names.
    becomes(
        "dist.init_process_group(dist.Backend.NCCL)\n",
        "dist.init_process_group(dist.Backend.HCCL)\n",
    );
    becomes(
        "x = dist._backend == dist.dist_backend.NCCL\n",
        "x = dist._backend == dist.dist_backend.HCCL\n",
    );
    becomes(
        "from torch.distributed.distributed_c10d import dist_backend as kind\nx = kind.NCCL\n",
        "from torch.distributed.distributed_c10d import dist_backend as kind\nx = kind.HCCL\n",
    );
    stays("x = dist.dist_backend.GLOO\n");
}

#[test]
fn implicit_cuda_defaults_are_handled() {
    becomes("s = torch.amp.GradScaler()\n", "s = torch.amp.GradScaler(\"npu\")\n");
    becomes(
        "s = torch.amp.GradScaler(init_scale=2.0)\n",
        "s = torch.amp.GradScaler(\"npu\", init_scale=2.0)\n",
    );
    stays("s = torch.amp.GradScaler(**options)\n");
    becomes("torch.is_autocast_enabled()\n", "torch.npu.is_autocast_enabled()\n");
    becomes(
        "with torch.random.fork_rng():\n    pass\n",
        "with torch.random.fork_rng(device_type=\"npu\"):\n    pass\n",
    );
    becomes(
        "torch.cuda.amp.GradScaler(1., 2., .5, 200, False)\n",
        "torch.npu.amp.GradScaler(1., 2., .5, 200, enabled=False)\n",
    );
    assert_eq!(flags("import torch\nx = torch.load('a')\n"), [("load-default".to_owned(), 2)]);
    assert_eq!(
        flags("import torch.nn as nn\nm = nn.DataParallel(m)\n"),
        [("data-parallel".to_owned(), 2)]
    );
}

#[test]
fn variables_named_by_variables() {
    let head = "import os\n";
    let changes = [
        ("key, value = 'NCCL_SOCKET_IFNAME', 'eth0'\nos.environ[key] = value\n", "'HCCL_SOCKET"),
        ("KEY = 'CUDA_VISIBLE_DEVICES'\ndef f():\n    return os.getenv(KEY)\n", "'ASCEND_RT_"),
        ("for k in ('CUDA_VISIBLE_DEVICES', 'A'):\n    os.environ.pop(k, None)\n", "'ASCEND_RT_"),
        ("d = {'NCCL_SOCKET_IFNAME': 'eth0'}\nfor k in d:\n    os.environ[k] = d[k]\n", "'HCCL_S"),
    ];
    for (source, new) in changes {
        let after = converted(&format!("{head}{source}"));
        assert!(after.contains(new), "{source} became {after}");
    }
    // A key of another object is not a variable, unless the name is written at the place itself.
    let other = "key = 'CUDA_VISIBLE_DEVICES'\nlabels[key] = 'x'\n";
    assert_eq!(converted(other), other);
}

#[test]
fn environment() {
    becomes(
        "os.environ['CUDA_VISIBLE_DEVICES'] = '0, 1'\n",
        "os.environ['ASCEND_RT_VISIBLE_DEVICES'] = '0,1'\n",
    );
    becomes(
        "x = os.environ.get('CUDA_VISIBLE_DEVICES')\n",
        "x = os.environ.get('ASCEND_RT_VISIBLE_DEVICES')\n",
    );
    becomes(
        "os.environ.setdefault('NCCL_SOCKET_IFNAME', 'eth0')\n",
        "os.environ.setdefault('HCCL_SOCKET_IFNAME', 'eth0')\n",
    );
}

#[test]
fn shadowed_names_stay() {
    assert_eq!(
        converted("import numba.cuda\nnumba.cuda.jit()\n"),
        "import numba.cuda\nnumba.cuda.jit()\n"
    );
    assert_eq!(
        converted("def f(torch):\n    torch.cuda.x()\n"),
        "def f(torch):\n    torch.cuda.x()\n"
    );
}

#[test]
fn code_that_handles_npus_stays() {
    stays(
        "if d == 'cuda':\n    torch.cuda.empty_cache()\nelif d == 'npu':\n    torch.npu.empty_cache()\n",
    );
    stays("x = torch.cuda.is_available() or torch.npu.is_available()\n");
    stays("ok = d.type in ['cuda', 'npu']\n");
}

#[test]
fn the_argument_of_a_method_to_is_a_device() {
    becomes(
        "class M:\n    def to(self, target):\n        assert target == 'cuda'\n",
        "class M:\n    def to(self, target):\n        assert target == 'npu'\n",
    );
}

#[test]
fn keys_that_are_read_by_name_stay() {
    let states = "def states():\n    return {'cpu': torch.get_rng_state(), 'cuda': 1}\nx = states()['cuda']\n";
    becomes(states, states);
    becomes(
        "table = {'cpu': 0, 'cuda': 1}\nx = table[y.device.type]\n",
        "table = {'cpu': 0, 'npu': 1}\nx = table[y.device.type]\n",
    );
    becomes("f({'cpu': 0, 'cuda': 1})\n", "f({'cpu': 0, 'npu': 1})\n");
}

#[test]
fn keys_that_name_devices_of_a_checkpoint_stay() {
    for (before, after) in [
        (
            "torch.load(f, map_location={'cuda:%d' % 0: 'cuda:%d' % rank})\n",
            "torch.load(f, map_location={'cuda:%d' % 0: 'npu:%d' % rank})\n",
        ),
        (
            "torch.load(f, map_location={f'cuda:{0}': f'cuda:{rank}'})\n",
            "torch.load(f, map_location={f'cuda:{0}': f'npu:{rank}'})\n",
        ),
        (
            "torch.load(f, map_location={'cuda:{}'.format(0): 'cuda:{}'.format(rank)})\n",
            "torch.load(f, map_location={'cuda:{}'.format(0): 'npu:{}'.format(rank)})\n",
        ),
        (
            "torch.load(f, {'cuda:' + str(i): 'cuda:0' for i in range(8)})\n",
            "torch.load(f, {'cuda:' + str(i): 'npu:0' for i in range(8)})\n",
        ),
        (
            "where = {'cuda:0': 'cuda:1', 'cpu': 'cpu'}\ntorch.load(f, map_location=where)\n",
            "where = {'cuda:0': 'npu:1', 'cpu': 'cpu'}\ntorch.load(f, map_location=where)\n",
        ),
        (
            "def f(map_location={'cuda:0': 'cuda:1'}):\n    pass\n",
            "def f(map_location={'cuda:0': 'npu:1'}):\n    pass\n",
        ),
    ] {
        becomes(before, after);
        let flags = flags(&format!("import torch\n{before}"));
        assert_eq!(flags, [("map-location-dict".to_owned(), 2)], "{before}");
    }
    stays("memory = {'cuda:%d' % i: 1 for i in range(8)}\n");
    stays("x = memory['cuda:{}'.format(i)]\n");
    stays("print('cuda:{}'.format(i))\n");
}

#[test]
fn words_of_one_list_change_together() {
    stays("for name in ['cuda', 'nccl']:\n    find(name)\n");
    stays("extras = {'nccl', 'cudnn', 'cublas'}\n");
    becomes(
        "x = [('cuda', 'nccl'), ('cpu', 'gloo')]\n",
        "x = [('npu', 'hccl'), ('cpu', 'gloo')]\n",
    );
    becomes("x = ['cuda:0', 'cuda:1']\n", "x = ['npu:0', 'npu:1']\n");
    becomes(
        "for name in ['cuda', 'x']:\n    torch.device(name)\n",
        "for name in ['npu', 'x']:\n    torch.device(name)\n",
    );
}

#[test]
fn commands_in_strings_are_commands() {
    becomes(
        "os.system('CUDA_VISIBLE_DEVICES=0 python a.py --device cuda')\n",
        "os.system('ASCEND_RT_VISIBLE_DEVICES=0 python a.py --device npu')\n",
    );
    becomes(
        "c = f'env CUDA_VISIBLE_DEVICES={i} python a.py'\n",
        "c = f'env ASCEND_RT_VISIBLE_DEVICES={i} python a.py'\n",
    );
    stays("print('CUDA_VISIBLE_DEVICES=0 python a.py')\n");
    stays("x = 'python is not cuda'\n");
}

#[test]
fn comparisons_of_tests_are_comparisons() {
    becomes(
        "self.assertEqual(x.device.type, 'cuda')\n",
        "self.assertEqual(x.device.type, 'npu')\n",
    );
    stays("self.assertEqual(name, 'cuda')\n");
    stays("if get_accelerator().device_name() == 'cuda':\n    load()\n");
    let source = "if get_accelerator().device_name() == 'cuda':\n    load()\n";
    assert_eq!(flags(source), [("device-type-comparison".to_owned(), 1)]);
}

#[test]
fn options_and_parameters_of_tests_hold_devices() {
    becomes(
        "@click.option('--target', type=click.Choice(['cpu', 'cuda']), default='cuda')\ndef f(target): pass\n",
        "@click.option('--target', type=click.Choice(['cpu', 'npu']), default='npu')\ndef f(target): pass\n",
    );
    becomes(
        "@pytest.mark.parametrize('device', ['cuda'])\ndef f(device): pass\n",
        "@pytest.mark.parametrize('device', ['npu'])\ndef f(device): pass\n",
    );
    becomes(
        "@pytest.mark.parametrize('n,device', [(1, 'cuda')])\ndef f(n, device): pass\n",
        "@pytest.mark.parametrize('n,device', [(1, 'npu')])\ndef f(n, device): pass\n",
    );
    stays("@pytest.mark.parametrize('name', ['cuda'])\ndef f(name): pass\n");
}

#[test]
fn devices_of_other_frameworks_stay() {
    stays("import jax\nd = jax.devices('cuda')\n");
    stays("import xgboost as xgb\nxgb.train(device='cuda')\n");
}
