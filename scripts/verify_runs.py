#!/usr/bin/env python3
"""Runs `verify` many times against the simulator, and counts what it says.

    cargo test --test program --no-run
    python3 scripts/verify_runs.py --runs 1000              # clean runs: nothing may be found
    python3 scripts/verify_runs.py --runs 50 --overhead     # what a child costs that does nothing

The runs alternate between one device and eight at a time. The libraries are those that cargo
builds for the tests, in target/debug/deps.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def run(program: str, libraries: str, *args: str, **variables: str) -> tuple[dict, float, int]:
    """The report, the seconds that it took, and the largest memory of the parent, in KiB."""
    environment = {"LD_LIBRARY_PATH": libraries, "ASCEND_DOCTOR_ALLOW_SIM": "1", **variables}
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([program, "verify", "--format", "json", *args], env=environment, stdout=out)
        _, _, usage = os.wait4(child.pid, 0)
        took = time.perf_counter() - start
        out.seek(0)
        return json.load(out), took, usage.ru_maxrss


def clean(arguments: argparse.Namespace) -> None:
    alarms, times = [], {1: [], 8: []}
    for number in range(arguments.runs):
        devices = 8 if number % 4 == 3 else 1
        report, took, _ = run(
            arguments.program, arguments.libraries, ASCSIM_DEVICES=str(devices)
        )
        times[devices].append(took)
        if report["findings"] or report["gate"]["exit_status"] or report["summary"]["passed"] != (8 if devices == 8 else 7):
            alarms.append((number, [finding["title"]["en"] for finding in report["findings"]]))
    print(f"{arguments.runs} runs, {len(alarms)} false alarms; load {os.getloadavg()[0]:.1f}")
    for devices, took in times.items():
        if took:
            print(f"{len(took)} with {devices} devices: median {statistics.median(took) * 1e3:.0f} ms")
    print("\n".join(map(str, alarms)))
    sys.exit(1 if alarms else 0)


def overhead(arguments: argparse.Namespace) -> None:
    children, memory = [], 0
    for _ in range(arguments.runs):
        report, _, used = run(arguments.program, arguments.libraries, "--rung", "load")
        # Loading is part of the test; what is left is the process, the pipe and the report.
        stages = sum(stage["host_ms"] for stage in report["start"]["stages"])
        children.append(report["start"]["took_ms"] - stages)
        memory = max(memory, used)
    children.sort()
    print(
        f"{len(children)} children: min {children[0]:.1f} ms, median {statistics.median(children):.1f} ms, "
        f"p95 {children[len(children) * 95 // 100]:.1f} ms; parent at most {memory // 1024} MiB; "
        f"load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--overhead", action="store_true")
    parser.add_argument("--program", default=str(PROJECT / "target/debug/ascend-doctor"))
    parser.add_argument("--libraries", default=str(PROJECT / "target/debug/deps"))
    arguments = parser.parse_args()
    (overhead if arguments.overhead else clean)(arguments)


if __name__ == "__main__":
    main()
