#!/usr/bin/env python3
"""Installs the packaged crates as `cargo install ascend-doctor` would, without a registry of them.

    python3 scripts/check_crates.py [--out DIR] [--release]

`cargo package` writes the archives of all crates, which a directory source then holds beside the
vendored dependencies. cargo sees that source in place of the public registry, so that it takes
every crate of this workspace from its archive: what a manifest forgets to include is missing.
Needs the public registry for `cargo vendor` only; builds for some minutes.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# Crates that only this repository uses.
PRIVATE = ["refresh", "xtask", "race", "sim-*", "ascend-doctor-web"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="keep everything in this directory")
    parser.add_argument("--release", action="store_true", help="build as users do, which takes longer")
    args = parser.parse_args()
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        install(args.out.resolve(), args.release)
        return
    with tempfile.TemporaryDirectory() as scratch:
        install(Path(scratch), args.release)


def install(at: Path, release: bool) -> None:
    env = dict(os.environ, CARGO_TARGET_DIR=str(at / "target"))
    source = at / "source"
    # cargo takes it for granted that a version in a registry never changes, and builds nothing again.
    for old in ("source", "target", "home"):
        shutil.rmtree(at / old, ignore_errors=True)
    vendor = ["cargo", "vendor", "--locked", "--versioned-dirs", "--quiet", source]
    subprocess.run(vendor, check=True, cwd=PROJECT, env=env, stdout=subprocess.DEVNULL)
    package = ["cargo", "package", "--locked", "--workspace", "--no-verify", "--allow-dirty", "--quiet"]
    package += [word for name in PRIVATE for word in ("--exclude", name)]
    subprocess.run(package, check=True, cwd=PROJECT, env=env)
    archives = sorted((at / "target/package").glob("*.crate"))
    for archive in archives:
        with tarfile.open(archive) as crate:
            crate.extractall(source, filter="data")
        checksum = {"files": {}, "package": hashlib.sha256(archive.read_bytes()).hexdigest()}
        (source / archive.stem / ".cargo-checksum.json").write_text(json.dumps(checksum))
    home = at / "home"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(
        '[source.crates-io]\nreplace-with = "here"\n'
        f'[source.here]\ndirectory = "{source}"\n'
        "[net]\noffline = true\n"
    )
    command = ["cargo", "install", "ascend-doctor", "--locked", "--root", at / "installed"]
    command += [] if release else ["--debug"]
    subprocess.run(command, check=True, cwd=at, env=env | {"CARGO_HOME": str(home)})
    program = at / "installed/bin/ascend-doctor"
    told = subprocess.run([program, "translate-error", "507035"], check=True, capture_output=True, text=True)
    print(f"{len(archives)} crates, installed: {told.stdout.splitlines()[0]}")


if __name__ == "__main__":
    main()
