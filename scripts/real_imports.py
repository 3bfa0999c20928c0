#!/usr/bin/env python3
"""Compares `check` with real imports in broken installations of published packages.

    python3 scripts/real_imports.py CACHE [--program P] [--only TEXT] [--json FILE]

Installs torch, torch_npu, triton-ascend, vllm-ascend and MindSpore with pip (once: 1.7 GB, by name
and version from the configured index), breaks one thing at a time, and asks both the interpreter
(`import …` in a process of its own) and `check --sysroot` whether the import works. Needs CPython
3.11 on x86_64, gcc, binutils, and `target/debug/examples/make_fixture`.

CANN, the driver and CUDA are not on the index. Stub libraries stand for them: they have the names
that the wheels need and the symbols that the wheels leave undefined, and every function returns 0.
`import torch_npu` runs to its end with them. Both sides see the same stubs. The torch of the index
is a build for CUDA; its version reads 2.8.0+cpu here, as the requirement of torch_npu wants.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

TORCH = ["torch==2.8.0", "torch-npu==2.8.0.post2", "triton-ascend==3.2.0", "vllm-ascend==0.13.0"]
BESIDE_TORCH = """filelock typing-extensions sympy networkx jinja2 fsspec numpy<2 pyyaml pybind11
decorator attrs psutil cloudpickle ml_dtypes<0.6 scipy tornado absl-py pathlib2 protobuf requests
setuptools<81 packaging""".split()
MINDSPORE = ["mindspore==2.7.0"]
BESIDE_MINDSPORE = """asttokens astunparse dill numpy<2 packaging pillow protobuf psutil safetensors
scipy six decorator attrs cloudpickle ml_dtypes<0.6 tornado absl-py pathlib2 cffi pyyaml
sympy requests""".split()
SYSTEM = """libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1 libgcc_s.so.1
libstdc++.so.6 libz.so.1 libgomp.so.1""".split()
# Of the interpreter and the C library.
FOREIGN = re.compile(r"^(_?Py|_Z(N|NK)?St|__(?!cuda|nv)|GOMP|_ITM|_Unwind)")


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **more)


def pip(*args):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "--root-user-action=ignore", *args], check=True)


def install(cache, name, packages, beside):
    """The packages below one directory, as site-packages has them."""
    site = cache / name
    if not (site / ".complete").exists():
        shutil.rmtree(site, ignore_errors=True)
        pip("--target", str(site), *beside)
        pip("--target", str(site), "--no-deps", *packages)
        (site / ".complete").touch()
    return site


def objects(site):
    """Shared objects for x86-64: wheels of MindSpore also hold some that run on a device."""
    for path in sorted(site.rglob("*.so*")):
        if path.is_file() and not path.is_symlink():
            head = path.open("rb").read(20)
            if head[:4] == b"\x7fELF" and head[18:] == b"\x3e\0":
                yield path


def symbols(path):
    """Names that a library defines, and names that it leaves undefined, with their versions."""
    defined, undefined = set(), {}
    for line in run("nm", "-DP", str(path)).stdout.splitlines():
        name, kind = line.split()[:2]
        name, _, version = name.partition("@")
        if kind == "U":
            undefined[name] = version
        elif kind not in "wv":
            defined.add(name)
    return defined, undefined


# Loaded by name: torch_npu 2.7.1 does not import without it.
OPENED = {"libopapi.so"}


def stubs(site, into, system):
    """Writes stub libraries for what is needed and is not there."""
    into.mkdir(parents=True)
    have, needed = set(SYSTEM) | {"ld-linux-x86-64.so.2"}, set()
    defined, undefined, versions = set(), {}, {}
    for path in objects(site):
        dynamic = run("readelf", "-dW", str(path)).stdout
        have |= {path.name, *re.findall(r"SONAME.*\[(.*)\]", dynamic)}
        needed |= set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
        # Which versions come from which library.
        for file, rest in re.findall(r"File: (\S+)(.*?)(?=File: |\Z)",
                                     run("readelf", "-VW", str(path)).stdout, re.S):
            versions.setdefault(file, set()).update(re.findall(r"Name: (\S+)", rest))
        own, foreign = symbols(path)
        defined |= own
        undefined |= foreign
    for name in SYSTEM:
        defined |= symbols(system / name)[0]
    wanted = sorted(n for n in undefined.keys() - defined if not FOREIGN.match(n))
    source = into / "stub.s"
    plain = [name for name in wanted if name != "aclrtGetSocName"]
    lines = [f".globl {name}\n.type {name},@function\n{name}:" for name in plain]
    # vllm-ascend makes a string of this result while it is loaded.
    named = [".globl aclrtGetSocName", ".type aclrtGetSocName,@function", "aclrtGetSocName:",
             "lea soc(%rip),%rax", "ret", 'soc: .asciz "Ascend910B1"']
    source.write_text("\n".join([".text", *lines, "xor %eax,%eax", "ret", *named, ""]))
    gcc = ["gcc", "-shared", "-nostdlib", "-Wl,--no-as-needed"]
    script = into / "versions"
    for name in sorted((needed | OPENED) - have):
        # Each has all of them, so that a library that is removed takes something away.
        nodes = []
        for version in sorted(versions.get(name, ())):
            own = [f"{symbol};" for symbol in wanted if undefined[symbol] == version]
            nodes.append(f"{version} {{ " + (f"global: {' '.join(own)} " if own else "") + "};")
        script.write_text("\n".join(nodes))
        more = [f"-Wl,--version-script={script}"] if nodes else []
        command = [*gcc, "-o", into / name, source, f"-Wl,-soname,{name}", *more]
        subprocess.run(command, check=True)
    script.unlink()
    source.unlink()
    return sorted((needed | OPENED) - have), wanted


class Machine:
    """A tree of `make_fixture` with published packages in it."""

    def __init__(self, root, site, fixture, makes):
        self.root = root
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        subprocess.run([makes, fixture, root], check=True, stdout=subprocess.DEVNULL)
        (self.site,) = root.glob("root/venv/lib/python3*/site-packages")
        shutil.rmtree(self.site)
        subprocess.run(["cp", "-al", site, self.site], check=True)
        self.system = root / "usr/lib64"
        for name in [*SYSTEM, "ld-linux-x86-64.so.2"]:
            real = next(p for d in ("/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64")
                        if (p := Path(d) / name).exists())
            target = self.system / name
            target.unlink(missing_ok=True)
            shutil.copy(real.resolve(), target)
        self.env = json.loads((root / ".env.json").read_text())

    def cann(self):
        """The libraries of CANN, in either layout."""
        base = self.root / "usr/local/Ascend"
        (lib,) = [path for form in ("cann-*", "ascend-toolkit/[0-9]*")
                  for path in base.glob(f"{form}/x86_64-linux/lib64")]
        return lib

    def add_stubs(self):
        """CANN's libraries in CANN, those of CUDA and ATB beside them."""
        lib = self.cann()
        shutil.rmtree(lib)
        names, wanted = stubs(self.site, lib, self.system)
        (lib / "plugin").mkdir()
        driver = self.root / "usr/local/Ascend/driver/lib64"
        for path in lib.iterdir():
            known = any(path.name == p.name for p in driver.rglob("*.so*"))
            if known:
                path.unlink()
        self.lib = lib
        return names, wanted

    def imports(self, module, extra=None):
        """Whether the interpreter imports the module; the last line of its output."""
        here = lambda value: ":".join(  # noqa: E731
            f"{self.root}{part}" if part.startswith("/") else part for part in value.split(":"))
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.root / "root")}
        for name in ("LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "ATB_HOME_PATH",
                     "ASCEND_TOOLKIT_HOME", "ASCEND_AICPU_PATH"):
            if name in self.env:
                env[name] = here(self.env[name])
        env.update(extra or {})
        if module == "mindspore":
            # It loads its plug-in where it finds CANN, and does without it elsewhere.
            del env["LD_LIBRARY_PATH"]
        code = f"import sys; sys.path.append({str(self.site)!r}); import {module}"
        done = run(sys.executable, "-S", "-E", "-c", code, env=env, cwd="/", timeout=120)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        return done.returncode == 0, lines[-1][:200] if lines else ""

    def check(self, program, profile):
        done = run(program, "check", "--sysroot", str(self.root), "--json", "--profile", profile)
        report = json.loads(done.stdout)
        found = {}

        def walk(findings):
            for one in findings:
                if one["severity"] == "error":
                    found.setdefault(one["id"], one["title"]["en"])
                walk(one.get("consequences") or [])

        walk(report["findings"])
        return report["verdict"], found, report["headline"]


