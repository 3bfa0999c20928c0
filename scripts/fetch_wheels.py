#!/usr/bin/env python3
"""Fetches published torch_npu wheels and unpacks them as environments for `check --root`.

Every wheel becomes a directory of its own below the cache directory:

    <cache>/<version>-<python>-<arch>/
        .process.json  .env.json
        opt/venv/pyvenv.cfg
        opt/venv/bin/python3.11
        opt/venv/lib/python3.11/site-packages/torch_npu/…
        opt/venv/lib/python3.11/site-packages/torch_npu-….dist-info/…

The interpreter is a stub: an ELF header of the right machine, nothing that could run. The files
are unpacked as pip does it, with INSTALLER, REQUESTED and the rewritten rows of the scripts; no
code of the wheel is run. What is there already is not fetched again.

    python scripts/fetch_wheels.py CACHE                      # 2.6.0 and 2.9.0, both architectures
    python scripts/fetch_wheels.py CACHE 2.9.0-cp311-x86_64   # these
"""

import argparse
import base64
import csv
import hashlib
import io
import json
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

PACKAGE = "torch_npu"
DEFAULT = [
    "2.6.0-cp310-x86_64",
    "2.6.0-cp310-aarch64",
    "2.9.0-cp311-x86_64",
    "2.9.0-cp311-aarch64",
]
PLATFORMS = ["manylinux_2_28_{}", "manylinux_2_17_{}", "manylinux2014_{}"]
MACHINES = {"x86_64": 62, "aarch64": 183}


def download(version, python, arch, into):
    """The wheel, by pip, checked against the hash on the index page."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary=:all:", "--dest", str(into), "--implementation", "cp"]
    command += ["--python-version", python[2:], "--abi", python]
    for platform in PLATFORMS:
        command += ["--platform", platform.format(arch)]
    subprocess.run([*command, f"{PACKAGE}=={version}"], check=True)
    (wheel,) = into.glob(f"{PACKAGE}-{version}-{python}-*{arch}.whl")
    return wheel


def stub_interpreter(arch):
    """A valid ELF header without segments: enough to tell the machine."""
    ident = b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8)
    return ident + struct.pack("<HHIQQQIHHHHHH", 3, MACHINES[arch], 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)


def install(wheel, site, prefix):
    """Unpacks a wheel as pip leaves it."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            parts = PurePosixPath(name).parts
            if name.startswith("/") or ".." in parts:
                sys.exit(f"{wheel.name}: {name} leads out of the wheel")
        archive.extractall(site)
    (info,) = site.glob(f"{PACKAGE}-*.dist-info")
    rows = [row for row in csv.reader(io.StringIO((info / "RECORD").read_text())) if row]
    added = {f"{info.name}/INSTALLER": b"pip\n", f"{info.name}/REQUESTED": b""}
    entry_points = info / "entry_points.txt"
    if entry_points.exists():
        scripts = re.search(r"\[console_scripts\]\n((?:.*=.*\n?)+)", entry_points.read_text())
        for line in (scripts.group(1).splitlines() if scripts else []):
            name = line.split("=", 1)[0].strip()
            added[f"../../../bin/{name}"] = f"#!{prefix}/bin/python3\n".encode()
    for path, content in added.items():
        (site / path).resolve().parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        rows.append([path, f"sha256={digest}", str(len(content))])
    with (info / "RECORD").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def environment(name, cache):
    version, python, arch = name.rsplit("-", 2)
    root = cache / name
    if (root / ".process.json").exists():
        print(f"{name}: there")
        return
    wheels = cache / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    known = list(wheels.glob(f"{PACKAGE}-{version}-{python}-*{arch}.whl"))
    wheel = known[0] if known else download(version, python, arch, wheels)
    minor = f"3.{python[3:]}"
    venv = root / "opt/venv"
    site = venv / f"lib/python{minor}/site-packages"
    site.mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / f"bin/python{minor}").write_bytes(stub_interpreter(arch))
    (venv / f"bin/python{minor}").chmod(0o755)
    for link in ["python3", "python"]:
        (venv / "bin" / link).symlink_to(f"python{minor}")
    (venv / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {minor}.0\n")
    install(wheel, site, "/opt/venv")
    env = {"VIRTUAL_ENV": "/opt/venv", "PATH": "/opt/venv/bin:/usr/bin"}
    (root / ".env.json").write_text(json.dumps(env) + "\n")
    process = {"uid": 0, "gid": 0, "groups": [0], "caps": "all", "arch": arch}
    process["python"] = "/opt/venv/bin/python"
    (root / ".process.json").write_text(json.dumps(process) + "\n")
    print(f"{name}: {wheel.name}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("cache", type=Path)
    arguments.add_argument("name", nargs="*", default=DEFAULT, help="version-python-arch")
    options = arguments.parse_args()
    for name in options.name:
        environment(name, options.cache)


if __name__ == "__main__":
    main()
