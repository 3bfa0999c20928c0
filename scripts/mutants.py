#!/usr/bin/env python3
"""How many small mistakes in the rules and the ranking the tests notice.

    scripts/mutants.py                     # all groups
    scripts/mutants.py ranking --sample 60 # one, and of its mistakes those that a fixed draw takes
    scripts/mutants.py ranking --list      # the mistakes

mutants/ puts all mistakes of a group into a copy of the tree, each behind a number that the
program reads from a file; the tests of the group are compiled once, and run once for each mistake. A mistake
that no test notices survives: it is printed, and either a test is missing or nothing depends on
the place. Results: docs/mutation-testing.md.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# Files with mistakes, and the tests that must notice them: a target of cargo (a library or a test
# program) and a filter, the quick ones first.
GROUPS = {
    "ranking": (
        ["src/errcodes/log/rank.rs", "src/errcodes/log/diagnose.rs", "src/errcodes/search.rs"],
        [("errcodes", ""), ("program", "logs::")],
    ),
    "compat": (
        [f"src/checks/compat/{name}.rs" for name in ("mod", "driver", "torch_npu", "mindspore", "numpy", "vllm")],
        # Machines that have each finding, small changes of healthy ones, and healthy ones.
        [
            ("checks", ""),
            ("program", "check::fixtures::"),
            ("program", "check::mutations::"),
            ("program", "check::healthy::"),
        ],
    ),
    "convert": (
        [f"src/convert/python/{name}.rs" for name in ("walk_calls", "roles", "npu_branches")],
        [("lib", "convert::")],
    ),
}
# A file, not a variable: tests that run the program clear its environment.
SWITCH = """
/// Whether the mistake of this number is made: scripts/mutants.py.
#[expect(clippy::disallowed_methods, reason = "stands in no program")]
pub(crate) fn mutant(number: u32) -> bool {{
    static MADE: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {{
        std::fs::read_to_string({path}).ok().and_then(|made| made.parse().ok()).unwrap_or(0)
    }});
    *MADE == number
}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--sample", type=int, help="at most as many of each group")
    parser.add_argument("--list", action="store_true", help="print the mistakes, and run nothing")
    parser.add_argument("--work", type=Path, default=PROJECT / "target/mutants")
    args = parser.parse_args()
    if unknown := set(args.groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    groups = {name: GROUPS[name] for name in args.groups or GROUPS}
    work = args.work.resolve()
    # Never the target directory of the project: cargo takes the copy for the same package.
    env = dict(os.environ, CARGO_TARGET_DIR=str(work / "build"))
    env |= {"PROPTEST_RNG_SEED": "20261122", "PROPTEST_CASES": "32"}

    files = [file for of, _ in groups.values() for file in of]
    mutants, skipped = list_of(work, env, files, set()), set()
    if args.list:
        print("\n".join("\t".join(mutant) for mutant in mutants))
        return
    while True:
        binaries, refused = compiled(work, env, groups, mutants)
        if not refused:
            break
        skipped |= refused
        mutants = list_of(work, env, files, skipped)
    print(f"{len(mutants)} mistakes compile, {len(skipped)} do not", flush=True)
    for name, (of, tests) in groups.items():
        chosen = [mutant for mutant in mutants if mutant[1] in of]
        if args.sample and args.sample < len(chosen):
            # The same ones each time.
            chosen = sorted(random.Random(name).sample(chosen, args.sample), key=lambda m: int(m[0]))
        run(name, chosen, [(binaries[test], filter) for test, filter in tests], work, env)


def list_of(work: Path, env: dict[str, str], files: list[str], skipped: set[str]) -> list[list[str]]:
    """Lays the copy of the tree anew, with the mistakes in it; those, as mutants/ lists them."""
    tree = work / "tree"
    names = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    kept = subprocess.run(names, cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, kept.split("\0")):
        source, copy = PROJECT / name, tree / name
        if not source.is_file():
            continue
        # What is as it was keeps its time, so that cargo does not build it again.
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy, follow_symlinks=True)
            shutil.copymode(source, copy)
    # The crates of the files; each has its own switch.
    for library in sorted({tree / "/".join(Path(file).parts[:2]) / "lib.rs" for file in files}):
        library.write_text(library.read_text() + SWITCH.format(path=json.dumps(str(work / "made"))))
    tool = ["cargo", "run", "--quiet", "--manifest-path", PROJECT / "mutants/Cargo.toml", "--", tree]
    if skipped:
        tool += ["--skip", ",".join(sorted(skipped))]
    own = dict(env, CARGO_TARGET_DIR=str(work / "tool"))
    done = subprocess.run([*tool, *files], env=own, check=True, capture_output=True, text=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def compiled(
    work: Path, env: dict[str, str], groups: dict, mutants: list[list[str]]
) -> tuple[dict[str, Path], set[str]]:
    """The test programs; or the mistakes in lines that the compiler did not take."""
    wanted = {test for _, tests in groups.values() for test, _ in tests}
    command = ["cargo", "test", "--no-run", "--message-format=json", "--lib", "--test", "program"]
    for library in sorted(wanted - {"program"}):
        command += ["--package", f"ascend-doctor-{library}"]
    command += ["--package", "ascend-doctor"]
    done = subprocess.run(command, cwd=work / "tree", env=env, capture_output=True, text=True, check=False)
    binaries, refused = {}, set()
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message.get("executable"):
            binaries[message["target"]["name"]] = Path(message["executable"])
        if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
            for span in message["message"]["spans"]:
                lines = "".join(text["text"] for text in span["text"])
                refused |= set(re.findall(r"crate::mutant\((\d+)\)", lines))
    if done.returncode != 0 and not refused:
        sys.exit(done.stderr)
    return binaries, refused if done.returncode != 0 else set()


def run(name: str, mutants: list[list[str]], tests: list, work: Path, env: dict[str, str]) -> None:
    started = time.monotonic()
    limits = []
    for binary, only in tests:
        before = time.monotonic()
        if not passes(binary, only, "", 3600, work, env):
            sys.exit(f"{name}: {binary.name} {only} fails without any mistake")
        limits.append(30 + 5 * (time.monotonic() - before))
    survived = []
    for number, file, line, function, what in mutants:
        noticed = any(
            not passes(binary, only, number, limit, work, env)
            for (binary, only), limit in zip(tests, limits, strict=True)
        )
        if not noticed:
            survived.append(number)
            print(f"survives: {file}:{line} {function}: {what} [{number}]", flush=True)
    caught = len(mutants) - len(survived)
    share = 100 * caught / max(1, len(mutants))
    seconds = time.monotonic() - started
    print(f"{name}: {caught} of {len(mutants)} noticed ({share:.0f} %), {seconds:.0f} s", flush=True)


def passes(binary: Path, only: str, mutant: str, limit: float, work: Path, env: dict[str, str]) -> bool:
    command = [binary, "--quiet", *([only] if only else [])]
    env = dict(env, CARGO_MANIFEST_DIR=str(work / "tree"))
    (work / "made").write_text(mutant)
    try:
        done = subprocess.run(
            command, cwd=work / "tree", env=env, timeout=limit,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    main()
