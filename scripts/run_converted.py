#!/usr/bin/env python3
"""Converts scripts, and runs them: on a device `npu` that is made of the CPU.

    cargo build
    python scripts/run_converted.py --fake-npu DIR [--cache DIR] [--only NAME …] [--keep]

The cases stand in tests/fixtures/convert/run/cases.toml. For each of them

1. the script as it is runs on the machine with the fake device: it has to fail there for want of
   CUDA, or to use the CPU only. A case whose script runs on the device unconverted shows that
   nothing breaks, and has to say so.
2. `ascend-doctor convert -r DIR -l FILE` converts a copy; a second run must change nothing.
3. the converted one runs. It has to come to its end, to have computed on the device (the device
   counts the operators that reached it), and, where the case says so, to the very result of
   the unconverted script on the CPU.

A library without support for NPUs cannot get that far. Its case names the rules that `convert` has to
report (`flagged`) and the error of the converted script (`error`).

The environment is built once and kept in the cache directory: torch with the packages that it
needs (7 GB), and a build of the fake device (--fake-npu: the directory with its build.sh). Packages
that are converted are fetched by name and version from the package registry; nothing of them
is kept in the project. Exit status: 1 if a case failed, 2 if the environment could not be made.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CASES = PROJECT / "tests/fixtures/convert/run"
SPARE = 8 << 30
NEEDS = [
    ["torch==2.7.1", "torchvision==0.22.1", "numpy==1.26.4"],
    # For the packages of the cases; those themselves are never installed, they run from the tree
    # that is converted.
    ["numpy==1.26.4", "opencv-python-headless<4.12", "pandas", "matplotlib", "scipy", "seaborn"]
    + ["tqdm", "pyyaml", "requests", "psutil", "gitpython", "tensorboard", "setuptools<81"]
    + ["huggingface-hub<1.0", "safetensors", "tokenizers<0.22", "regex", "packaging", "py-cpuinfo", "einops"],
    ["--no-deps", "thop", "ultralytics==8.3.160"],
    # Libraries of the cases whose own script is converted: these are installed, as a user has them.
    ["torch==2.7.1", "numpy==1.26.4", "setuptools<81", "huggingface-hub<1.0"]
    + ["lightning==2.5.2", "pytorch-lightning==2.5.2", "mmengine==0.10.7", "accelerate==1.8.1", "deepspeed==0.17.2"]
    + ["transformers==4.53.2", "timm==1.0.19", "diffusers==0.34.0", "peft==0.16.0"],
]
# Where the fake device is not as torch_npu: file, what it has, what torch_npu has.
AMENDED = [
    # torch_npu/npu/utils.py names the parameter as torch does; timm gives it by name.
    (
        "torch_npu/npu/__init__.py",
        "def stream(s): return StreamContext(s)",
        "def stream(stream): return StreamContext(stream)",
    ),
    # torch_npu registers this operator, so that Module.to() keeps the parameter objects. Without it an
    # optimizer that was created before the model moved, as by accelerate, updates the old parameters.
    (
        "torch_npu/csrc/fake_npu.cpp",
        "// ---- autocast",
        """bool dense(const at::Tensor& t) { return !t.is_sparse() && !t.is_sparse_csr(); }
bool compatible(const at::Tensor& a, const at::Tensor& b) { return dense(a) && dense(b); }
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("_has_compatible_shallow_copy_type", compatible); }
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) { m.impl("_has_compatible_shallow_copy_type", compatible); }
// ---- autocast""",
    ),
]
# Modules of torch_npu that the fake device does not have. MMEngine imports this one, and then asks for the chip.
ADDED = {"torch_npu/npu/utils.py": "def get_soc_version(): return 220\n"}
# Read by every interpreter of a run: tells how many operators the fake device has seen.
WITNESS = """
import atexit, os, sys
def _tell():
    npu = sys.modules.get("torch_npu")
    ops = len(npu._C.fallback_ops()) if npu is not None and hasattr(npu, "_C") else 0
    with open(os.path.join(os.environ["WITNESS"], str(os.getpid())), "w") as out:
        out.write(str(ops))
if "WITNESS" in os.environ:
    atexit.register(_tell)
"""


class Unready(Exception):
    """The environment cannot be made; the message says why."""