# --- what is broken --------------------------------------------------------------------------


def distributions(site, name):
    form = re.compile(re.escape(name).replace("\\-", "[-_.]") + r"-[0-9][^-]*\.dist-info", re.I)
    return [path for path in site.iterdir() if form.fullmatch(path.name)]


def remove_distribution(name):
    def act(machine):
        (info,) = distributions(machine.site, name)
        for row in (info / "RECORD").read_text().splitlines():
            path = machine.site / row.split(",")[0].strip('"')
            if not path.name.startswith("..") and path.is_file():
                path.unlink()
        shutil.rmtree(info, ignore_errors=True)
        for path in sorted(machine.site.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
                path.rmdir()
    return act


def replace_distribution(name, version):
    def act(machine):
        remove_distribution(name)(machine)
        pip("--target", str(machine.site), "--no-deps", f"{name}=={version}")
    return act


def cut(pattern, percent):
    """Keeps this part of a file; the copy breaks the hard link."""
    def act(machine):
        paths = [p for p in machine.root.glob(pattern) if p.is_file()]
        assert paths, pattern
        for path in paths:
            data = path.read_bytes()
            path.unlink()
            if percent is not None:
                path.write_bytes(data[: len(data) * percent // 100])
    return act


def rewrite(pattern, old, new):
    def act(machine):
        (path,) = machine.root.glob(pattern)
        text = path.read_text()
        assert old in text, pattern
        path.unlink()
        path.write_text(text.replace(old, new))
    return act


SITE = "root/venv/lib/python3.11/site-packages/"
CANN = "usr/local/Ascend/cann-*/x86_64-linux/lib64/"


def breakages():
    """Name, set of packages, imported module, profile, what is done."""
    for name in ("typing_extensions", "sympy", "mpmath", "filelock", "networkx", "jinja2", "fsspec",
                 "numpy", "pyyaml", "torch", "markupsafe", "packaging"):
        yield f"without {name}", "torch", "torch_npu", "import", remove_distribution(name)
    for name, version in (("typing_extensions", "4.0.1"), ("sympy", "1.9"), ("numpy", "2.2.6"),
                          ("filelock", "3.0.12"), ("fsspec", "0.8.5"), ("networkx", "2.5")):
        what = replace_distribution(name, version)
        yield f"{name} {version}", "torch", "torch_npu", "import", what
    for path in ("torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libtorch.so",
                 "torch/lib/libtorch_python.so", "torch/lib/libshm.so",
                 "torch/lib/libtorch_global_deps.so", "torch/_C.cpython-*.so",
                 "torch_npu/_C.cpython-*.so", "torch_npu/lib/libtorch_npu.so",
                 "torch_npu/lib/libop_plugin_atb.so"):
        for words, percent in (("half of", 50), ("no", None), ("empty", 0)):
            name = f"{words} {path}"
            yield name, "torch", "torch_npu", "import", cut(SITE + path, percent)
    for path in ("torch/version.py", "torch_npu/version.py", "torch/functional.py",
                 "torch_npu/npu/__init__.py", "torch_npu/utils/collect_env.py",
                 "torch/_tensor.py"):
        yield f"no {path}", "torch", "torch_npu", "import", cut(SITE + path, None)
        yield f"half of {path}", "torch", "torch_npu", "import", cut(SITE + path, 50)
    for name in ("libascendcl.so", "libhccl.so", "libge_runner.so", "libgraph.so",
                 "libacl_op_compiler.so", "libacl_tdt_channel.so"):
        for words, percent in (("half of", 50), ("no", None)):
            yield f"{words} {name}", "torch", "torch_npu", "import", cut(CANN + name, percent)
    for name in ("pybind11",):
        yield f"triton without {name}", "torch", "triton", "vllm", remove_distribution(name)
    for path in ("triton/_C/libtriton.so", "triton/backends/ascend/driver.py"):
        yield f"no {path}", "torch", "triton", "vllm", cut(SITE + path, None)
        yield f"half of {path}", "torch", "triton", "vllm", cut(SITE + path, 50)
    for path in ("vllm_ascend/vllm_ascend_C.*.so", "vllm_ascend/libvllm_ascend_kernels.so"):
        for words, percent in (("half of", 50), ("no", None)):
            module = "torch, torch_npu, vllm_ascend.vllm_ascend_C"
            yield f"{words} {path}", "torch", module, "vllm", cut(SITE + path, percent)
    for name in ("safetensors", "asttokens", "astunparse", "dill", "numpy", "packaging", "pillow",
                 "protobuf", "psutil", "scipy", "six"):
        yield f"without {name}", "mindspore", "mindspore", "mindspore", remove_distribution(name)
    for path in ("mindspore/lib/libmindspore_core.so", "mindspore/lib/libmindspore_frontend.so",
                 "mindspore/_c_expression.cpython-*.so", "mindspore/version.py",
                 "mindspore/common/tensor.py"):
        for words, percent in (("half of", 50), ("no", None)):
            name = f"{words} {path}"
            yield name, "mindspore", "mindspore", "mindspore", cut(SITE + path, percent)


def main():
    """Exits with 1 if the two disagree anywhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--program", default="target/debug/ascend-doctor")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    cache = args.cache.resolve()
    makes = Path("target/debug/examples/make_fixture").resolve()
    sites = {
        "torch": (install(cache, "torch", TORCH, BESIDE_TORCH), "ok-x86-850"),
        "mindspore": (install(cache, "mindspore", MINDSPORE, BESIDE_MINDSPORE), "ok-x86-mindspore"),
    }
    stubbed = cache / "stubs"
    shutil.rmtree(stubbed, ignore_errors=True)

    def machine(kind):
        site, fixture = sites[kind]
        new = Machine(cache / "machine", site, fixture, makes)
        kept = stubbed / kind
        if kind == "mindspore":
            pass
        elif kept.exists():
            lib = new.cann()
            shutil.rmtree(lib)
            shutil.copytree(kept, lib)
        else:
            new.add_stubs()
            shutil.copytree(new.lib, kept)
        if kind == "torch":
            rewrite(SITE + "torch/version.py", "2.8.0+cu128", "2.8.0+cpu")(new)
            rewrite(SITE + "torch/version.py", "'12.8'", "None")(new)
            (info,) = distributions(new.site, "torch")
            info.rename(info.with_name("torch-2.8.0+cpu.dist-info"))
            rewrite(SITE + "torch-2.8.0+cpu.dist-info/METADATA", "Version: 2.8.0\n",
                    "Version: 2.8.0+cpu\n")(new)
        return new

    baselines, rows = {}, []
    for name, kind, module, profile, act in breakages():
        if args.only not in f"{name}, {kind}":
            continue
        key = (kind, module, profile)
        if key not in baselines:
            whole = machine(kind)
            works, said = whole.imports(module)
            verdict, found, headline = whole.check(args.program, profile)
            print(f"whole: {module}, {profile}: imported {works} ({said}), {verdict}, {found}")
            assert works, said
            baselines[key] = found
        broken = machine(kind)
        act(broken)
        works, said = broken.imports(module)
        verdict, found, headline = broken.check(args.program, profile)
        new = {id: text for id, text in found.items() if baselines[key].get(id) != text}
        agree = works == (not new)
        rows.append({"name": name, "module": module, "profile": profile, "imports": works,
                     "said": said, "verdict": verdict, "errors": new, "agree": agree,
                     "headline": headline})
        mark = "  " if agree else "! "
        print(f"{mark}{name}: import {'works' if works else 'fails'} ({said}); check: {new}", flush=True)
    agreed = sum(row["agree"] for row in rows)
    print(f"{agreed} of {len(rows)} agree")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    return agreed != len(rows)


if __name__ == "__main__":
    sys.exit(main())
