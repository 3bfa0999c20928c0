#!/usr/bin/env python3
"""Regenerates data/known_wheels.tsv: what the published torch_npu wheels contain.

Every wheel of the package's index page gives one `w` line with the SHA-256 of the whole wheel.
For the wheels that `--select` names, RECORD is read by HTTP range requests (the way of pip's
lazy wheels: a few hundred kilobytes instead of the whole file) and gives

- one `f` line per ELF file, per `torch_npu/__init__.py` and per `torch_npu/version.py`;
- a digest of all rows of the package (see `record_digest`), which lets the reader tell whether
  the RECORD of an installation is the published one, so that every file that agrees with it
  is a published file.

The index is the one that pip is configured for. Nothing else than pip is needed; its internals
are used (tried with pip 23.2.1).

    python scripts/gen_known_wheels.py                  # the default selection
    python scripts/gen_known_wheels.py --select all     # every wheel
"""

import argparse
import base64
import csv
import datetime
import hashlib
import io
import re
import sys
import time
import zipfile
from pathlib import Path

from pip._internal.commands import create_command
from pip._internal.index.collector import LinkCollector, parse_links
from pip._internal.models.link import Link
from pip._internal.network.lazy_wheel import LazyZipOverHTTP
from pip._vendor.packaging.version import Version

PACKAGE = "torch_npu"
OUTPUT = Path(__file__).resolve().parent.parent / "data" / "known_wheels.tsv"
LIMIT = 1_000_000
# One request of this size usually holds the directory of the archive and RECORD, which the
# usual tools write last.
CHUNK = 400 * 1024
EXACT = {f"{PACKAGE}/__init__.py", f"{PACKAGE}/version.py"}
ELF = re.compile(r"\.so(\.[0-9.]+)?$")


def published(name):
    """The wheels on the index page of `name`: file name -> link."""
    command = create_command("download")
    options, _ = command.parse_args([name])
    session = command._build_session(options)
    collector = LinkCollector.create(session, options=options)
    wheels = {}
    for location in collector.search_scope.get_index_urls_locations(name):
        page = collector.fetch_response(Link(location))
        if page is None:
            continue
        for link in parse_links(page):
            if link.is_wheel and not link.is_yanked:
                wheels.setdefault(link.filename, link)
    return session, wheels


def parts(filename):
    """(version, python tag, platform) of a wheel's file name without build number."""
    stem = filename.removesuffix(".whl").split("-")
    assert len(stem) == 5, filename
    return stem[1], stem[2], stem[4]


# Versions that releases of vllm-ascend pin (its requirements.txt and pyproject.toml).
PINNED = {"2.5.1.post1", "2.7.1", "2.8.0", "2.8.0.post2", "2.9.0", "2.10.0.post2", "2.10.0.post4"}


def default_selection(filenames):
    """Of each release line (2.1.0, 2.3.1, …) the first and the newest final release, and what
    vllm-ascend pins, for CPython 3.10 to 3.12, on both architectures."""
    lines = {}
    for filename in filenames:
        version = Version(parts(filename)[0])
        if not version.is_prerelease:
            lines.setdefault(version.release, set()).add(version)
    chosen = {Version(pin) for pin in PINNED}
    for versions in lines.values():
        chosen.update([min(versions), max(versions)])
    return {
        filename
        for filename in filenames
        if Version(parts(filename)[0]) in chosen
        and parts(filename)[1] in {"cp310", "cp311", "cp312"}
    }


def b64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def record_rows(session, link):
    """The rows of the RECORD inside a remote wheel."""
    with LazyZipOverHTTP(link.url_without_fragment, session, chunk_size=CHUNK) as remote:
        with zipfile.ZipFile(remote) as archive:
            names = [n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/RECORD", n)]
            assert len(names) == 1, names
            text = archive.read(names[0]).decode("utf-8")
    return [row for row in csv.reader(io.StringIO(text)) if row]


def of_the_package(path):
    """Rows that an installer leaves as they are: nothing of `.dist-info` and `.data`."""
    top = path.split("/", 1)[0]
    return not (
        path.startswith(("/", "../"))
        or top.endswith((".dist-info", ".data"))
        or path.endswith(".pyc")
    )


def record_digest(rows):
    """SHA-256 over the sorted lines `path NUL hash NUL size LF` of the package's rows."""
    digest = hashlib.sha256()
    for path, value, size in sorted(tuple(row[:3]) for row in rows if of_the_package(row[0])):
        digest.update(f"{path}\0{value}\0{size}\n".encode())
    return digest.digest()


def interesting(rows):
    for path, value, size in sorted(tuple(row[:3]) for row in rows):
        if of_the_package(path) and (ELF.search(path) or path in EXACT):
            algorithm, _, digest = value.partition("=")
            assert algorithm == "sha256" and len(digest) == 43, (path, value)
            yield path, int(size), digest


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--select", choices=["default", "all"], default="default")
    arguments.add_argument("--output", type=Path, default=OUTPUT)
    arguments.add_argument("--pause", type=float, default=0.2, help="seconds between wheels")
    options = arguments.parse_args()

    session, wheels = published(PACKAGE)
    if not wheels:
        sys.exit("the index has no wheel of " + PACKAGE)
    chosen = set(wheels) if options.select == "all" else default_selection(wheels)
    order = sorted(wheels, key=lambda name: (Version(parts(name)[0]), *parts(name)[1:]))
    paths, lines, read = {}, [], 0
    for filename in order:
        link = wheels[filename]
        assert link.hash_name == "sha256", filename
        whole = b64(bytes.fromhex(link.hash))
        tags = filename.removesuffix(".whl").removeprefix(PACKAGE + "-")
        if filename not in chosen:
            lines.append(f"w\t{tags}\t{whole}")
            continue
        rows = record_rows(session, link)
        lines.append(f"w\t{tags}\t{whole}\t{b64(record_digest(rows))}")
        for path, size, digest in interesting(rows):
            number = paths.setdefault(path, len(paths))
            lines.append(f"f\t{number}\t{size}\t{digest}")
        read += 1
        print(f"{read}/{len(chosen)} {filename}", file=sys.stderr, flush=True)
        time.sleep(options.pause)

    head = [
        "known-wheels\t1",
        "# Generated by scripts/gen_known_wheels.py; the format is in data/src/known_wheels.rs.",
        f"package\t{PACKAGE}",
        f"as_of\t{datetime.date.today().isoformat()}",
        f"wheels\t{len(order)}\t{len(chosen)}",
    ]
    head += [f"p\t{path}" for path in paths]
    text = "\n".join(head + lines) + "\n"
    if len(text) > LIMIT:
        sys.exit(f"{len(text)} bytes are more than the {LIMIT} that may ship")
    options.output.write_text(text, encoding="utf-8")
    print(f"{options.output.name}: {len(order)} wheels, {read} with files, {len(text)} bytes")


if __name__ == "__main__":
    main()
