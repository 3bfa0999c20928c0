#!/usr/bin/env python3
"""Converts whole packages of the registry, and proves that nothing broke.

    cargo build --profile dist
    python scripts/convert_packages.py [--binary PATH] [--cache DIR] [NAME[==VERSION] …]

Each package (without arguments: yolov5, timm, ultralytics, accelerate, transformers) is fetched by
name from the package registry, unpacked into a temporary directory, converted in place as a whole
tree, and then

- the exit status is the one that the report says and the documentation promises, without a panic;
- every Python file that parsed before parses (with the `ast` of the interpreter that runs
  this, so use one that is as new as the packages), as do JSON, TOML and notebooks;
- only files are changed that the report names, and no file appears or goes away but the journal;
- a second run changes no byte, and `--check` finds nothing to change;
- `--undo` restores every file: content and permissions, and leaves nothing behind.

All of it is done again with the options of each line of VARIANTS. Prints a table in Markdown; the
numbers are those of the run without options. Exit status: 1 if anything does not hold, 2 if a package
cannot be fetched. Nothing of the packages is kept in the project.
"""

import argparse
import ast
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import warnings
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = ["yolov5", "timm", "ultralytics", "accelerate", "transformers"]
VARIANTS = [[], ["--mark", "--also", "messages"], ["--import", "each"], ["--target", "torch_npu==2.1.0"]]
JOURNAL = ".ascend-doctor"


def fetch(named, cache):
    """The wheel of a package, downloaded once."""
    directory = cache / named
    if not list(directory.glob("*.whl")):
        directory.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--only-binary=:all:", "-d", directory, named], check=True)
    return next(directory.glob("*.whl"))


def content(tree):
    """Every file of a tree but those of the journal: permissions and hash, or the target of a link."""
    found = {}
    for path in sorted(tree.rglob("*")):
        relative = path.relative_to(tree)
        if relative.parts[0] == JOURNAL:
            continue
        if path.is_symlink():
            found[str(relative)] = ("link", os.readlink(path))
        elif path.is_file():
            found[str(relative)] = (path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest())
        else:
            found[str(relative)] = ("directory", path.stat().st_mode)
    return found


def readable(tree):
    """The files that parse as what they are."""
    readers = {".py": ast.parse, ".json": json.loads, ".ipynb": json.loads}
    readers[".toml"] = lambda text: tomllib.loads(text.decode())
    parsed = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in tree.rglob("*"):
            if path.suffix in readers and path.is_file() and JOURNAL not in path.parts:
                try:
                    readers[path.suffix](path.read_bytes())
                    parsed.add(str(path.relative_to(tree)))
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    pass
    return parsed


