#!/usr/bin/env python3
"""Shows that clippy holds the walls of the architecture (`clippy.toml`, `Cargo.toml`).

Puts scripts/walls/violations.rs into a temporary copy of src/checks/ and asserts that clippy
refuses each of its statements and that no function listed in clippy.toml is without a violation.
Uses the project's own target directory, so that only the project itself is checked anew.

    python3 scripts/check_walls.py
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VIOLATIONS = PROJECT / "scripts/walls/violations.rs"
MODULE = "src/checks/violations.rs"
# Lints of the compiler and of clippy that are a wall.
WALLS = {
    "clippy::disallowed_methods",
    "clippy::print_stdout",
    "clippy::print_stderr",
    "clippy::dbg_macro",
    "clippy::exit",
    "unsafe_code",
}
# A lint that the violations break as well, and that is no wall.
BESIDE = "clippy::undocumented_unsafe_blocks"


def copy(to: Path) -> None:
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml", "build.rs"):
        shutil.copy(PROJECT / name, to / name)
    for name in ("src", "data", "benches", "tests/support", "docs", "crates"):
        shutil.copytree(PROJECT / name, to / name)
    shutil.copy(VIOLATIONS, to / MODULE)
    checks = to / "src/checks/mod.rs"
    text = checks.read_text()
    first = re.search(r"^(pub )?mod ", text, re.M)
    checks.write_text(text[: first.start()] + "mod violations;\n" + text[first.start() :])


def refused(tree: Path) -> list[tuple[int, str, str]]:
    """Line, lint and message of every refusal in the module of violations."""
    target = os.environ.get("CARGO_TARGET_DIR", PROJECT / "target")
    run = subprocess.run(
        ["cargo", "clippy", "--locked", "--lib", "--message-format=json"],
        cwd=tree,
        env={**os.environ, "CARGO_TARGET_DIR": str(target)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    rows = []
    for line in run.stdout.splitlines():
        message = json.loads(line).get("message")
        if not message or message["level"] != "error":
            continue
        lint = (message["code"] or {}).get("code")
        if lint == BESIDE:
            continue
        for span in message["spans"]:
            if not span["is_primary"]:
                continue
            # A macro is defined elsewhere: what counts is where it is used.
            while span["expansion"] and not span["file_name"].endswith(MODULE):
                span = span["expansion"]["span"]
            if lint not in WALLS or not span["file_name"].endswith(MODULE):
                sys.exit(f"not what this script looks for: {message['rendered']}")
            rows.append((span["line_start"], lint, message["message"]))
    if run.returncode == 0 or not rows:
        sys.exit(f"clippy did not refuse anything:\n{run.stderr}")
    return rows


def main() -> None:
    lines = VIOLATIONS.read_text().splitlines()
    wanted = {at for at, line in enumerate(lines, 1) if line.lstrip().startswith("let _ ")}
    with tempfile.TemporaryDirectory() as name:
        copy(Path(name))
        rows = refused(Path(name))
    failed = WALLS != {row[1] for row in rows}
    if failed:
        print(f"lints without a violation: {WALLS - {row[1] for row in rows}}")
    for at in sorted(wanted - {row[0] for row in rows}):
        failed = True
        print(f"not refused: {lines[at - 1].strip()}")
    listed = tomllib.loads((PROJECT / "clippy.toml").read_text())["disallowed-methods"]
    named = {part for row in rows for part in re.findall(r"`([^`]+)`", row[2])}
    for entry in listed:
        if entry["path"] not in named:
            failed = True
            print(f"no violation of: {entry['path']}")
    if failed:
        sys.exit(1)
    print(f"clippy refuses all {len(wanted)} violations of {len(listed)} listed functions and of the lints")


if __name__ == "__main__":
    main()
