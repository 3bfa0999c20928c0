//! torch, `torch_npu`, vLLM, triton, mooncake, `MindSpore` with the content of their wheels.

use super::cann;
use super::elf::{ElfBuilder, Machine};
use super::machine::Spec;
use super::python::{Dist, Python};
use super::tree::Tree;
use super::versions::{TORCH_NPU, VLLM_ASCEND, cxx11, find, numbers};

/// The symbol that identifies the C++ ABI of a torch.
fn check_fail(cxx11: bool) -> &'static str {
    if cxx11 {
        "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
    } else {
        "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"
    }
}

/// A function whose signature changes from release to release, so that replacing torch under a
/// `torch_npu` breaks it.
fn generation(torch: &str) -> String {
    let at = numbers(torch);
    let name = format!("fixture_{}_{}", at[0], at[1]);
    format!("_ZN2at4_ops{}{name}4callERKNS_6TensorE", name.len())
}

/// Whether the version is before `major.minor`.
fn before(version: &str, major: u32, minor: u32) -> bool {
    numbers(version)[..2] < [major, minor][..]
}

/// Platform tags of a wheel (`compat_torch_npu.json`).
pub fn platform(torch: &str, arch: &str) -> String {
    let old =
        before(torch, 2, 6) || (!before(torch, 2, 6) && before(torch, 2, 7) && arch == "x86_64");
    if old {
        format!("manylinux_2_17_{arch}.manylinux2014_{arch}")
    } else {
        format!("manylinux_2_28_{arch}")
    }
}

fn wheel_tags(python: &Python, torch: &str, arch: &str) -> Vec<String> {
    let tag = python.tag();
    platform(torch, arch).split('.').map(|platform| format!("{tag}-{tag}-{platform}")).collect()
}

/// torch of this version, which may carry a local part (`2.7.1+cpu`).
pub fn torch(arch: &str, python: &Python, version: &str) -> Dist {
    let plain = version.split('+').next().unwrap();
    let abi = cxx11(plain, arch);
    let machine = Machine::of(arch);
    let so = |name: &str| {
        ElfBuilder::new(machine)
            .soname(name)
            .rpath("$ORIGIN")
            .needed(["libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"])
            .require_versions("libc.so.6", ["GLIBC_2.17"])
            .require_versions("libstdc++.so.6", ["GLIBCXX_3.4", "GLIBCXX_3.4.19"])
    };
    // On aarch64, the wheel of the registry has `+cpu` only in version.py.
    let own = if version.contains('+') {
        version.to_owned()
    } else if arch == "aarch64" {
        format!("{plain}+cpu")
    } else {
        plain.to_owned()
    };
    let mut dist = Dist::new("torch", version)
        .file("torch/version.py", format!("from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']\n__version__ = '{own}'\ndebug = False\ncuda: Optional[str] = None\ngit_version = 'e2d141dbde55c2a4370fac5165b0561b6af4798b'\nhip: Optional[str] = None\nxpu: Optional[str] = None\n"))
        .file("torch/lib/libc10.so", so("libc10.so").define([check_fail(abi), "_ZN3c1010TensorImpl17decref_pyobjectsEv"]).build())
        .file(
            "torch/lib/libtorch_cpu.so",
            so("libtorch_cpu.so").needed(["libc10.so"]).define([generation(plain), "_ZN2at4_ops10add_Tensor4callERKNS_6TensorE".to_owned()]).build(),
        )
        .file("torch/lib/libtorch.so", so("libtorch.so").needed(["libtorch_cpu.so", "libc10.so"]).build())
        .file(
            "torch/lib/libtorch_python.so",
            so("libtorch_python.so").needed(["libtorch.so", "libtorch_cpu.so", "libc10.so"]).define(["THPVariableClass", "_Z15THPVariable_WrapN2at10TensorBaseE"]).undefined(["PyObject_Call"]).build(),
        )
        .file(&format!("torch/_C.{}.so", python.extension(arch)), so("_C.so").needed(["libtorch_python.so"]).build())
        .requires(["filelock", "typing-extensions>=4.8.0", "sympy>=1.13.1", "networkx", "jinja2", "fsspec"]);
    dist.tags = wheel_tags(python, plain, arch);
    dist.requires_python = Some(">=3.8.0".to_owned());
    dist
}

