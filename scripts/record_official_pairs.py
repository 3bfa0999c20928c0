#!/usr/bin/env python3
"""Record what the default package index resolves of the official pairs: data/official_pairs.tsv.

A resolver (uv, from the metadata of packages, without downloading them) answers for every pair of
data/compat_matrix.toml, Python and architecture whether the index can satisfy the pip command. The
options that the official installation page prints come from the pages of the releases.

    pip install uv
    python3 scripts/record_official_pairs.py --repos ~/clones --wheels ~/wheels [--only vllm-ascend]

Prints the SHA-256 for data/sources.toml.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import tarfile
import tomllib

from packaging.version import Version

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
OUT = DATA / "official_pairs.tsv"
COLUMNS = ["package", "version", "requirements", "python", "arch", "verdict", "reason", "official", "source"]
ARCHS = ["aarch64", "x86_64"]
# The C library of Ubuntu 22.04, the oldest system of the images of vllm-ascend.
PLATFORM = "manylinux_2_35"
PAGE = "docs/source/installation.md"
CPU_INDEX = "download.pytorch.org/whl/cpu"
HEAD = """\
# Owner: recorded. Written by `scripts/record_official_pairs.py`; date, environment and SHA-256: sources.toml.
# What a resolver finds for each official pair on the default public package index, from wheels only.
# verdict: resolves, conflict (two packages require different versions), missing (the index lacks a package,
# or a wheel of it). official: the options that the official installation page prints. They are
# copied, not resolved here. python: the one that was resolved for, of those with a wheel."""


def index():
    """Python versions with a wheel by package and version."""
    found = {}
    for line in (DATA / "index.tsv").read_text().splitlines():
        cells = line.split("\t")
        if not line.startswith("#") and cells[0] != "package":
            found[cells[0], cells[1]] = [python for python in cells[2].split(",") if python]
    return found


def documented(text):
    """Python versions of a range such as `>=3.9,<3.12`."""
    from packaging.specifiers import SpecifierSet
    spec = SpecifierSet(text.replace(" ", "")) if text else SpecifierSet(">=3.10,<3.12")
    return [f"3.{minor}" for minor in range(8, 13) if f"3.{minor}.9" in spec]


def pairs(matrix, wheels):
    """Package, version, requirement set, Python versions, source row."""
    plugins = {}
    for row in matrix["vllm_ascend"]:
        pythons = wheels.get(("vllm-ascend", row["version"])) or documented(row.get("python", ""))
        yield "vllm-ascend", row["version"], f"vllm-ascend=={row['version']}", pythons, row["source"]
        for vllm in row["vllm"]:
            wanted = f"vllm=={vllm} vllm-ascend=={row['version']}"
            yield "vllm-ascend", row["version"], wanted, pythons, row["source"]
            known, source = plugins.get(vllm, (set(), row["source"]))
            plugins[vllm] = (known | set(pythons), source)
    for row in matrix["torch_npu"]:
        if row["level"] == "recommended" or (row["level"] == "derived-from-tag" and row.get("wheels") and row.get("cann")):
            built = {python for pythons in row.get("wheels", {}).values() for python in pythons}
            pythons = sorted(built | set(row.get("python_documented", [])), key=Version)
            wanted = f"torch=={row['torch']} torch_npu=={row['version']}"
            yield "torch-npu", row["version"], wanted, pythons, row["source"]
    for vllm, (pythons, source) in plugins.items():
        yield "vllm", vllm, f"vllm=={vllm}", sorted(pythons, key=Version), source
    for row in matrix["mindspore"]:
        ends = [int(minor) for minor in re.findall(r"3\.(\d+)", row.get("python_documented", "3.9"))]
        pythons = row.get("python") or [f"3.{minor}" for minor in range(ends[0], ends[-1] + 1)]
        yield "mindspore", row["version"], f"mindspore=={row['version']}", pythons, row["source"]


def page(version, repos, archives):
    """The official installation page of a version of vllm-ascend, and its name."""
    repository = next(path for path in (repos / "vllm-project+vllm-ascend/repo", repos / "vllm-project/vllm-ascend",
                                        repos / "vllm-project+vllm-ascend") if path.exists())
    git = ["git", "--git-dir", repository if (repository / "HEAD").exists() else repository / ".git"]
    shown = subprocess.run([*git, "show", f"v{version}:{PAGE}"], capture_output=True, text=True)
    if shown.returncode == 0:
        return shown.stdout, f"vllm-ascend@v{version}:{PAGE}"
    archive = archives / f"vllm_ascend-{version}.tar.gz"
    # Newer archives have the page in a folder of the guide, and its commands in a file of their own.
    wanted = re.compile(r"docs/source/(.*/)?installation(/install_vllm_ascend\.inc)?\.md$")
    with tarfile.open(archive) as tar:
        found = {path: tar.extractfile(member).read().decode() for member in tar
                 if wanted.match(path := member.name.partition("/")[2])}
    if found:
        return "\n".join(found.values()), f"package index: {archive.name}: {', '.join(found)}"
    raise SystemExit(f"no installation page of vllm-ascend {version}")


def options(text, arch):
    """The extra indexes that the page prints for a package that pip installs."""
    found = []
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if not re.search(r"pip install|pip config set global\.extra-index-url", line):
            continue
        for urls in re.findall(r"extra-index(?:-url)?[ =]\"?((?:https://\S+\s*)+)", line):
            for url in urls.split():
                url = url.strip('"`').rstrip("/")
                # The CPU builds of torch are for x86_64, unless the page names them for all.
                fits = CPU_INDEX not in url or arch == "x86_64" or "vllm-ascend==" in line
                if fits and url not in found:
                    found.append(url)
    return " ".join(f"--extra-index-url {url}" for url in found)


