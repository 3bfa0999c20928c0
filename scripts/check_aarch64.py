#!/usr/bin/env python3
"""Runs the aarch64 program in qemu, and compares it with the program of this machine.

Every subcommand runs on the same files, among them trees of machines with Ubuntu, openEuler and
Kylin, with pages of 4 KiB and of 64 KiB. Exit status, standard output, standard error and written
files have to be equal. `verify` measures times and names the own architecture: only these may
differ.

The program is linked statically: `qemu -L`, which finds shared libraries, also opens their directory
in the place of `/`. `verify` starts itself again, for which the kernel has to know qemu
(binfmt_misc): the script registers it in namespaces of its own. Where that is refused, `verify` is
left out, and a line says so.

    python3 scripts/check_aarch64.py [--native FILE] [--fixture FILE] [--foreign FILE]

Without --foreign, builds the program with the profile `emulated`, for which rustup adds the
standard library. Needs on Debian: qemu-user, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross.
On an aarch64 machine it compares nothing.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import validate_formats

PROJECT = Path(__file__).resolve().parent.parent
TRIPLE = "aarch64-unknown-linux-gnu"
PAGES = (4096, 65536)
# Set where the script runs in its own namespaces.
STARTED = "CHECK_AARCH64_IN_NAMESPACE"
# Healthy and broken machines of the three systems, all of them aarch64.
MACHINES = {
    "ubuntu": "ok-host-910b",
    "openeuler": "ok-container-a3-851",
    "kylin": "ok-host-kylin",
    "closed": "f09-not-in-group",
    "mixed": "f19-mixed-cann",
}
# Every subcommand. `{out}` is a directory of its own for each run.
COMMANDS = [
    *(f"check --sysroot {machine} --format json" for machine in MACHINES),
    "check --sysroot ubuntu --format text --verbose --lang zh",
    "check --sysroot kylin --query host,verdict,driver,npu.index --format csv",
    "check --sysroot openeuler --facts-only",
    "check --sysroot ubuntu --record {out}/recording --format json",
    "compat --sysroot kylin --torch 2.7.1 --format json",
    "translate-error 507035 EI0006 -8005 no-such-code --format json",
    "translate-error oom.log quiet.log --format json",
    "triage oom.log quiet.log --format json",
    "convert x.py hostile.py --diff",
    "convert x.py --output-dir {out}/converted --format json",
    "audit-ops x.py ops.txt --torch-npu 2.7.1 --soc Ascend910B3 --format json",
    "verify --format json",
    "explain 507035 SCAN-READ CV0017 --format json",
    "manifest create wheel",
    "manifest wheel-check wheels --format json",
    "fleet merge reports --format json",
    "report reports/a.json codes.json",
    "bundle --sysroot ubuntu --add oom.log -o {out}/bundle.tgz --format json",
    "data status --format json",
    "completions bash",
    "man check",
    "install {out}/tools --from x.py",
]
# A fixed time, so that ages and ends are equal.
VARIABLES = {"ASCEND_DOCTOR_NOW": "1795000000", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "TZ": "UTC"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    parser.add_argument("--native", type=Path, default=target / "release/ascend-doctor")
    parser.add_argument("--fixture", type=Path, default=target / "debug/examples/make_fixture")
    parser.add_argument("--foreign", type=Path, help="the aarch64 program, if it is built")
    args = parser.parse_args()
    if platform.machine() == "aarch64":
        print("not run: this is an aarch64 machine, and its tests are those of the program")
        return 0
    emulator = next((path for path in map(shutil.which, ("qemu-aarch64", "qemu-aarch64-static")) if path), None)
    if emulator is None:
        sys.exit("install qemu-user")
    foreign = (args.foreign or build(target)).resolve()
    registered = register(emulator, foreign)
    commands = [words for words in COMMANDS if registered or not words.startswith("verify")]
    if not registered:
        print("not run: verify, since binfmt_misc cannot be mounted in a namespace")
    native = [str(args.native.resolve())]
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        at, outs = Path(scratch).resolve() / "files", Path(scratch).resolve() / "outs"
        at.mkdir()
        outs.mkdir()
        prepare(at, native, args.fixture.resolve())
        runs = [(words, page) for page in PAGES for words in commands]

        def compare(run: tuple[str, int]) -> tuple[str, float]:
            words, page = run
            emulated = [emulator, "-p", str(page), str(foreign)]
            name = f"{COMMANDS.index(words)}-{page}"
            started = time.monotonic()
            mine = result(native, words, at, outs / f"native-{name}")
            other = result(emulated, words, at, outs / f"foreign-{name}")
            return difference(mine, other), time.monotonic() - started

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for (words, page), (problem, seconds) in zip(runs, pool.map(compare, runs)):
                state = "differs" if problem else "equal"
                print(f"{page:5} {seconds:5.1f} s  {state}: ascend-doctor {words}", flush=True)
                if problem:
                    failures += 1
                    print(problem, file=sys.stderr)
    print(f"{len(runs) - failures} passed, {failures} failed")
    return 1 if failures else 0


def register(emulator: str, foreign: Path) -> bool:
    """Whether the kernel runs the program. Starts this script again in namespaces where it does."""
    def runs() -> bool:
        try:
            return subprocess.run([foreign, "--version"], stdout=subprocess.DEVNULL).returncode == 0
        except OSError:
            return False

    formats = "/proc/sys/fs/binfmt_misc"
    mount = f"mount -t binfmt_misc none {formats}"
    namespaces = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if runs():
        return True
    if os.environ.get(STARTED):
        magic = r"\x7fELF\x02\x01\x01" + r"\x00" * 9 + r"\x02\x00\xb7\x00"
        mask = r"\xff" * 7 + r"\x00" + r"\xff" * 8 + r"\xfe\xff\xff\xff"
        rule = f":qemu-aarch64:M::{magic}:{mask}:{Path(emulator).resolve()}:F"
        Path(formats, "register").write_text(rule)
        return runs()
    if subprocess.run([*namespaces, mount], stderr=subprocess.DEVNULL).returncode != 0:
        return False
    words = [sys.executable, __file__, *sys.argv[1:], "--foreign", str(foreign)]
    script = f'{mount} && exec "$@"'
    done = subprocess.run([*namespaces, script, "sh", *words], env={**os.environ, STARTED: "1"})
    sys.exit(done.returncode)


def build(target: Path) -> Path:
    subprocess.run(["rustup", "target", "add", TRIPLE], check=True, cwd=PROJECT)
    gcc = "aarch64-linux-gnu-gcc"
    env = dict(
        os.environ,
        CC_aarch64_unknown_linux_gnu=gcc,
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=gcc,
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C target-feature=+crt-static",
    )
    command = ["cargo", "build", "--locked", "--profile", "emulated", "--target", TRIPLE]
    subprocess.run([*command, "--bin", "ascend-doctor"], check=True, cwd=PROJECT, env=env)
    return target / TRIPLE / "emulated/ascend-doctor"


def prepare(at: Path, native: list[str], fixture: Path) -> None:
    """Writes the files that the commands read."""
    validate_formats.inputs(at)
    for name, machine in MACHINES.items():
        subprocess.run([fixture, machine, at / name], check=True, stdout=subprocess.DEVNULL)
    (at / "reports").mkdir()
    for name, words in {
        "reports/a.json": "check --sysroot ubuntu --host node-a --json",
        "reports/b.json": "check --sysroot kylin --host node-b --json",
        "codes.json": "translate-error 507035 --json",
    }.items():
        done = subprocess.run([*native, *words.split()], cwd=at, env=VARIABLES, capture_output=True)
        (at / name).write_bytes(done.stdout)


def result(program: list[str], words: str, at: Path, out: Path) -> dict[str, bytes]:
    """Status, output and written files of a run, with the names that may differ removed."""
    out.mkdir()
    command = [*program, *words.format(out=out).split()]
    done = subprocess.run(command, cwd=at, env=VARIABLES, capture_output=True, timeout=300)
    found = {"status": str(done.returncode).encode(), "stdout": done.stdout, "stderr": done.stderr}
    for path in sorted(out.rglob("*")):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            if path.suffix == ".tgz":
                content = subprocess.run(["tar", "-tzf", path], check=True, capture_output=True).stdout
            found[str(path.relative_to(out))] = content
    own = [(str(out).encode(), b"OUT")]
    if words.startswith("verify"):
        own += [(b"aarch64", b"ARCH"), (b"x86_64", b"ARCH")]
    for name, content in found.items():
        for old, new in own:
            content = content.replace(old, new)
        if words.startswith("verify"):
            content = re.sub(rb'_ms": [0-9.]+', b'_ms": TIME', content)
            content = re.sub(rb'"taken": [0-9]+', b'"taken": TIME', content)
        found[name] = content
    return found


def difference(mine: dict[str, bytes], other: dict[str, bytes]) -> str:
    """The first difference, or nothing."""
    if mine["status"] not in (b"0", b"1", b"3"):
        return f"status {mine['status'].decode()}: {mine['stderr'].decode()}"
    if set(mine) != set(other):
        return f"written files: {sorted(set(mine) ^ set(other))}, {other['stderr'].decode()}"
    for name, content in mine.items():
        if content != other[name]:
            lines = zip(content.splitlines(), other[name].splitlines())
            pair = next((pair for pair in lines if pair[0] != pair[1]), (b"(length)", b"(length)"))
            shown = [line[:200].decode(errors="replace") for line in pair]
            return f"{name}: {shown[0]!r} here, {shown[1]!r} on aarch64; {other['stderr'][:300].decode()}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