/// The requirements in the METADATA of a `torch_npu` wheel (`compat_abi.json`, measured).
fn torch_requirement(version: &str, torch: &str, arch: &str) -> Vec<String> {
    let x86 = arch == "x86_64" && (before(torch, 2, 9) || version == "2.9.0");
    let line = match (x86, before(torch, 2, 7)) {
        (true, true) => format!("torch (=={torch}+cpu)"),
        (true, false) => format!("torch=={torch}+cpu"),
        (false, true) => format!("torch =={torch}"),
        (false, false) => format!("torch=={torch}"),
    };
    vec![line]
}

/// A published `torch_npu`.
pub fn torch_npu(arch: &str, python: &Python, version: &str) -> Dist {
    let row = TORCH_NPU
        .iter()
        .find(|row| row.version == version)
        // A candidate has the content of its release.
        .or_else(|| {
            TORCH_NPU.iter().find(|row| {
                version.split_once("rc").is_some_and(|(release, _)| row.version == release)
            })
        })
        .unwrap_or_else(|| panic!("no row {version}"));
    let abi = cxx11(row.torch, arch);
    let oldest = row.cann.iter().min_by_key(|version| numbers(version)).unwrap();
    let symbols = cann::wanted(oldest);
    let machine = Machine::of(arch);
    let loader = super::host::loader(arch);
    let glibc =
        if platform(row.torch, arch).contains("2_28") { "GLIBC_2.28" } else { "GLIBC_2.17" };
    let glibcxx = if glibc == "GLIBC_2.28" { "GLIBCXX_3.4.22" } else { "GLIBCXX_3.4.19" };
    let so = |name: &str, rpath: &str| {
        ElfBuilder::new(machine)
            .soname(name)
            .rpath(rpath)
            .needed(["libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", loader])
            .require_versions("libc.so.6", ["GLIBC_2.17"])
            .require_versions("libstdc++.so.6", ["GLIBCXX_3.4", glibcxx])
    };
    let rpath = "$ORIGIN/lib/:$ORIGIN/:$ORIGIN/../../torch_npu.libs";
    let cann_libs =
        ["libhccl.so", "libascendcl.so", "libacl_op_compiler.so", "libge_runner.so", "libgraph.so"];
    let torch_libs = ["libtorch_python.so", "libtorch.so", "libtorch_cpu.so", "libc10.so"];
    let air = "$ORIGIN/:$ORIGIN/../../../../torch_npu.libs";
    let air_libs = [
        "libge_runner.so",
        "libfmk_parser.so",
        "libascendcl.so",
        "libacl_op_compiler.so",
        "libacl_tdt_channel.so",
        "libascend_protobuf.so",
        "libgraph.so",
    ];
    let core = "torch_npu/dynamo/torchair/core";
    let mut dist = Dist::new("torch_npu", version)
        .file(
            "torch_npu/version.py",
            format!("__version__ = '{version}'\ngit_version = '2f5a6b8'\n"),
        )
        .file("torch_npu/npu/__init__.py", "# npu\n")
        .file("torch_npu/acl.json", "{}\n")
        .file(
            &format!("torch_npu/_C.{}.so", python.extension(arch)),
            so("_C.so", "$ORIGIN/lib:$ORIGIN/../torch_npu.libs")
                .needed(["libtorch_npu.so", "libhccl.so"])
                .needed(torch_libs)
                .build(),
        )
        .file(
            "torch_npu/lib/libtorch_npu.so",
            so("libtorch_npu.so", rpath)
                .needed(cann_libs)
                .needed(["libtensorpipe.so", "libnpu_profiler.so"])
                .needed(torch_libs)
                .undefined(&symbols)
                .undefined(cann::HCCL)
                .undefined([check_fail(abi).to_owned(), generation(row.torch)])
                .undefined(["aclopCompileAndExecute", "THPVariableClass"])
                .undefined_weak(["__gmon_start__"])
                .undefined_versioned(
                    "memcpy",
                    "libc.so.6",
                    if arch == "aarch64" { "GLIBC_2.17" } else { "GLIBC_2.2.5" },
                )
                .define(["_ZN5c10_npu14current_deviceEv"])
                .pad(4096)
                .build(),
        )
        .file(
            "torch_npu/lib/libtensorpipe.so",
            so("libtensorpipe.so", rpath)
                .needed(cann_libs)
                .needed(["libacl_tdt_channel.so"])
                .require_versions("libc.so.6", [glibc])
                .build(),
        )
        .file(
            "torch_npu/lib/libnpu_profiler.so",
            so("libnpu_profiler.so", rpath).needed(["libtorch_cpu.so", "libc10.so"]).build(),
        )
        .file(
            &format!("{core}/_abi_compat_ge_apis.so"),
            so("_abi_compat_ge_apis.so", air).needed(air_libs).build(),
        )
        .file(
            &format!("{core}/_torchair.so"),
            so("_torchair.so", air)
                .needed([
                    "_abi_compat_ge_apis.so",
                    "libtorch.so",
                    "libtorch_python.so",
                    "libhccl.so",
                ])
                .needed(air_libs)
                .build(),
        )
        .file(
            &format!("{core}/_npu_graph_executor.so"),
            so("_npu_graph_executor.so", air)
                .needed(["_torchair.so", "libtorch.so", "libtorch_npu.so"])
                .needed(air_libs)
                .build(),
        );
    dist.entry_points =
        "[console_scripts]\ntorch_npu_run = torch_npu.distributed.run:_main\n".to_owned();
    if numbers(row.torch)[..2] >= [2, 5][..] {
        let mut atb: Vec<&str> = cann::ATB.to_vec();
        if numbers(oldest) >= numbers("8.1.RC1") {
            atb.push(cann::ATB_LATER);
        }
        dist = dist.file(
            "torch_npu/lib/libop_plugin_atb.so",
            so("libop_plugin_atb.so", rpath)
                .needed(["libtorch_npu.so", "libatb.so"])
                .needed(cann_libs)
                .needed(torch_libs)
                .undefined(atb)
                .build(),
        );
        dist.entry_points.push_str("\n[torch.backends]\ntorch_npu = torch_npu:_autoload\n");
    }
    dist.tags = wheel_tags(python, row.torch, arch);
    dist.requires(torch_requirement(version, row.torch, arch))
}

