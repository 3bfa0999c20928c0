#!/usr/bin/env python3
"""Measures `convert` as a whole command beside musa_converter; a table for docs/performance.md.

    cargo build --profile dist
    python scripts/bench_convert.py [--doctor PATH] [--work DIR] [--yolov5 DIR]
        [--musa musa_converter.py --python PYTHON] [--rounds N]

The sources are packages of the registry, fetched by name into the work directory and kept there:
`yolov5` (or, with --yolov5, a checkout of v7.0), a tree of 2,000 Python files of five packages, and
one of 1,300 files that hold 20 MB. musa_converter is the file of that name of torch_musa; its interpreter
needs libcst and tqdm. With --bench the stages are measured in one process too (`cargo bench --bench
convert`).

Each run gets a fresh copy of the tree, on disk before the clock runs: `convert` and musa_converter
both write in place, and `convert --dry-run` shows what planning alone takes. The commands run in turn, so
that a busy moment hits all of them. The table has medians, the least in brackets; CPU time (user and
system) and the highest resident set as GNU time (/usr/bin/time) sees them.
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from convert_packages import PACKAGES, PROJECT, fetch

MANY, LARGE, LARGE_BYTES = 2000, 1300, 20_000_000
GOAL_YOLO, GOAL_TIMES, GOAL_MEMORY = 40, 300, 150


def run(command, where):
    """(wall seconds, CPU seconds, peak resident bytes, exit status)"""
    with tempfile.NamedTemporaryFile("r") as usage:
        begin = time.perf_counter()
        done = subprocess.run(
            ["/usr/bin/time", "-q", "-f", "%U %S %M", "-o", usage.name, *command], cwd=where,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
        )
        wall = time.perf_counter() - begin
        user, system, memory = usage.read().split()
    return wall, float(user) + float(system), int(memory) * 1024, done.returncode


def sources(cache):
    """(path below the tree, archive, name, size) of every Python file of the packages."""
    found = []
    for named in PACKAGES:
        archive = zipfile.ZipFile(fetch(named, cache))
        for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
            if entry.filename.endswith(".py"):
                found.append((entry.filename, archive, entry, entry.file_size))
    return found


def lay(tree, files):
    """Writes files into a new tree."""
    for name, archive, entry, _ in files:
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archive.read(entry))


def trees(options):
    """The trees that are converted, made once."""
    made = {name: options.work / name for name in ("yolov5", "many", "large")}
    cache = options.work / "packages"
    if options.yolov5:
        made["yolov5"] = options.yolov5
    elif not made["yolov5"].exists():
        with zipfile.ZipFile(fetch("yolov5", cache)) as archive:
            archive.extractall(made["yolov5"])
    if not made["many"].exists() or not made["large"].exists():
        found = sources(cache)
        lay(made["many"], found[:MANY])
        # Of the files in the order of their size, the run of as many as hold what is wanted.
        sized = sorted(found, key=lambda file: (file[3], file[0]))
        starts = range(len(sized) - LARGE + 1)
        total = lambda start: sum(file[3] for file in sized[start:start + LARGE])
        start = min(starts, key=lambda start: abs(total(start) - LARGE_BYTES))
        lay(made["large"], sized[start:start + LARGE])
    return made


def size(tree):
    """(number of Python files, their bytes)"""
    sizes = [path.stat().st_size for path in tree.rglob("*.py")]
    return len(sizes), sum(sizes)


def fresh(tree, place):
    """A copy of a tree that the disk has."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(tree, place, symlinks=True, ignore=shutil.ignore_patterns(".git", ".ascend-doctor"))
    os.sync()
    return place


def middle(rows, of):
    """Median and least of one number of the runs."""
    values = [row[of] for row in rows]
    return statistics.median(values), min(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--doctor", type=Path, default=PROJECT / "target/dist/ascend-doctor")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "bench_convert")
    parser.add_argument("--yolov5", type=Path, metavar="DIR", help="a checkout of v7.0")
    parser.add_argument("--musa", type=Path, metavar="FILE", help="musa_converter.py of torch_musa")
    parser.add_argument("--python", default=sys.executable, help="interpreter with libcst and tqdm")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--musa-rounds", type=int, default=1)
    parser.add_argument("--bench", action="store_true", help="also the stages, by cargo bench")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    begin_load = os.getloadavg()
    made = trees(options)
    doctor = str(options.doctor.resolve())
    commands = {"convert": ([doctor, "convert", "-r", "tree"], options.rounds + 1)}
    commands["convert --dry-run"] = ([doctor, "convert", "-r", "tree", "--dry-run"], options.rounds + 1)
    if options.musa:
        musa = [options.python, str(options.musa.resolve()), "-r", "tree"]
        commands["musa_converter"] = (musa, options.musa_rounds)

    print(f"{os.cpu_count()} cores ({platform.machine()}), load average before", end=" ")
    print(", ".join(f"{value:.1f}" for value in begin_load), end="; ")
    print(f"median (least) of {options.rounds} runs after one to warm up; musa_converter: {options.musa_rounds}.\n")
    print("| tree | command | wall ms | CPU ms | peak memory MB | files/s | status |")
    print("|---|---|---:|---:|---:|---:|---|", flush=True)
    verdicts = []
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        place = Path(scratch) / "tree"
        for label, tree in made.items():
            rows = {name: [] for name in commands}
            for number in range(options.rounds + 1):
                for name, (command, rounds) in commands.items():
                    # The peer, slow as it is, runs in the middle, and not on the tree for memory.
                    first = (options.rounds + 1 - rounds) // 2
                    if name == "musa_converter" and (label == "large" or not first <= number < first + rounds):
                        continue
                    fresh(tree, place)
                    result = run(command, scratch)
                    if number or rounds <= options.rounds:
                        rows[name].append(result)
                    print(f"{label} {number} {name}: {result[0]:.3f} s", file=sys.stderr)
            files, total = size(tree)
            speed = {}
            for name, results in rows.items():
                if not results:
                    continue
                (wall, least), (cpu, cpu_least) = middle(results, 0), middle(results, 1)
                memory = max(row[2] for row in results) / 1e6
                speed[name] = files / wall
                status = ", ".join(map(str, sorted({row[3] for row in results})))
                if name == "musa_converter" and status != "0":
                    status += ": it gave up, so its speed means nothing"
                print(
                    f"| {label}: {files} files, {total / 1e6:.1f} MB | {name} | {wall * 1e3:.0f} ({least * 1e3:.0f})"
                    f" | {cpu * 1e3:.0f} ({cpu_least * 1e3:.0f}) | {memory:.0f} | {speed[name]:.0f} | {status} |",
                    flush=True,
                )
                if name == "convert" and label == "yolov5":
                    verdicts.append(f"yolov5 in place: {wall * 1e3:.0f} ms, goal at most {GOAL_YOLO}")
                if name == "convert" and label == "large":
                    verdicts.append(f"memory: {memory:.0f} MB, goal at most {GOAL_MEMORY}")
            if "musa_converter" in speed:
                times = speed["convert"] / speed["musa_converter"]
                verdicts.append(f"{label}: {times:.0f} times the files per second of musa_converter, goal {GOAL_TIMES} (many)")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print("\n" + "\n".join(verdicts) + f"\nload average after: {load}", flush=True)
    if options.bench:
        bench = ["cargo", "bench", "--quiet", "--bench", "convert", "--"]
        subprocess.run([*bench, *(str(tree.resolve()) for tree in made.values())], cwd=PROJECT, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
