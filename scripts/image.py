#!/usr/bin/env python3
"""Builds the container image of deploy/container/Containerfile from the archives of package.py.

    python3 scripts/image.py                           # into target/image/ascend-doctor.tar, an OCI archive
    python3 scripts/image.py --context-only            # only the files that a builder needs
    python3 scripts/image.py --tag registry.example.org/ascend-doctor:0.1.0

Builds with buildah, podman or docker, whichever is installed; no base image is fetched. An image
for both architectures needs the archives of both; each is built for itself.
"""

import argparse
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

from package import NAME, Target

PROJECT = Path(__file__).resolve().parent.parent
# The names of architectures in images.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, default=PROJECT / "target/packages")
    parser.add_argument("--out", type=Path, default=PROJECT / "target/image")
    parser.add_argument("--tag", help="name of the image")
    parser.add_argument("--context-only", action="store_true", help="only write the files for a builder")
    args = parser.parse_args()
    version = tomllib.loads((PROJECT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    context = args.out / "context"
    found = unpack(args.packages, context, version)
    if not found:
        sys.exit(f"{args.packages} has no architecture with both archives: run scripts/package.py")
    shutil.copy(PROJECT / "LICENSE", context)
    shutil.copy(args.packages / "THIRD-PARTY.txt", context)
    print(f"{context}: {', '.join(found)}", flush=True)
    if args.context_only:
        return
    builder = next((path for path in map(shutil.which, ("buildah", "podman", "docker")) if path), None)
    if builder is None:
        sys.exit("install buildah, podman or docker, or use --context-only")
    tag = args.tag or f"localhost/{NAME}:{version}"
    for architecture in found:
        build(builder, architecture, tag, version, context, args.out)


def unpack(packages: Path, context: Path, version: str) -> list[str]:
    """Copies the programs of all architectures with both archives, and names them."""
    shutil.rmtree(context, ignore_errors=True)
    found = []
    for arch, name in ARCHITECTURES.items():
        tops = {libc: Target(arch, libc).archive(version) for libc in ("musl", "gnu")}
        archives = {libc: packages / f"{top}.tar.gz" for libc, top in tops.items()}
        if not all(path.exists() for path in archives.values()):
            continue
        for libc, path in archives.items():
            target = context / name / libc / NAME
            target.parent.mkdir(parents=True)
            with tarfile.open(path) as archive:
                target.write_bytes(archive.extractfile(f"{tops[libc]}/{NAME}").read())
            target.chmod(0o755)
        found.append(name)
    return found


def build(builder: str, architecture: str, tag: str, version: str, context: Path, out: Path) -> None:
    """Builds the image of an architecture, and saves it as an OCI archive where the builder can."""
    git = ["git", "-C", PROJECT, "log", "-1", "--format=%H %cI"]
    revision, created = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split()
    options = ["--file", PROJECT / "deploy/container/Containerfile", "--tag", tag]
    options += ["--platform", f"linux/{architecture}"]
    values = {"TARGETARCH": architecture, "VERSION": version, "REVISION": revision, "CREATED": created}
    for name, value in values.items():
        options += ["--build-arg", f"{name}={value}"]
    program = Path(builder).name
    # Nothing runs in the build, so that no rights for containers are needed.
    isolation = ["--isolation", "chroot"] if program == "buildah" else []
    subprocess.run([builder, "build", *isolation, *options, context], check=True)
    archive = out / f"{NAME}-{version}-{architecture}.oci.tar"
    archive.unlink(missing_ok=True)
    if program == "docker":
        subprocess.run([builder, "save", "--output", archive, tag], check=True)
    elif program == "podman":
        subprocess.run([builder, "save", "--format", "oci-archive", "--output", archive, tag], check=True)
    else:
        subprocess.run([builder, "push", "--quiet", tag, f"oci-archive:{archive}:{tag}"], check=True)
    print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