/// The torch of a machine with this `torch_npu`: on x86_64 the CPU build.
pub fn torch_for(version: &str, arch: &str) -> String {
    let torch = find(TORCH_NPU, version, |row| row.version).torch;
    if arch == "x86_64" { format!("{torch}+cpu") } else { torch.to_owned() }
}

/// vLLM, vllm-ascend and their dependencies.
pub fn vllm(tree: &mut Tree, spec: &Spec, python: &Python, version: &str) {
    let row = find(VLLM_ASCEND, version, |row| row.version);
    let arch = spec.arch.as_str();
    // Built with `VLLM_TARGET_DEVICE=empty`, as in the images.
    let vllm_version = format!("{}+empty", row.vllm);
    let mut vllm = Dist::new("vllm", &vllm_version)
        .file("vllm/_version.py", format!("__version__ = version = '{vllm_version}'\n"))
        .file("vllm/platforms/__init__.py", "")
        .requires([
            format!("torch=={}", row.vllm_torch),
            "numpy".to_owned(),
            "transformers>=4.50".to_owned(),
        ]);
    vllm.entry_points = "[console_scripts]\nvllm = vllm.entrypoints.cli.main:main\n\n[vllm.general_plugins]\nlora_filesystem_resolver = vllm.plugins.lora_resolvers.filesystem_resolver:register_filesystem_resolver\n".to_owned();
    vllm.write(tree, &python.site);
    let chip = super::versions::CHIPS.iter().find(|chip| chip.name == spec.chip).unwrap();
    let machine = Machine::of(arch);
    let mut plugin = Dist::new("vllm_ascend", row.version)
        .file("vllm_ascend/_version.py", format!("__version__ = version = '{}'\n", row.version))
        .file(
            "vllm_ascend/_build_info.py",
            if before(row.vllm, 0, 12) {
                let soc = match spec.chip.as_str() { "a3" => "ASCEND910_9391", "310p" => "ASCEND310P3", _ => "ASCEND910B1" };
                format!("# Auto-generated file\n__soc_version__ = '{soc}'\n__sleep_mode_enabled__ = True\n")
            } else {
                format!("# Auto-generated file\n__device_type__ = '{}'\n", chip.vllm.unwrap())
            },
        )
        .file(
            &format!("vllm_ascend/vllm_ascend_C.{}.so", python.extension(arch)),
            ElfBuilder::new(machine)
                .soname("vllm_ascend_C.so")
                .rpath("$ORIGIN:$ORIGIN/lib")
                .needed(["libtorch_npu.so", "libtorch.so", "libc10.so", "libascendcl.so", "libvllm_ascend_kernels.so", "libstdc++.so.6", "libc.so.6"])
                .undefined(["aclrtGetDeviceCount", "_ZN5c10_npu14current_deviceEv"])
                .build(),
        )
        .file("vllm_ascend/libvllm_ascend_kernels.so", ElfBuilder::new(machine).soname("libvllm_ascend_kernels.so").needed(["libascendcl.so", "libc.so.6"]).define(["rotary_embedding_impl"]).build())
        .requires(row.requires);
    plugin.entry_points = "[vllm.general_plugins]\nascend_enhanced_model = vllm_ascend:register_model\n\n[vllm.platform_plugins]\nascend = vllm_ascend:register\n".to_owned();
    plugin.tags = wheel_tags(python, "2.9.0", arch);
    plugin.write(tree, &python.site);
    for (name, version) in row.packages {
        Dist::new(name, version).write(tree, &python.site);
    }
    serving_imports(tree, python, row.vllm, &[]);
    if let Some(triton) = row.triton {
        Dist { bare: true, ..Dist::new("pybind11", "2.13.6") }.write(tree, &python.site);
        triton_ascend(python, arch, triton).write(tree, &python.site);
    }
}

