#!/usr/bin/env python3
"""Shows that clippy holds the boundaries between modules (`clippy.toml`, `Cargo.toml`).

Copies scripts/boundaries/violations.rs into a temporary copy of src/checks/. Fails unless clippy
refuses each of its statements, and if a function in clippy.toml has no violation. Uses the target
directory of the project, so that third-party crates are not compiled again.

    python3 scripts/check_boundaries.py
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
VIOLATIONS = PROJECT / "scripts/boundaries/violations.rs"
CRATE = "src/checks"
PACKAGE = "ascend-doctor-checks"
MODULE = f"{CRATE}/violations.rs"
# Crates that the violations call and that checks do not depend on: a missing dependency would hide
# that clippy refuses the call, too.
NEEDED = ["anstream", "indicatif", "machine", "rustix", "sysinfo", "tempfile", "walkdir"]
# Lints of the compiler and of clippy that hold a boundary.
LINTS = {
    "clippy::disallowed_methods",
    "clippy::print_stdout",
    "clippy::print_stderr",
    "clippy::dbg_macro",
    "clippy::exit",
    "unsafe_code",
}
# A lint that the violations break as well, and that holds no boundary.
OTHER = "clippy::undocumented_unsafe_blocks"


def copy(to: Path) -> None:
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml"):
        shutil.copy(PROJECT / name, to / name)
    ignore = shutil.ignore_patterns("target", "tests", "proptest-regressions")
    for name in ("src", "data", "benches", "crates"):
        shutil.copytree(PROJECT / name, to / name, ignore=ignore)
    shutil.copy(VIOLATIONS, to / MODULE)
    lib = to / CRATE / "lib.rs"
    text = lib.read_text()
    first = re.search(r"^(pub )?mod ", text, re.M)
    lib.write_text(text[: first.start()] + "mod violations;\n" + text[first.start() :])
    manifest = to / CRATE / "Cargo.toml"
    text = manifest.read_text()
    present = tomllib.loads(text)["dependencies"]
    rows = "".join(f"{name}.workspace = true\n" for name in NEEDED if name not in present)
    manifest.write_text(text.replace("[dependencies]\n", "[dependencies]\n" + rows, 1))


def refused(tree: Path) -> list[tuple[int, str, str]]:
    """Line, lint and message of every refusal in the module of violations."""
    target = os.environ.get("CARGO_TARGET_DIR", PROJECT / "target")
    run = subprocess.run(
        # Not --locked: the copy has more dependencies. All of them are in the lock file.
        ["cargo", "clippy", "--offline", "--package", PACKAGE, "--lib", "--message-format=json"],
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
        if lint == OTHER:
            continue
        for span in message["spans"]:
            if not span["is_primary"]:
                continue
            # A macro is defined elsewhere: its use counts.
            while span["expansion"] and not span["file_name"].endswith(MODULE):
                span = span["expansion"]["span"]
            if lint not in LINTS or not span["file_name"].endswith(MODULE):
                sys.exit(f"unexpected error: {message['rendered']}")
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
    failed = LINTS != {row[1] for row in rows}
    if failed:
        print(f"lints without a violation: {LINTS - {row[1] for row in rows}}")
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