@dataclass
class Case:
    """One script; what it is run with stands in cases.toml."""

    name: str
    # What is run: the arguments of the interpreter, or of torchrun if there are processes, or of
    # bash if it is a shell script.
    run: list[str]
    what: str = ""
    # Directory below the fixtures that is copied; by default the one of the same name.
    source: str = ""
    # Launch files, for `-l`; by default the first of `run`.
    launch: list[str] = field(default_factory=list)
    # Package of the registry, `name==version`, that is unpacked beside; and what it needs.
    package: str = ""
    also: list[str] = field(default_factory=list)
    # Python script that makes the data, before.
    prepare: list[str] = field(default_factory=list)
    # Number of processes under torchrun; 0: the script is started by itself.
    processes: int = 0
    # What makes the unconverted script run on the CPU; nothing, if it does so by itself.
    reference: list[str] = field(default_factory=list)
    # `equal`: the lines RESULT are those of the reference; `close`: their numbers are within 1e-4;
    # `ends`: it comes to its end.
    compare: str = "equal"
    env: dict[str, str] = field(default_factory=dict)
    # Rules that have to report a place of the tree for manual work.
    flagged: list[str] = field(default_factory=list)
    # Text of the error that ends the converted script, where its library does not support NPUs.
    error: str = ""
    # What the unconverted script does: `fails`, `cpu` (it takes the CPU instead), or `npu` (it knows
    # NPUs itself; the conversion must not change its result).
    unconverted: str = "fails"
    seconds: int = 300

    def packages(self):
        """What is unpacked into the tree."""
        return [self.package, *self.also] if self.package else []


