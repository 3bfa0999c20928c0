#!/usr/bin/env python3
"""What the binary is made of: a bill of materials (CycloneDX 1.5), and the licences of all of it.

    python3 scripts/sbom.py > ascend-doctor.cdx.json
    python3 scripts/sbom.py --licences > THIRD-PARTY.txt

From `cargo metadata` for the targets that are handed out and from Cargo.lock, whose checksums it
repeats. What only tests use is left out; what only builds use has the scope `excluded`. Equal
lock files give equal bytes: the document has no date, and a serial number that comes from its
content.
"""

import hashlib
import json
import subprocess
import sys
import tomllib
import uuid
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TARGETS = [f"{arch}-unknown-linux-{libc}" for arch in ("x86_64", "aarch64") for libc in ("gnu", "musl")]
# Files with terms, beside the sources of a crate or of the C that it brings.
TERMS = ("licen", "copying", "notice", "unlicense")
# How deep they lie.
DEPTH = 4
# What a toolchain adds to a program, which is no crate.
TOOLCHAIN = """\
The program also has parts of the Rust standard library and its compiler runtime (MIT OR
Apache-2.0, https://github.com/rust-lang/rust), of LLVM's libunwind (Apache-2.0 WITH
LLVM-exception), and, in the static builds, of musl (MIT, https://musl.libc.org).
"""


@dataclass
class Materials:
    """The packages of `cargo metadata` by id, and how they hang together."""

    root: str
    packages: dict[str, dict]
    needs: dict[str, set[str]]
    linked: set[str]
    checksums: dict[tuple[str, str], str]


def read() -> Materials:
    packages, needs, linked, built = {}, {}, set(), set()
    root = ""
    for target in TARGETS:
        command = ["cargo", "metadata", "--format-version", "1", "--locked"]
        command += ["--filter-platform", target]
        told = subprocess.run(command, check=True, cwd=PROJECT, capture_output=True).stdout
        metadata = json.loads(told)
        root = metadata["resolve"]["root"]
        packages |= {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
        macros = {package["id"] for package in metadata["packages"] if is_macro(package)}
        reach(nodes, root, {None}, macros, linked, needs)
        reach(nodes, root, {None, "build"}, set(), built, needs)
    lock = tomllib.loads((PROJECT / "Cargo.lock").read_text())
    checksums = {
        (package["name"], package["version"]): package["checksum"]
        for package in lock["package"]
        if "checksum" in package
    }
    kept = {id: package for id, package in packages.items() if id in linked | built}
    return Materials(root, kept, needs, linked, checksums)


def is_macro(package: dict) -> bool:
    """Whether it runs in the compiler: neither it nor what it needs is linked."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def reach(
    nodes: dict, start: str, kinds: set, not_: set[str], seen: set[str], needs: dict[str, set[str]]
) -> None:
    """Adds to `seen` what `start` needs by dependencies of these kinds, without `not_` and what
    only that needs, and to `needs` how."""
    open_ = [start]
    while open_:
        id = open_.pop()
        if id in seen:
            continue
        seen.add(id)
        for dep in nodes[id]:
            if kinds & {kind["kind"] for kind in dep["dep_kinds"]}:
                needs.setdefault(id, set()).add(dep["pkg"])
                open_ += {dep["pkg"]} - not_


def url(package: dict) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def cyclonedx(materials: Materials) -> str:
    def component(id: str, kind: str) -> dict:
        package = materials.packages[id]
        described = {
            "type": kind,
            "bom-ref": url(package),
            "name": package["name"],
            "version": package["version"],
            "scope": "required" if id in materials.linked else "excluded",
            "purl": url(package),
        }
        if package["license"]:
            # An old way of writing OR that is no SPDX.
            expression = package["license"].replace("/", " OR ")
            described["licenses"] = [{"expression": expression}]
        checksum = materials.checksums.get((package["name"], package["version"]))
        if checksum:
            described["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if package["repository"]:
            described["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
        return described

    ids = sorted(materials.packages, key=lambda id: url(materials.packages[id]))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(materials.root, "application")},
        "components": [component(id, "library") for id in ids if id != materials.root],
        "dependencies": [
            {
                "ref": url(materials.packages[id]),
                "dependsOn": sorted(url(materials.packages[on]) for on in materials.needs.get(id, ())),
            }
            for id in ids
        ],
    }
    content = json.dumps(document, sort_keys=True).encode()
    serial = uuid.UUID(bytes=hashlib.sha256(content).digest()[:16], version=4)
    document["serialNumber"] = f"urn:uuid:{serial}"
    return json.dumps(document, indent=2) + "\n"


def licences(materials: Materials) -> str:
    """The terms of all that is linked, each text once."""
    users: dict[str, list[str]] = {}
    lines = []
    for id in sorted(materials.linked, key=lambda id: url(materials.packages[id])):
        package = materials.packages[id]
        if package["source"] is None:
            continue
        named = f"{package['name']} {package['version']}"
        lines.append(f"{named}: {package['license'] or 'see below'}, {package['repository'] or ''}")
        for text in terms(Path(package["manifest_path"]).parent):
            users.setdefault(text, []).append(named)
    parts = ["The crates that ascend-doctor is linked with\n", "\n".join(lines) + "\n", TOOLCHAIN]
    for text, names in users.items():
        parts.append(f"{'=' * 80}\n{', '.join(names)}\n\n{text}\n")
    return "\n".join(parts)


def terms(directory: Path) -> list[str]:
    found = []
    for path in sorted(directory.rglob("*")):
        deep = len(path.relative_to(directory).parts) > DEPTH
        if not deep and path.is_file() and path.name.lower().startswith(TERMS):
            text = path.read_text(errors="replace").strip()
            # Crates differ in line ends and in spaces at them, which are no other terms.
            found.append("\n".join(line.rstrip() for line in text.splitlines()))
    return found


if __name__ == "__main__":
    wanted = licences if sys.argv[1:] == ["--licences"] else cyclonedx
    sys.stdout.write(wanted(read()))
