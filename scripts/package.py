#!/usr/bin/env python3
"""Builds everything that is handed out, from a clean clone, by one command.

    python3 scripts/package.py                 # all targets, into target/packages
    python3 scripts/package.py aarch64-gnu     # one of them
    python3 scripts/package.py --fast          # without link-time optimization: to try the steps, not to ship

Needs rustc of the version in Cargo.toml with rustup (for the standard library of the targets),
python3 with venv, and the package registries that both are configured for. zig, which links
for the old C library, and maturin come as Python packages and stay in a cache.

| what | from |
| --- | --- |
| wheels (manylinux2014, musllinux) | maturin, linked against glibc 2.17 or statically against musl |
| .deb, .tar.gz (gnu) | the very binary of the wheel, with manual pages, completions, licences |
| .tar.gz (musl) | the static binary: starts anywhere, cannot load CANN for `verify` |
| ascend-doctor-VERSION.cdx.json, THIRD-PARTY.txt | scripts/sbom.py |
| SHA256SUMS | of all of these |

Equal sources give equal bytes: archives carry the time of the commit, paths of the build machine
are mapped away (scripts/reproducible.sh compares two builds). Afterwards `cargo test --test
packages archives` checks every file and runs the programs; --no-test leaves that out.
"""

import argparse
import gzip
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

import sbom

PROJECT = Path(__file__).resolve().parent.parent
NAME = "ascend-doctor"
# What links, and what makes wheels. zig has the symbol versions of every glibc in one file.
TOOLS = ["ziglang==0.17.1", "cargo-zigbuild==0.24.0", "maturin==1.16.0"]
# The wheels for each C library. The static program runs on every musl.
WHEELS = {"gnu": "manylinux2014", "musl": "musllinux_1_1"}
# The oldest C library: CentOS 7, and the oldest hosts that CANN 8 was released for.
GLIBC = "2.17"


@dataclass(frozen=True)
class Target:
    arch: str
    libc: str

    @property
    def name(self) -> str:
        return f"{self.arch}-{self.libc}"

    @property
    def triple(self) -> str:
        return f"{self.arch}-unknown-linux-{self.libc}"

    def archive(self, version: str) -> str:
        """The archive without its ending, and the directory in it: `cargo binstall` and image.py look for it."""
        return f"{NAME}-{version}-{self.arch}-linux-{self.libc}"

    @property
    def debian(self) -> str:
        return {"x86_64": "amd64", "aarch64": "arm64"}[self.arch]