/// Adds the packages that vllm or sglang imports at the start, unless they already exist or are in
/// `later`. The versions are those of the vllm-ascend for this vllm, if there is one.
pub fn serving_imports(tree: &mut Tree, python: &Python, version: &str, later: &[&str]) {
    let known = |name: &str, tree: &Tree| {
        let metadata = format!("{}/", python.site);
        let mut infos = tree.entries.keys().filter_map(|path| path.strip_prefix(&metadata));
        infos.any(|path| {
            let found = path.split_once(".dist-info/METADATA").and_then(|(dir, _)| {
                Some(dir.rsplit_once('-')?.0.to_lowercase().replace('_', "-"))
            });
            found.is_some_and(|found| found == name)
        })
    };
    let base = version.split('+').next().unwrap_or_default();
    let pins = VLLM_ASCEND.iter().find(|row| row.vllm == base).map_or(&[][..], |row| row.packages);
    for &(name, version) in super::versions::SERVING_IMPORTS {
        if !later.contains(&name) && !known(name, tree) {
            let pinned = pins.iter().find(|(pinned, _)| *pinned == name);
            let version = pinned.map_or(version, |(_, version)| version);
            Dist { bare: true, ..Dist::new(name, version) }.write(tree, &python.site);
        }
    }
}

/// sglang with the kernels and the Triton that it needs on an NPU.
pub fn sglang(tree: &mut Tree, spec: &Spec, python: &Python, version: &str) {
    let arch = spec.arch.as_str();
    Dist::new("sglang", version)
        .requires([
            "numpy",
            "requests",
            "einops; extra == \"runtime-common\"",
            "sglang[runtime_common]; extra == \"srt-npu\"",
        ])
        .write(tree, &python.site);
    let mut kernels = Dist::new("sgl_kernel_npu", "2025.11.1").file(
        "sgl_kernel_npu/lib/libsgl_kernel_npu.so",
        ElfBuilder::new(Machine::of(arch))
            .soname("libsgl_kernel_npu.so")
            .needed(["libtorch_npu.so", "libtorch.so", "libc10.so", "libascendcl.so", "libc.so.6"])
            .undefined(["aclrtGetDeviceCount"])
            .build(),
    );
    kernels.tags = wheel_tags(python, "2.9.0", arch);
    kernels.write(tree, &python.site);
    serving_imports(tree, python, "", &[]);
    Dist { bare: true, ..Dist::new("pybind11", "2.13.6") }.write(tree, &python.site);
    triton_ascend(python, arch, "3.2.0").write(tree, &python.site);
}