class Package:
    """One package, unpacked, and what does not hold of it."""

    def __init__(self, binary, tree):
        self.binary, self.tree = binary, tree
        self.problems = []

    def holds(self, what, truth):
        """Notes what does not hold."""
        if not truth:
            self.problems.append(what)
        return truth

    def convert(self, *options):
        """Runs the program on the tree; its report, and the wall time."""
        command = [self.binary, "convert", "-r", self.tree, "--format", "json", *options]
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
        shown = " ".join(options) or "in place"
        self.holds(f"{shown}: panics: {done.stderr[-300:]}", "panicked" not in done.stderr)
        self.holds(f"{shown}: ended with {done.returncode}: {done.stderr[-300:]}", done.returncode in (0, 1, 3))
        try:
            report = json.loads(done.stdout)
        except ValueError:
            self.problems.append(f"{shown}: no report: {done.stdout[:100]}")
            return {}, seconds
        errors = [one["id"] for one in report["findings"] if one["severity"] == "error"]
        self.holds(f"{shown}: status {done.returncode} with the errors {errors}", done.returncode in ((1,) if errors else (0, 3)))
        self.holds(f"{shown}: the report says status {report['gate']['exit_status']}", report["gate"]["exit_status"] == done.returncode)
        return report, seconds

    def prove(self, options):
        """Converts, converts again, takes back; the report of the first run, and its time."""
        before, parsed = content(self.tree), readable(self.tree)
        report, seconds = self.convert(*options)
        if not report:
            return report, seconds
        after = content(self.tree)
        self.holds("files appear or go away", before.keys() == after.keys())
        changed = {name for name in before if before[name] != after.get(name)}
        named = {
            os.path.relpath(file["path"], self.tree)
            for file in report["files"]
            if file["changed"] and not file["problem"]
        }
        if "--mark" in options:
            # A file that gets nothing but a comment has no changed place.
            files = [file["path"] for file in report["files"] if file["flagged"] and not file["problem"]]
            named |= changed & {os.path.relpath(file, self.tree) for file in files}
        self.holds(f"changed, but not reported: {sorted(changed - named)[:3]}", changed <= named)
        self.holds(f"reported, but not changed: {sorted(named - changed)[:3]}", named <= changed)
        self.holds("the number of changed files is another", report["counts"]["files_changed"] == len(changed))
        broken = sorted(parsed - readable(self.tree))
        self.holds(f"does not parse any more: {broken[:3]}", not broken)

        check, _ = self.convert(*options, "--check")
        again = check.get("counts", {}).get("files_changed")
        self.holds(f"--check would change {again} files after a run", again == 0)
        self.convert(*options)
        self.holds("a second run changes files", content(self.tree) == after)

        self.convert("--undo")
        self.holds("--undo does not restore every byte", content(self.tree) == before)
        self.holds("--undo leaves its journal behind", not (self.tree / JOURNAL).exists())
        return report, seconds


def row(binary, named, cache, work):
    """One line of the table, and what does not hold."""
    wheel = fetch(named, cache)
    name, version = wheel.name.split("-")[:2]
    tree = work / name
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tree)
    package = Package(binary, tree)
    first = {}, 0.0
    for number, options in enumerate(VARIANTS):
        before = len(package.problems)
        result = package.prove(options)
        first = first if number else result
        package.problems[before:] = [f"{' '.join(options)}: {one}" for one in package.problems[before:]]
    report, seconds = first
    counts = report.get("counts", {})
    python = sum(1 for _ in tree.rglob("*.py"))
    cells = [f"{name} {version}", counts.get("files_read"), python, f"{counts.get('bytes_read', 0) / 1e6:.1f}"]
    cells += [counts.get(one) for one in ("files_changed", "changes", "likely_changes", "flagged", "noted")]
    cells += [counts.get("files_left_alone"), report["gate"]["exit_status"], f"{seconds:.2f}"]
    cells.append("all holds" if not package.problems else f"{len(package.problems)} do not hold")
    return "| " + " | ".join(str(cell) for cell in cells) + " |", package.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", default=PACKAGES, metavar="NAME[==VERSION]")
    parser.add_argument("--binary", type=Path, default=PROJECT / "target/dist/ascend-doctor")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "convert_packages")
    options = parser.parse_args()
    if not options.binary.is_file():
        parser.error(f"no binary {options.binary}: build it, or give it with --binary")
    print(f"Python {platform.python_version()}, {len(VARIANTS)} runs each with their second run and undo\n")
    print("| package | files read | Python | MB | changed | changes | likely | flagged | noted | left alone | status | seconds | |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|", flush=True)
    failed = {}
    work = Path(tempfile.mkdtemp(prefix="packages-"))
    try:
        for named in options.packages:
            try:
                line, problems = row(options.binary.resolve(), named, options.cache, work)
            except (subprocess.CalledProcessError, OSError, StopIteration, zipfile.BadZipFile) as problem:
                print(f"not run: {named}: {problem}", file=sys.stderr)
                return 2
            print(line, flush=True)
            if problems:
                failed[named] = problems
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for named, problems in failed.items():
        print(f"\n{named}:\n" + "\n".join(problems))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
