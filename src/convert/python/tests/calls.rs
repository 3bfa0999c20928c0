//! Calls: the meaning of an argument by the called function and by its position.

use super::{becomes, flags, stays};

const EXTENSION: &str = "extension-load-cu";

#[test]
fn messages_stay_at_any_depth() {
    becomes("x = take(label('cuda:0'))\n", "x = take(label('npu:0'))\n");
    for words in ["print", "logger.info", "log_step", "print_rank_0", "assertEqualText", "MyError"]
    {
        stays(&format!("{words}(label('cuda:0'))\n"));
    }
    for words in ["MyException", "MyWarning"] {
        stays(&format!("raise {words}('cuda:0')\n"));
    }
}

#[test]
fn extensions_with_kernels_are_flagged() {
    let flagged = |source: &str| {
        let head = "import torch\nfrom torch.utils.cpp_extension import load\n";
        let all = flags(&format!("{head}{source}"));
        all.iter().filter(|(rule, _)| rule == EXTENSION).count()
    };
    assert_eq!(flagged("a = MyExtension('a', ['a.cpp', 'a.cu'])\n"), 1);
    assert_eq!(flagged("a = MyExtension(\"a\", [\"a.cu\"])\n"), 1);
    assert_eq!(flagged("a = build('a', extra_cuda_cflags=['-O2'])\n"), 1);
    assert_eq!(flagged("a = MyExtension('a', ['a.cpp'])\n"), 0);
    assert_eq!(flagged("a = other('a', ['a.cu'])\n"), 0);
}

#[test]
fn the_method_of_tensors_has_its_arguments() {
    for arguments in ["", "0", "0, True", "device=1, non_blocking=True", "memory_format=f", "**kw"]
    {
        becomes(&format!("x.cuda({arguments})\n"), &format!("x.npu({arguments})\n"));
    }
    stays("x.cuda(0, True, f)\n");
    stays("x.cuda(stream=1)\n");
}

#[test]
fn a_class_with_a_method_cuda_of_its_own_keeps_it() {
    let own = "class A:\n    def cuda(self):\n        return self\n";
    stays(&format!("{own}    def f(self):\n        self.cuda()\n"));
    stays(&format!("{own}a = A()\na.cuda()\nA().cuda()\n"));
    let other = "class B:\n    def f(self):\n        self";
    becomes(&format!("{other}.cuda()\n"), &format!("{other}.npu()\n"));
    let other = "class B:\n    pass\nb = B()\n";
    becomes(&format!("{other}b.cuda()\nB().cuda()\n"), &format!("{other}b.npu()\nB().npu()\n"));
}

#[test]
fn variables_of_the_environment_stand_in_their_place() {
    for call in ["os.getenv", "os.environ.get", "os.environ.pop", "env.get", "monkeypatch.delenv"] {
        becomes(
            &format!("{call}('CUDA_VISIBLE_DEVICES', '0')\n"),
            &format!("{call}('ASCEND_RT_VISIBLE_DEVICES', '0')\n"),
        );
        stays(&format!("{call}('x', 'CUDA_VISIBLE_DEVICES')\n"));
    }
    stays("show('CUDA_VISIBLE_DEVICES')\n");
    becomes(
        "NAME = 'CUDA_VISIBLE_DEVICES'\nos.getenv(NAME)\n",
        "NAME = 'ASCEND_RT_VISIBLE_DEVICES'\nos.getenv(NAME)\n",
    );
    // A name that is looked up in an object other than the environment may be any key.
    stays("NAME = 'CUDA_VISIBLE_DEVICES'\nother.get(NAME)\n");
    stays("NAME = 'CUDA_VISIBLE_DEVICES'\nos.environ.get('x', NAME)\n");
}

#[test]
fn defaults_of_named_lookups_change() {
    for call in ["getattr(args, 'device', 'cuda')", "conf.get('device', 'cuda')"] {
        becomes(&format!("d = {call}\n"), &format!("d = {}\n", call.replace("cuda", "npu")));
    }
    stays("d = getattr(args, 'title', 'cuda rules')\n");
}

#[test]
fn map_location_of_checkpoints() {
    becomes(
        "torch.load('f', map_location=lambda s, l: s.cuda(1))\n",
        "torch.load('f', map_location=lambda s, l: s.npu(1))\n",
    );
    becomes("torch.load('f', {'cuda:0': 'cuda:1'})\n", "torch.load('f', {'cuda:0': 'npu:1'})\n");
    becomes("torch.load('f', 'cuda:1')\n", "torch.load('f', 'npu:1')\n");
}

#[test]
fn installers_take_packages() {
    let flagged = |source: &str| {
        flags(&format!("import torch\n{source}")).iter().map(|(rule, _)| rule.clone()).collect()
    };
    let pip: Vec<String> = flagged("run_pip('faiss-gpu')\n");
    assert_eq!(pip.len(), 1, "{pip:?}");
    assert_eq!(flagged("check_requirements('faiss-gpu')\n"), pip);
    assert_eq!(flagged("install('faiss-gpu')\n"), pip);
    assert_eq!(flagged("make_pipeline('faiss-gpu')\n"), Vec::<String>::new());
    assert_eq!(flagged("reinstalled('faiss-gpu')\n"), Vec::<String>::new());
}