/// triton-ascend, which owns `triton/`.
pub fn triton_ascend(python: &Python, arch: &str, version: &str) -> Dist {
    let mut dist = Dist::new("triton_ascend", version)
        .file("triton/__init__.py", "\"\"\"isort:skip_file\"\"\"\n__version__ = '3.2.0'\n")
        .file("triton/compiler/compiler.py", "# ascend\n")
        .file("triton/runtime/driver.py", "# ascend\n")
        .file("triton/backends/__init__.py", "# ascend\n")
        .file("triton/backends/ascend/__init__.py", "")
        .file("triton/backends/ascend/driver.py", "class NPUDriver: ...\n")
        .file(&format!("triton/_C/libtriton.{}.so", python.extension(arch)), "ascend libtriton");
    dist.files.retain(|(path, _)| path.starts_with("triton/"));
    dist.tags = wheel_tags(python, "2.9.0", arch);
    dist
}

/// The upstream triton, which also owns `triton/`.
pub fn triton(python: &Python, arch: &str, version: &str) -> Dist {
    let mut dist = Dist::new("triton", version)
        .file("triton/compiler/compiler.py", "# upstream\n")
        .file("triton/runtime/driver.py", "# upstream, other\n")
        .file("triton/backends/__init__.py", "# upstream backends\n")
        .file("triton/backends/nvidia/driver.py", "class CudaDriver: ...\n")
        .file(&format!("triton/_C/libtriton.{}.so", python.extension(arch)), "upstream libtriton");
    dist.tags = wheel_tags(python, "2.9.0", arch);
    dist
}

/// MindSpore with the plug-ins for several CANN releases.
pub fn mindspore(tree: &mut Tree, spec: &Spec, python: &Python, version: &str) {
    let machine = Machine::of(&spec.arch);
    let mut dist = Dist::new("mindspore", version)
        .file("mindspore/version.py", format!("__version__ = '{version}'\n"))
        .file(
            "mindspore/lib/libmindspore_core.so",
            ElfBuilder::new(machine).soname("libmindspore_core.so").needed(["libc.so.6"]).build(),
        )
        .requires(["numpy<2.0.0,>=1.20.0", "protobuf>=3.13.0"]);
    for major in ["1", "2"] {
        let object =
            ElfBuilder::new(machine).soname("libmindspore_ascend.so").rpath("$ORIGIN:$ORIGIN/..");
        dist = dist.file(
            &format!("mindspore/lib/plugin/libmindspore_ascend.so.{major}"),
            object
                .needed(["libascendcl.so", "libhccl.so", "libge_runner.so", "libc.so.6"])
                .pad(4096)
                .build(),
        );
    }
    dist.tags = vec![format!("{}-none-any", python.tag())];
    dist.write(tree, &python.site);
    // Packages that pip installs with it.
    for (name, version) in [
        ("asttokens", "2.4.1"),
        ("astunparse", "1.6.3"),
        ("dill", "0.3.9"),
        ("packaging", "24.2"),
        ("pillow", "11.1.0"),
        ("safetensors", "0.5.2"),
    ] {
        Dist { bare: true, ..Dist::new(name, version) }.write(tree, &python.site);
    }
}