def resolve(uv, wanted, python, arch):
    command = [uv, "pip", "compile", "-", "--python-version", python, "--python-platform", f"{arch}-{PLATFORM}",
               "--only-binary", ":all:", "--no-header", "--no-annotate", "--no-config", "--quiet"]
    text = ""
    # pip accepts a pre-release that another package pins; uv only if it is asked to.
    for more in ([], ["--prerelease", "allow"]):
        done = subprocess.run(command + more, input=wanted.replace(" ", "\n"), capture_output=True, text=True)
        if done.returncode == 0:
            return "resolves", ""
        text = " ".join(done.stderr.split())
        if "No solution found" not in text:
            raise SystemExit(f"{wanted}: {text}")
        if "pre-release" not in text:
            break
    return judge(text)


def chosen(pythons):
    """The Python that speaks for a pair: what the index lacks seldom depends on it."""
    return "3.11" if "3.11" in pythons else pythons[-1] if pythons else "3.11"


def resolve_once(args, key, stored):
    """The answer for `REQUIREMENTS PYTHON ARCH`; stored ones are not asked again."""
    if key not in stored and not args.stored_only:
        wanted, python, arch = key.rsplit(" ", 2)
        stored[key] = resolve(args.uv, wanted, python, arch)
        if args.answers:
            part = args.answers.with_suffix(f".{hash(key)}")
            part.write_text(json.dumps(dict(stored), indent=0, sort_keys=True))
            part.replace(args.answers)
    return stored.get(key)


def judge(text):
    """Verdict and short reason of a failed resolution."""
    text = text.split("hint:")[0]
    name, exact = r"([A-Za-z][\w.-]*)", r"([A-Za-z][\w.-]*)==([\w.+!]*\w)"
    for pattern, reason in [
        (rf"there (?:is|are) no versions? of {exact}", "{0} {1}"),
        (rf"{name} was not found", "{0}"),
        (rf"{exact} has no wheels with a matching [\w ]*tag", "{0} {1}: no wheel"),
        (rf"all versions of {name} have no wheels with a matching", "{0}: no wheel"),
        (rf"{exact} has no (?:usable|compatible) wheels", "{0} {1}: source archive only"),
        (rf"{name}(?:==([\w.+!]*\w))? was yanked", "{0} {1}: withdrawn"),
    ]:
        if found := re.search(pattern, text):
            return "missing", reason.format(*found.groups())
    if found := re.search(rf"the requested Python version .*? does not satisfy Python(\S+) and {exact} depends on", text):
        return "conflict", f"{found[2]} {found[3]} requires Python {found[1].rstrip(',')}"
    depends = re.findall(r"([A-Za-z][\w.-]*==[\w.+!]*\w) depends on (\S+?)(?= and | or |,|\.? |$)", text)
    by_name = collections.defaultdict(list)
    for owner, needed in depends:
        by_name[re.match(r"[\w-]+", needed)[0]].append((owner, needed))
    for name, needs in by_name.items():
        if len({needed for _, needed in needs}) > 1:
            return "conflict", "; ".join(f"{owner} requires {needed}" for owner, needed in dict.fromkeys(needs))
    return "conflict", "?" + text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repos", type=pathlib.Path, required=True)
    parser.add_argument("--wheels", type=pathlib.Path, required=True, help="source archives of vllm-ascend without a tag")
    parser.add_argument("--uv", default="uv")
    parser.add_argument("--only", help="only this package; prints the rows")
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--stored-only", action="store_true", help="write what --answers has")
    parser.add_argument("--answers", type=pathlib.Path, help="answers of an interrupted run, continued")
    args = parser.parse_args()
    matrix = tomllib.loads((DATA / "compat_matrix.toml").read_text())
    stored = json.loads(args.answers.read_text()) if args.answers and args.answers.exists() else {}
    tasks = [(pair, chosen(pair[3]), arch) for pair in pairs(matrix, index()) for arch in ARCHS
             if args.only in (None, pair[0])]
    keys = [f"{pair[2]} {python} {arch}" for pair, python, arch in tasks]
    with concurrent.futures.ThreadPoolExecutor(args.parallel) as pool:
        answers = list(pool.map(lambda key: resolve_once(args, key, stored), keys))
    sources, groups = [], {}
    flat = [(*task, *answer) for task, answer in zip(tasks, answers) if answer]
    for (package, version, wanted, _, source), python, arch, verdict, reason in flat:
        official = ""
        if package == "vllm-ascend":
            text, place = page(version, args.repos, args.wheels)
            official = options(text, arch)
            source = f"{source}; options: {place}" if official else source
        elif package == "torch-npu" and arch == "x86_64" and reason.startswith("torch "):
            # README.md of Ascend/pytorch prints it with the command for torch.
            official = f"--index-url https://{CPU_INDEX}"
            source = f"{source}; options: Ascend/pytorch@master:README.md"
        if source not in sources:
            sources.append(source)
        key = (package, version, wanted, verdict, reason, official, sources.index(source))
        groups.setdefault(key, {}).setdefault(python, []).append(arch)
    rows = []
    for (package, version, wanted, verdict, reason, official, source), pythons in groups.items():
        merged = {}
        for python, archs in pythons.items():
            merged.setdefault(",".join(archs), []).append(python)
        for archs, pythons in merged.items():
            cells = [package, version, wanted, ",".join(pythons), archs, verdict, reason, official, str(source)]
            rows.append("\t".join(cells))
    lines = [HEAD] + [f"# source {number}: {source}" for number, source in enumerate(sources)] + ["\t".join(COLUMNS)] + rows
    text = "\n".join(lines) + "\n"
    if args.only:
        print("\n".join(rows))
        return
    OUT.write_text(text)
    print(len(rows), "rows", len(flat), "answers", hashlib.sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    main()