TARGETS = [Target(arch, libc) for libc in ("gnu", "musl") for arch in ("x86_64", "aarch64")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(t.name for t in TARGETS))
    parser.add_argument("--out", type=Path, default=PROJECT / "target/packages")
    parser.add_argument("--fast", action="store_true", help="build without link-time optimization: nothing to ship")
    parser.add_argument("--no-test", action="store_true", help="do not look at what was built")
    args = parser.parse_args()
    unknown = set(args.targets) - {target.name for target in TARGETS}
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    chosen = [target for target in TARGETS if not args.targets or target.name in args.targets]

    out = args.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    profile = "release" if args.fast else "dist"
    env = environment()
    for target in chosen:
        standard_library(target)
    version = tomllib.loads((PROJECT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    time = int(env["SOURCE_DATE_EPOCH"])

    print("== bill of materials, licences", flush=True)
    materials = sbom.read()
    (out / f"{NAME}-{version}.cdx.json").write_text(sbom.cyclonedx(materials))
    (out / "THIRD-PARTY.txt").write_text(sbom.licences(materials))

    binaries = {}
    for target in chosen:
        print(f"== {target.name}", flush=True)
        binaries[target] = build(target, profile, out, env)
    # Completions and manual pages are the same on all of them.
    with tempfile.TemporaryDirectory() as scratch:
        words = words_of(runnable(binaries, env), Path(scratch), env)
    reference = reference_pages()
    for target, binary in binaries.items():
        tarball(target, binary, words, reference, version, out, time)
        if target.libc == "gnu":
            debian(target, binary, words, version, out, time)
    checksums(out)
    print(sizes(out, binaries))
    if not args.no_test:
        test(out, fast=args.fast)


def environment() -> dict[str, str]:
    """The environment of all builds: the tools, and nothing of this machine in the result."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ascend-doctor-tools"
    digest = hashlib.sha256(" ".join(TOOLS).encode()).hexdigest()[:12]
    venv = cache / digest
    if not (venv / "done").exists():
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "--quiet", *TOOLS], check=True)
        (venv / "done").touch()
    commit = ["git", "-C", PROJECT, "log", "-1", "--format=%ct"]
    time = subprocess.run(commit, capture_output=True, text=True, check=False).stdout.strip()
    env = dict(os.environ)
    env["PATH"] = f"{venv}/bin:{env['PATH']}"
    env.setdefault("SOURCE_DATE_EPOCH", time or "0")
    env.setdefault("CARGO_TARGET_DIR", str(PROJECT / "target/package"))
    env.update(flags(env["CARGO_TARGET_DIR"]))
    return env


def flags(target: str) -> dict[str, str]:
    """Keeps the directories of this machine out of panic messages, in Rust and in C."""
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    # The last one that fits is used.
    maps = [(cargo, "/cargo"), (str(PROJECT), f"/{NAME}"), (target, "/target")]
    rust = [f"--remap-path-prefix={path}={name}" for path, name in maps]
    c = [f"-ffile-prefix-map={path}={name}" for path, name in reversed(maps)]
    return {"RUSTFLAGS": " ".join(rust), "CFLAGS": " ".join(c)}


def standard_library(target: Target) -> None:
    """Sees to it that there is a standard library for the target."""
    where = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", target.triple],
        capture_output=True, text=True, check=True, cwd=PROJECT,
    ).stdout.strip()  # fmt: skip
    if list(Path(where).glob("libstd-*.rlib")):
        return
    try:
        subprocess.run(["rustup", "target", "add", target.triple], check=True, cwd=PROJECT)
    except (FileNotFoundError, subprocess.CalledProcessError):
        sys.exit(f"there is no standard library of {target.triple} for this rustc: install it first")


def build(target: Target, profile: str, out: Path, env: dict[str, str]) -> Path:
    """Builds the binary with the wheel around it."""
    command = ["maturin", "build", "--locked", "--profile", profile, "--zig", "--target", target.triple]
    command += ["--compatibility", WHEELS[target.libc], "--out", out]
    subprocess.run(command, check=True, cwd=PROJECT, env=env)
    directory = {"dev": "debug"}.get(profile, profile)
    return Path(env["CARGO_TARGET_DIR"]) / target.triple / directory / NAME


def runnable(binaries: dict[Target, Path], env: dict[str, str]) -> list[str | Path]:
    """How one of them is run here: as it is, in qemu, or else one that is built for this."""
    for target, binary in binaries.items():
        if target.arch == platform.machine():
            return [binary]
    qemu(env)
    if "ASCEND_DOCTOR_QEMU" in env:
        return [env["ASCEND_DOCTOR_QEMU"], next(iter(binaries.values()))]
    build = ["cargo", "build", "--locked", "--bin", NAME]
    subprocess.run(build, check=True, cwd=PROJECT, env=env)
    return [Path(env["CARGO_TARGET_DIR"]) / "debug" / NAME]


def words_of(program: list[str | Path], scratch: Path, env: dict[str, str]) -> dict[str, bytes]:
    """Manual pages and completions, by their places below `share/`."""
    subprocess.run([*program, "man", "--output-dir", scratch], check=True, env=env)
    files = {f"man/man1/{page.name}.gz": packed(page.read_bytes()) for page in scratch.iterdir()}
    for shell, place in {
        "bash": f"bash-completion/completions/{NAME}",
        "zsh": f"zsh/vendor-completions/_{NAME}",
        "fish": f"fish/vendor_completions.d/{NAME}.fish",
    }.items():
        command = [*program, "completions", shell]
        files[place] = subprocess.run(command, check=True, capture_output=True, env=env).stdout
    return files


def reference_pages() -> dict[str, bytes]:
    """The pages of docs/reference/, which are not in the repository: path below it, content."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["cargo", "run", "--locked", "--quiet", "--example", "gen_docs", "--", scratch]
        # Not in the environment of the packages: it runs here, and the tests compile the same.
        subprocess.run(command, check=True, cwd=PROJECT)
        pages = sorted(Path(scratch).rglob("*.md"))
        return {str(page.relative_to(scratch)): page.read_bytes() for page in pages}


def tarball(
    target: Target,
    binary: Path,
    words: dict[str, bytes],
    reference: dict[str, bytes],
    version: str,
    out: Path,
    time: int,
) -> None:
    """For machines without a package manager: everything in one directory."""
    top = target.archive(version)
    files = {f"{top}/{NAME}": (binary.read_bytes(), 0o755)}
    for path, content in words.items():
        files[f"{top}/share/{path}"] = (content, 0o644)
    for name in ("LICENSE", "README.md", "README.zh.md", "CHANGELOG.md", "SECURITY.md"):
        files[f"{top}/{name}"] = ((PROJECT / name).read_bytes(), 0o644)
    # The playbook of deploy/ keeps reports beside itself; they are nobody else's.
    deploy = [path for path in (PROJECT / "deploy").glob("*/*") if path.is_file()]
    schemas = (PROJECT / "docs/schema").glob("*.json")
    # A directory docs/reference of the clone may be older than the program.
    generated = PROJECT / "docs/reference"
    pages = [page for page in (PROJECT / "docs").rglob("*.md") if generated not in page.parents]
    for path, content in reference.items():
        files[f"{top}/docs/reference/{path}"] = (content, 0o644)
    for page in sorted([*pages, *schemas, *deploy]):
        mode = 0o755 if page in deploy and os.access(page, os.X_OK) else 0o644
        files[f"{top}/{page.relative_to(PROJECT)}"] = (page.read_bytes(), mode)
    files[f"{top}/THIRD-PARTY.txt"] = ((out / "THIRD-PARTY.txt").read_bytes(), 0o644)
    (out / f"{top}.tar.gz").write_bytes(packed(archive(files, time)))


def debian(
    target: Target, binary: Path, words: dict[str, bytes], version: str, out: Path, time: int
) -> None:
    """A package for dpkg: an `ar` of a version, what describes it, and the files."""
    doc = f"usr/share/doc/{NAME}"
    copyright = (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: {NAME}\n\n"
        "Files: *\nCopyright: the authors of ascend-doctor\nLicense: Apache-2.0\n"
        " See /usr/share/common-licenses/Apache-2.0. The crates that are compiled in have\n"
        f" licences of their own: /{doc}/THIRD-PARTY.txt.gz\n"
    )
    files = {f"usr/bin/{NAME}": (binary.read_bytes(), 0o755)}
    for path, content in words.items():
        files[f"usr/share/{path}"] = (content, 0o644)
    files[f"{doc}/copyright"] = (copyright.encode(), 0o644)
    files[f"{doc}/changelog.gz"] = (packed((PROJECT / "CHANGELOG.md").read_bytes()), 0o644)
    files[f"{doc}/THIRD-PARTY.txt.gz"] = (packed((out / "THIRD-PARTY.txt").read_bytes()), 0o644)
    manifest = tomllib.loads((PROJECT / "Cargo.toml").read_text())["package"]
    control = (
        f"Package: {NAME}\n"
        f"Version: {version}\n"
        f"Architecture: {target.debian}\n"
        "Maintainer: the authors of ascend-doctor <ascend-doctor@localhost>\n"
        f"Installed-Size: {sum(len(content) for content, _ in files.values()) // 1024 + 1}\n"
        f"Depends: libc6 (>= {GLIBC})\n"
        "Section: admin\nPriority: optional\n"
        f"Description: {manifest['description'].split(':')[0]}\n"
        f" {manifest['description']}.\n"
    )
    sums = "".join(
        f"{hashlib.md5(content, usedforsecurity=False).hexdigest()}  {path}\n"
        for path, (content, _) in files.items()
    )
    about = {"./control": (control.encode(), 0o644), "./md5sums": (sums.encode(), 0o644)}
    data = {f"./{path}": file for path, file in files.items()}
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": packed(archive(about, time)),
        "data.tar.gz": packed(archive(data, time)),
    }
    package = b"!<arch>\n"
    for name, content in members.items():
        package += f"{name:16}{time:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
        package += content + b"\n" * (len(content) % 2)
    (out / f"{NAME}_{version}_{target.debian}.deb").write_bytes(package)


def archive(files: dict[str, tuple[bytes, int]], time: int) -> bytes:
    """A tar of files that belong to root, with their directories, in a fixed order."""
    buffer = io.BytesIO()
    made = set()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, (content, mode) in sorted(files.items()):
            for parent in [*reversed(Path(path).parents)][1:]:
                name = f"./{parent}/" if path.startswith("./") else f"{parent}/"
                if name not in made:
                    made.add(name)
                    entry = member(name, 0o755, time)
                    entry.type = tarfile.DIRTYPE
                    tar.addfile(entry)
            entry = member(path, mode, time)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def member(name: str, mode: int, time: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.mtime = mode, time
    entry.uname = entry.gname = "root"
    return entry


def packed(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


def checksums(out: Path) -> None:
    """As `sha256sum -c SHA256SUMS` reads it."""
    lines = []
    for path in sorted(out.iterdir()):
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    (out / "SHA256SUMS").write_text("".join(lines))


def sizes(out: Path, binaries: dict[Target, Path]) -> str:
    """The sizes of the packages, for docs/performance.md."""
    rows = [(f"the program, {target.name}", binary) for target, binary in binaries.items()]
    rows += [(f"`{path.name}`", path) for path in sorted(out.iterdir())]
    lines = [f"| {name} | {path.stat().st_size / 1e6:.1f} MB |\n" for name, path in rows]
    return "| file | size |\n| --- | ---: |\n" + "".join(lines)


def test(out: Path, fast: bool) -> None:
    env = dict(os.environ, ASCEND_DOCTOR_PACKAGES=str(out))
    if fast:
        env["ASCEND_DOCTOR_PACKAGES_FAST"] = "1"
    qemu(env)
    command = ["cargo", "test", "--locked", "--test", "packages", "archives", "--", "--nocapture"]
    subprocess.run(command, check=True, cwd=PROJECT, env=env)


def qemu(env: dict[str, str]) -> None:
    """What runs programs of the other architecture: Debian's qemu and C library, unpacked into
    the cache where they are not installed. Without apt, the tests say that they skip this."""
    other = "x86_64" if platform.machine() == "aarch64" else "aarch64"
    cross = {"aarch64": "libc6-arm64-cross", "x86_64": "libc6-amd64-cross"}[other]
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ascend-doctor-tools"
    root = cache / f"qemu-{other}"
    if not (root / "done").exists() and shutil.which("apt-get"):
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            get = ["apt-get", "download", "--quiet", "qemu-user-static", cross]
            if subprocess.run(get, cwd=scratch, check=False).returncode != 0:
                return
            for package in Path(scratch).glob("*.deb"):
                subprocess.run(["dpkg-deb", "-x", package, Path(scratch) / "x"], check=True)
            unpacked = Path(scratch) / "x/usr"
            shutil.copy(unpacked / f"bin/qemu-{other}-static", root / "qemu")
            shutil.copytree(unpacked / f"{other}-linux-gnu/lib", root / "lib", symlinks=True)
        (root / "done").touch()
    if (root / "done").exists():
        env.setdefault("ASCEND_DOCTOR_QEMU", str(root / "qemu"))
        env.setdefault("QEMU_LD_PREFIX", str(root))


if __name__ == "__main__":
    main()