@dataclass
class Ran:
    """What came of one command."""

    status: int
    seconds: float
    output: str
    operators: int

    def result(self):
        """What a script printed as its results, in order."""
        return [json.loads(line) for line in re.findall(r"^RESULT (\{.*\})$", self.output, re.MULTILINE)]

    def last_words(self):
        """The last line that names an error, but for that of torchrun; else the last line."""
        lines = [re.sub(r"^\[rank\d+\]: ", "", line.strip()) for line in self.output.splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b(?<!ChildFailedError)", line)]
        return (errors or lines or ["no output"])[-1][:100]


class Machine:
    """The environment in the cache directory."""

    def __init__(self, cache, fake):
        self.cache, self.fake = cache, fake
        self.python = cache / "venv/bin/python"
        self.modules = cache / "fake_npu"

    def make(self):
        """Builds what is not there yet."""
        if not (self.fake / "build.sh").is_file():
            raise Unready(f"no fake device in {self.fake}: give its directory with --fake-npu")
        complete, needs_now = self.cache / "venv.complete", json.dumps(NEEDS)
        if not complete.exists() or complete.read_text() != needs_now:
            # The wheels are unpacked beside what is downloaded.
            free = shutil.disk_usage(self.cache).free
            takes = 1 if complete.exists() else 8
            if free < SPARE + (takes << 30):
                raise Unready(f"{free >> 30} GB free in {self.cache}; the environment takes {takes} and leaves 8")
            if not self.python.exists():
                self.must([sys.executable, "-m", "venv", self.cache / "venv"])
            for needs in NEEDS:
                self.must([self.python, "-m", "pip", "install", "--quiet", "--no-cache-dir", *needs])
            complete.write_text(needs_now)
        complete, amended = self.modules / "complete", json.dumps([AMENDED, ADDED])
        if not complete.exists() or complete.read_text() != amended:
            shutil.rmtree(self.modules, ignore_errors=True)
            shutil.copytree(self.fake, self.modules)
            for path, has, should in AMENDED:
                file = self.modules / path
                file.write_text(file.read_text().replace(has, should))
            for path, text in ADDED.items():
                (self.modules / path).write_text(text)
            self.must(["bash", self.modules / "build.sh"], PY=str(self.python))
            (self.modules / "sitecustomize.py").write_text(WITNESS)
            complete.write_text(amended)

    def must(self, command, **env):
        """Runs a step of the building."""
        try:
            subprocess.run([str(part) for part in command], check=True, env=os.environ | env)
        except (subprocess.CalledProcessError, OSError) as problem:
            raise Unready(f"{problem}") from problem

    def package(self, named):
        """The wheel of a package, fetched once."""
        at = self.cache / "packages" / named
        if not list(at.glob("*.whl")):
            at.mkdir(parents=True, exist_ok=True)
            pip = [self.python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
            self.must([*pip, "--only-binary=:all:", "-d", at, named])
        return next(at.glob("*.whl"))

    def versions(self):
        """What the table was made with."""
        code = "import sys, torch, numpy; print(sys.version.split()[0], torch.__version__, numpy.__version__)"
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True)
        return "Python {}, torch {}, numpy {}".format(*done.stdout.split())

    def run(self, case, tree, arguments):
        """Runs the script of a case in a tree, on the machine with two fake devices."""
        with tempfile.TemporaryDirectory() as witness:
            env = {
                key: value
                for key, value in os.environ.items()
                if not key.startswith(("CUDA", "NCCL", "ASCEND", "HCCL", "TORCH", "PYTHON"))
            }
            env |= {
                "PATH": f"{self.python.parent}:{env.get('PATH', '')}",
                "PYTHONPATH": str(self.modules),
                "PYTHONDONTWRITEBYTECODE": "1",
                "FAKE_NPU_COUNT": "2",
                # DeepSpeed looks for CANN when it is imported; accelerate and MMEngine import it.
                "ASCEND_HOME_PATH": str(self.modules),
                "WITNESS": witness,
                "OMP_NUM_THREADS": "1",
                "HF_HUB_OFFLINE": "1",
                **case.env,
            }
            command = [self.python]
            if case.run[0].endswith(".sh"):
                command = ["bash"]
            elif case.processes:
                command += ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={case.processes}"]
            status, seconds, output = bounded([*command, *arguments], tree, env, case.seconds)
            seen = [int(one.read_text() or 0) for one in Path(witness).iterdir()]
        return Ran(status, seconds, output, max(seen, default=0))


def bounded(command, tree, env, seconds):
    """Runs a command with what it starts, and ends all of it when the time is over."""
    begin = time.perf_counter()
    child = subprocess.Popen(
        [str(part) for part in command], cwd=tree, env=env, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output, _ = child.communicate()
        output += f"\nTimeoutError: not ended after {seconds} s\n"
    return child.returncode, time.perf_counter() - begin, output


def lay(case, machine, tree):
    """Puts the sources of a case into a directory."""
    shutil.copytree(CASES / (case.source or case.name), tree)
    for named in case.packages():
        with zipfile.ZipFile(machine.package(named)) as wheel:
            wheel.extractall(tree)
    if case.prepare:
        subprocess.run([machine.python, *case.prepare], cwd=tree, check=True, stdout=subprocess.DEVNULL)


def convert(doctor, case, tree):
    """Converts a tree; an error message, or None."""
    command = [doctor, "convert", "--json", "-r", tree]
    for launch in case.launch or case.run[:1]:
        command += ["-l", tree / launch] if launch.endswith(".py") else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # 1: there are places that need manual work; 3: mentions of CUDA without an explanation.
    if done.returncode not in (0, 1, 3):
        return f"convert: exit status {done.returncode}: {done.stderr.strip()[-300:]}"
    reported = {place["rule"] for file in json.loads(done.stdout)["files"] for place in file["flagged"]}
    missing = set(case.flagged) - reported
    if missing:
        return f"convert: does not report {', '.join(sorted(missing))}"
    again = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False)
    if again.returncode not in (0, 1, 3):
        return f"convert --check: exit status {again.returncode}: {again.stderr.strip()[-300:]}"
    # Not the exit status: it is 1 for manual work too.
    report = json.loads(again.stdout)
    if report["counts"]["changes"]:
        again = [f"{file['path']}: {change}" for file in report["files"] for change in file["changed"]]
        return f"convert: a second run would change the tree: {again[:3]}"
    return None


def alike(result, expected, compare):
    """Whether a result is the expected one."""
    if compare == "equal":
        return result == expected
    if isinstance(expected, dict):
        return result.keys() == expected.keys() and all(alike(result[k], v, compare) for k, v in expected.items())
    if isinstance(expected, list):
        return len(result) == len(expected) and all(alike(a, b, compare) for a, b in zip(result, expected))
    if isinstance(expected, float):
        return abs(result - expected) <= 1e-4 * max(1.0, abs(expected))
    return result == expected


def judge(case, machine, doctor, work):
    """(unconverted, converted, seconds, problems) of one case."""
    problems = []
    before, after = work / "before" / case.name, work / "after" / case.name
    lay(case, machine, before)
    lay(case, machine, after)

    plain = machine.run(case, before, case.run)
    if plain.status != 0:
        found, unconverted = "fails", f"fails: {plain.last_words()}"
        if not re.search("NVIDIA|CUDA|GPU|NCCL", plain.last_words(), re.IGNORECASE):
            problems.append("the unconverted script failed for another reason than CUDA")
    elif plain.operators:
        found, unconverted = "npu", f"runs, {plain.operators} operators on npu: knows NPUs itself"
    else:
        found, unconverted = "cpu", "runs on the CPU"
    if found != case.unconverted:
        problems.append(f"the unconverted script: {found}, expected: {case.unconverted}")

    problem = convert(doctor, case, after)
    if problem:
        return unconverted, "not converted", 0.0, [*problems, problem]
    ran = machine.run(case, after, case.run)
    (work / f"{case.name}.log").write_text(ran.output)
    if case.error:
        fails = f"fails: {ran.last_words()}" if ran.status != 0 else "runs"
        if ran.status == 0 or case.error not in ran.last_words():
            problems.append(f"the converted script: {fails}, expected: {case.error}")
        return unconverted, f"{fails}; reported: {', '.join(case.flagged)}", ran.seconds, problems
    if ran.status != 0:
        return unconverted, f"FAILS: {ran.last_words()}", ran.seconds, [*problems, ran.output[-3000:]]
    converted = f"runs, {ran.operators} operators on npu"
    if not ran.operators:
        problems.append("the converted script did not use the device")
    if case.compare != "ends":
        lay(case, machine, work / "cpu" / case.name)
        reference = plain
        if case.reference:
            reference = machine.run(case, work / "cpu" / case.name, case.reference)
        expected, result = reference.result(), ran.result()
        if reference.status != 0 or (reference.operators and case.unconverted != "npu") or not expected:
            problems.append(f"no reference: {reference.last_words()}")
        elif not alike(result, expected, case.compare):
            converted += ", OTHER RESULT"
            problems.append(f"result {result}, expected {expected}")
        else:
            of = "that before" if found == "npu" else "the CPU's"
            converted += f", result equal to {of}" if case.compare == "equal" else f", result within 1e-4 of {of}"
    return unconverted, converted, ran.seconds, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--doctor", type=Path, default=PROJECT / "target/debug/ascend-doctor")
    parser.add_argument("--fake-npu", type=Path, default=PROJECT.parent / "shared/tools/fake_npu", metavar="DIR")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "run_converted")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these cases")
    parser.add_argument("--keep", action="store_true", help="keep the trees, and say where")
    options = parser.parse_args()

    cases = [Case(**case) for case in tomllib.loads((CASES / "cases.toml").read_text())["case"]]
    if options.only:
        unknown = set(options.only) - {case.name for case in cases}
        if unknown:
            parser.error(f"no such case: {', '.join(sorted(unknown))}")
        cases = [case for case in cases if case.name in options.only]
    options.cache.mkdir(parents=True, exist_ok=True)
    machine = Machine(options.cache.resolve(), options.fake_npu.resolve())
    try:
        machine.make()
        for case in cases:
            for named in case.packages():
                machine.package(named)
    except Unready as problem:
        print(f"not run: {problem}", file=sys.stderr)
        return 2

    doctor = options.doctor.resolve()
    if not doctor.is_file():
        print(f"not run: no binary {doctor}: build it, or give it with --doctor", file=sys.stderr)
        return 2
    print(f"{machine.versions()}\n", flush=True)
    print("| case | what | unconverted | converted | seconds |\n|---|---|---|---|---:|", flush=True)
    failed = {}
    work = Path(tempfile.mkdtemp(prefix="converted-"))
    try:
        for case in cases:
            unconverted, converted, seconds, problems = judge(case, machine, doctor, work)
            cells = [case.name, case.what, unconverted, converted, f"{seconds:.1f}"]
            print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |", flush=True)
            if problems:
                failed[case.name] = problems
    finally:
        if options.keep:
            print(f"\nkept: {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    for name, problems in failed.items():
        print(f"\n{name}:\n" + "\n".join(problems))
    print(f"\n{len(cases) - len(failed)} of {len(cases)} cases hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
