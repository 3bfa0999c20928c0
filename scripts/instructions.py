#!/usr/bin/env python3
"""Counts the instructions of each subcommand on fixed work, and compares two programs.

    python3 scripts/instructions.py target/dist/ascend-doctor                # prints a table
    python3 scripts/instructions.py --save counts.json target/dist/ascend-doctor
    python3 scripts/instructions.py --against counts.json target/dist/ascend-doctor
    python3 scripts/instructions.py --against OLD-PROGRAM NEW-PROGRAM           # both now

Instructions are counted by valgrind's callgrind (`apt install valgrind`), on one thread: the same
program on the same machine gives the same count within some thousandths, however busy the machine
is. What waits for a disk or for another program is not seen. The status is 1 if a count grew by more than
--limit per cent (3), and 2 if a program or valgrind does not work.

Counts of other machines, compilers and C libraries are not comparable: save them where they are
compared.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def healthy_log(path, megabytes):
    """A training log without an error, with numbers in all shapes."""
    dice = random.Random(7)
    with path.open("w") as file:
        while file.tell() < megabytes << 20:
            step = dice.randrange(100_000)
            file.write(
                f"[INFO] TDT({dice.randrange(1, 99_999)},python3):2026-11-20-10:{dice.randrange(60):02}:"
                f"{dice.randrange(60):02}.{dice.randrange(1000):03}.{dice.randrange(1000):03} "
                f"[log_inner.cpp:{dice.randrange(900)}]{dice.randrange(1, 99_999)} step {step} "
                f"loss {dice.random():.6f} grad {dice.random() * 10:.4f} at 0x{dice.randrange(1 << 48):012x}\n"
            )


def failing_log(path):
    """The same with an error in every hundredth line."""
    healthy_log(path, 1)
    lines = path.read_text().splitlines()
    for at in range(50, len(lines), 100):
        lines[at] = (
            "[ERROR] RUNTIME(4711,python3):2026-11-20-10:00:00.000.000 [task_info.cc:1]4711 "
            "report_error:rtStreamSynchronize execute failed, reason=[vector core exception], error code is 507035"
        )
    path.write_text("\n".join(lines) + "\n")


def sources(path, copies):
    """Copies of the scripts of the tests of `convert`."""
    scripts = sorted((ROOT / "tests/fixtures/convert/run").rglob("*.py"))
    for copy in range(copies):
        for script in scripts:
            place = path / f"part{copy}" / script.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(script.read_bytes())


def machine(path):
    """A healthy machine of the tests, made by an example of this project."""
    run = ["cargo", "run", "--quiet", "--example", "make_fixture", "ok-vllm-container", str(path)]
    subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def work(directory):
    """The work by name: arguments of the program."""
    machine(directory / "machine")
    sources(directory / "sources", 8)
    healthy_log(directory / "healthy.log", 4)
    failing_log(directory / "failing.log")
    (directory / "operators.txt").write_text("aten::add.Tensor\naten::mm\naten::lgamma\n" * 50)
    return {
        "--version": ["--version"],
        "check": ["check", "--sysroot", "machine", "--no-hash"],
        "check, with hashes": ["check", "--sysroot", "machine"],
        "compat": ["compat", "--torch", "2.7.1"],
        "translate-error, a code": ["translate-error", "507035"],
        "translate-error, 4 MB without an error": ["translate-error", "healthy.log"],
        "translate-error, 1 MB with an error in 100 lines": ["translate-error", "failing.log"],
        "convert --dry-run": ["convert", "-r", "sources", "--dry-run"],
        "audit-ops, a list": ["audit-ops", "operators.txt", "--torch-npu", "2.7.1", "--fail-on", "never"],
        "audit-ops, sources": ["audit-ops", "sources", "--torch-npu", "2.7.1", "--fail-on", "never"],
        "explain": ["explain", "TNPU-RECORD"],
    }


def count(program, args, directory):
    """The instructions of one run."""
    environment = {"RAYON_NUM_THREADS": "1", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    run = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), *args]
    done = subprocess.run(run, cwd=directory, env=environment, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode not in (0, 1, 3) or not found:
        sys.stderr.write(done.stderr)
        raise SystemExit(2)
    return int(found.group(1))


def measure(program, jobs, directory):
    program = Path(program).resolve()
    return {name: count(program, args, directory) for name, args in jobs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--save", help="write the counts to this file")
    parser.add_argument("--against", help="counts that --save wrote, or another program")
    parser.add_argument("--limit", type=float, default=3.0, help="per cent that a count may grow")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        jobs = work(directory)
        before = None
        if args.against:
            other = Path(args.against)
            if os.access(other, os.X_OK):
                before = measure(other, jobs, directory)
            else:
                before = json.loads(other.read_text())
        now = measure(args.program, jobs, directory)
    if args.save:
        Path(args.save).write_text(json.dumps(now, indent=1) + "\n")
    grown = False
    print("| work | million instructions |" + (" before | change |" if before else ""))
    print("|---|---:|" + ("---:|---:|" if before else ""))
    for name, instructions in now.items():
        row = f"| {name} | {instructions / 1e6:.1f} |"
        if before:
            old = before.get(name)
            if old is None:
                row += " | new |"
            else:
                change = 100 * (instructions / old - 1)
                grown |= change > args.limit
                row += f" {old / 1e6:.1f} | {change:+.1f} % |"
        print(row)
    raise SystemExit(1 if grown else 0)


main()
