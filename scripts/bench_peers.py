#!/usr/bin/env python3
"""Runs ascend-doctor and its peers side by side and prints a table for docs/performance.md.

    python scripts/bench_peers.py --doctor target/dist/ascend-doctor --venv DIR [--sysroot NAME=DIR …]

The virtual environment has to hold the peers, from the package registry:

    python -m venv DIR && DIR/bin/pip install torch msprechecker

Each command runs several times in turn (so that a busy moment hits all of them); the table has
the median wall time, the median CPU time (user and system), and the highest resident set, as GNU
time (/usr/bin/time) sees them: a child of this interpreter would be charged with its memory. Whatever the commands find, and their exit status, does not matter here.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run(command, environment):
    """(wall seconds, CPU seconds, peak resident bytes, exit status)"""
    with tempfile.NamedTemporaryFile("r") as usage:
        begin = time.perf_counter()
        done = subprocess.run(
            ["/usr/bin/time", "-q", "-f", "%U %S %M", "-o", usage.name, *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=environment, check=False,
        )
        wall = time.perf_counter() - begin
        user, system, memory = usage.read().split()
    return wall, float(user) + float(system), int(memory) * 1024, done.returncode


def version(python, package):
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--doctor", type=Path, required=True)
    arguments.add_argument("--venv", type=Path, required=True)
    arguments.add_argument("--sysroot", action="append", default=[], metavar="NAME=DIR",
                           help="a tree for check --sysroot, under this name in the table")
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()

    doctor = str(options.doctor.resolve())
    python = str(options.venv / "bin/python")
    commands = {
        "ascend-doctor explain 507035": [doctor, "explain", "507035"],
        "ascend-doctor check --no-hash": [doctor, "check", "--no-hash"],
        "ascend-doctor check": [doctor, "check"],
    }
    for root in options.root:
        name, _, directory = root.partition("=")
        root = ["--sysroot", directory or name]
        commands[f"ascend-doctor check --no-hash --sysroot {name}"] = [doctor, "check", "--no-hash", *root]
        commands[f"ascend-doctor check --sysroot {name}"] = [doctor, "check", *root]
    torch, prechecker = version(python, "torch"), version(python, "msprechecker")
    if torch:
        name = f"python -m torch.utils.collect_env (torch {torch})"
        commands[name] = [python, "-m", "torch.utils.collect_env"]
    if prechecker:
        name = f"msprechecker precheck ({prechecker})"
        commands[name] = [str(options.venv / "bin/msprechecker"), "precheck"]

    # The live runs examine the same environment that the peers run in.
    environment = {**os.environ, "VIRTUAL_ENV": str(options.venv.resolve())}
    environment["PATH"] = f"{options.venv.resolve()}/bin:{os.environ['PATH']}"
    results = {name: [] for name in commands}
    for number in range(options.rounds + 1):
        for name, command in commands.items():
            result = run(command, environment)
            if number:  # The first round fills the page cache.
                results[name].append(result)
            print(f"{number}/{options.rounds} {name}: {result[0]:.3f} s", file=sys.stderr)

    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} cores ({platform.machine()}), load average {load},")
    print(f"median of {options.rounds} runs after one to warm up.\n")
    print("| command | wall s | CPU s | peak memory MB | exit status |")
    print("|---|---|---|---|---|")
    for name, rows in results.items():
        wall = statistics.median(row[0] for row in rows)
        cpu = statistics.median(row[1] for row in rows)
        memory = max(row[2] for row in rows) / 1e6
        status = sorted({row[3] for row in rows})
        print(f"| {name} | {wall:.3f} | {cpu:.3f} | {memory:.0f} | {', '.join(map(str, status))} |")


if __name__ == "__main__":
    main()
