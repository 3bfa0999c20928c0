#!/usr/bin/env python3
"""Validates every output format of every subcommand with the parsers and schemas of others.

Runs the program over small inputs that this script writes, in each format, and reads the output:

- JSON and JSON lines: `docs/schema/`, by the package jsonschema
- SARIF: the official schema 2.1.0, which the crate serde-sarif contains
- JUnit: the XSD of the xUnit plugin of Jenkins, which the source package of pytest contains
- OpenMetrics: the reference parser of prometheus_client
- HTML: html5lib, strict
- GitHub annotations, concise lines, lines of compilers, one line, Markdown, text: rules below
- CSV: the csv module of Python, strict

Then plants one error per format, and fails if a validator accepts it. Installs its packages into a
virtual environment in the cache, and nothing globally.

    python3 scripts/validate_formats.py [--program FILE] [--simulator DIR] [--cache DIR]
"""

import argparse
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = [
    "html5lib==1.1",
    "jsonschema==4.26.0",
    "lxml==6.1.3",
    "markdown-it-py==4.2.0",
    "prometheus_client==0.26.0",
]
# Its source package contains the XSD; it is unpacked, not installed.
PYTEST = "pytest==9.2.0"
XSD = "testing/example_scripts/junit-10.xsd"

FORMATS = "text json jsonl junit sarif markdown html openmetrics line concise github gcc".split()
# `--query` with the keys that follow it; only these subcommands have the format csv.
QUERIES = [
    "check --sysroot root --query host,verdict,driver,cann,npu.index",
    "check --sysroot hostile --query host,verdict,findings",
    "fleet merge reports --query host,verdict,driver",
]
# Every subcommand that writes a report.
REPORTS = [
    "check --sysroot root",
    "check --sysroot root --profile train --lang zh",
    "check --sysroot hostile",
    "check --sysroot root --require-npu --config skip.toml --verbose",
    "compat --sysroot root --torch 2.7.1",
    "compat --sysroot root --torch 2.7.1 --cann 7.0.0",
    "translate-error 507035 no-such-code",
    "translate-error --list-codes hccl",
    "translate-error oom.log --why-not",
    "translate-error quiet.log",
    "convert x.py hostile.py",
    "convert -r written --mark --force",
    "convert -r written --undo",
    "audit-ops x.py ops.txt --all",
    "audit-ops x.py --suggest --lang zh",
    "verify",
    "fleet merge reports",
    "data status",
    "explain 507035 SCAN-READ CV0017",
    "explain --list",
    "manifest wheel-check wheels",
]
# With the libraries that `cargo test` builds.
SIMULATED = [
    ("verify", {"ASCSIM_DEVICES": "2"}),
    ("verify --rung compute", {"ASCSIM_FAULT": "kernel:flip"}),
]
# Documents of one format.
SINGLE = [
    ("json", "check --sysroot root --facts-only"),
    ("json", "manifest create wheel"),
    ("json", "bundle --sysroot root --add oom.log -o {out}.tgz"),
    ("html", "report reports/a.json reports/b.json"),
    ("html", "report codes.json explain.json --lang zh"),
]
# Tags that the program writes into Markdown.
OWN_HTML = re.compile(r"(?:</?(?:details|sub)>|<summary>[^<>]*</summary>|\s)+")
LIBRARIES = ["libascendcl.so", "libnnopbase.so", "libopapi.so"]


def environment(cache: Path) -> None:
    """Runs this script again with the Python of a virtual environment that has the packages."""
    tag = re.sub(r"[^0-9A-Za-z.]+", "-", "_".join(PACKAGES))
    venv = cache / f"formats-{sys.version_info.major}.{sys.version_info.minor}-{tag}"
    python = venv / "bin/python"
    if Path(sys.prefix) == venv:
        return
    if not (venv / "complete").exists():
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", *PACKAGES], check=True)
        (venv / "complete").touch()
    os.execv(python, [str(python), *sys.argv])


def junit_xsd(cache: Path) -> Path:
    """The XSD out of the source package, which is fetched once."""
    path = cache / (PYTEST.replace("==", "-") + "-junit-10.xsd")
    if not path.exists():
        with tempfile.TemporaryDirectory() as scratch:
            pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
            options = ["--no-deps", "--no-binary", ":all:", "--dest", scratch]
            subprocess.run([*pip, "download", *options, PYTEST], check=True)
            (archive,) = Path(scratch).glob("*.tar.gz")
            with tarfile.open(archive) as source:
                (name,) = [name for name in source.getnames() if name.endswith(XSD)]
                path.write_bytes(source.extractfile(name).read())
    return path


def sarif_schema() -> dict:
    """The official schema, from the sources of the crate that has the types."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    done = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    packages = json.loads(done.stdout)["packages"]
    (crate,) = [package for package in packages if package["name"] == "serde-sarif"]
    schema = json.loads((Path(crate["manifest_path"]).parent / "src/schema.json").read_text())
    assert schema["title"].startswith("Static Analysis Results Format (SARIF) Version 2.1.0")
    return schema


class Refused(Exception):
    """The output is no document of its format."""


def ensure(true: bool, what: str) -> None:
    if not true:
        raise Refused(what)


class Validators:
    """One method per format; each raises if the output is invalid."""

    def __init__(self, cache: Path) -> None:
        import jsonschema
        from lxml import etree

        draft = jsonschema.Draft202012Validator
        self.schemas = {}
        for path in (PROJECT / "docs/schema").iterdir():
            schema = json.loads(path.read_text())
            draft.check_schema(schema)
            name = schema["properties"]["schema"].get("const")
            self.schemas[name] = draft(schema)
        sarif = sarif_schema()
        self.sarif_schema = jsonschema.validators.validator_for(sarif)(sarif)
        self.xsd = etree.XMLSchema(etree.parse(str(junit_xsd(cache))))
        matcher = json.loads((PROJECT / "deploy/github/ascend-doctor-matcher.json").read_text())
        self.matcher = re.compile(matcher["problemMatcher"][0]["pattern"][0]["regexp"])

    def json(self, text: str) -> None:
        document = json.loads(text, parse_constant=lambda name: ensure(False, name))
        schema = self.schemas.get(document.get("schema"))
        ensure(schema is not None, f"no schema for {document.get('schema')}")
        self.follow(schema, document)
        if "findings" in document:
            self.follow(self.schemas[None], document)

    def jsonl(self, text: str) -> None:
        lines = text.splitlines()
        ensure(len(lines) > 0, "no line")
        for line in lines:
            self.json(line)

    def sarif(self, text: str) -> None:
        document = json.loads(text)
        self.follow(self.sarif_schema, document)
        for run in document["runs"]:
            rules = run["tool"]["driver"].get("rules", [])
            for result in run.get("results", []):
                if "ruleIndex" in result:
                    rule = rules[result["ruleIndex"]]
                    ensure(rule["id"] == result["ruleId"], "index of another rule")

    @staticmethod
    def follow(schema, document) -> None:
        for error in schema.iter_errors(document):
            raise Refused(f"{error.json_path}: {error.message[:300]}")

    def junit(self, text: str) -> None:
        from lxml import etree

        document = etree.fromstring(text.encode())
        if not self.xsd.validate(document):
            raise Refused(str(self.xsd.error_log.last_error))
        for suite in document.iter("testsuite"):
            cases = len(suite.findall("testcase"))
            ensure(int(suite.get("tests")) == cases, f"{suite.get('tests')} tests, {cases} cases")

    def openmetrics(self, text: str) -> None:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families

        ensure(len(list(text_string_to_metric_families(text))) > 0, "no metrics")

    def html(self, text: str) -> None:
        import html5lib

        html5lib.HTMLParser(strict=True).parse(text)

    def markdown(self, text: str) -> None:
        from markdown_it import MarkdownIt

        plain(text)
        depth = 0
        for token in MarkdownIt("commonmark").enable("table").parse(text):
            for part in [token, *(token.children or [])]:
                if part.type in ("html_block", "html_inline"):
                    ensure(OWN_HTML.fullmatch(part.content) is not None, part.content[:80])
            depth += token.nesting
        ensure(depth == 0, "open blocks")
        # Readers pad or cut rows that have other cells than the head.
        width = None
        for row in re.sub(r"(?ms)^(```+|~~~+).*?^\1", "", text).splitlines():
            cells = len(re.findall(r"(?<!\\)\|", row)) if row.startswith("|") else None
            ensure(None in (width, cells) or width == cells, f"cells: {row}")
            width = cells

    def github(self, text: str) -> None:
        plain(text)
        properties = r"(?:(?:file|line|endLine|col|title)=[^,:\r\n]*,?)*"
        for line in text.splitlines():
            if line.startswith("::"):
                valid = re.fullmatch(rf"::(?:error|warning|notice)(?: {properties})?::.+", line)
                ensure(valid is not None, line)
                ensure(re.search(r"%(?!25|0A|0D|3A|2C)", line) is None, f"bare percent: {line}")

    def concise(self, text: str) -> None:
        plain(text)
        for line in text.splitlines():
            ends = re.match(r"(?:inconclusive|无法判定|Gate|门禁)(?:: |：)", line)
            ensure(self.matcher.match(line) is not None or ends is not None, line)

    def gcc(self, text: str) -> None:
        """The GNU format of messages, as editors read it; a message without a file names the program."""
        plain(text)
        message = r"(?:error|warning|note): \S.*"
        for line in text.splitlines():
            valid = re.fullmatch(rf"(?:[^:\s][^:]*:[1-9]\d*:[1-9]\d*|[^:\s][^:]*:[1-9]\d*|[^:\s][^:]*): {message}", line)
            ensure(valid is not None, line)

    def csv(self, text: str) -> None:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        plain(text.replace("\r\n", "\n"))
        ensure(len(rows) > 1, "no row")
        for row in rows:
            ensure(len(row) == len(rows[0]), f"cells: {row}")
            # Spreadsheets compute such a cell.
            ensure(not any(cell[:1] in ("=", "+", "@") for cell in row), f"a formula: {row}")

    def line(self, text: str) -> None:
        plain(text)
        ensure(len(text.splitlines()) == 1 and text.endswith("\n"), "not one line")

    def text(self, text: str) -> None:
        plain(text)
        ensure(text.strip() != "", "nothing")


def plain(text: str) -> None:
    """Nothing that a terminal obeys."""
    bad = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    ensure(bad is None, f"control character {bad and bad.group().encode('unicode_escape')}")


def inputs(at: Path) -> None:
    """Writes what the program reads."""

    def write(name: str, content: str) -> None:
        path = at / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    write("root/etc/os-release", 'ID=ubuntu\nVERSION_ID="22.04"\n')
    write("root/usr/local/Ascend/driver/version.info", "Version=25.2.0\n")
    evil = "<b>&\"'|`]]>\x1b[31m\u202e%0A::error::x*_\\"
    write("hostile/etc/os-release", f'ID={evil}\nVERSION_ID="{evil}"\n')
    write("hostile/usr/local/Ascend/driver/version.info", f"Version={evil}\nInnerversion={evil}\n")
    write("hostile/.env.json", json.dumps({"ASCEND_HOME_PATH": f"/usr/{evil}"}))
    until = "reason = \"known\"\nuntil = \"2099-01-01\"\n"
    write("skip.toml", f'fail-on = "warning"\n[[skip]]\nid = "HOST-SHM"\n{until}')
    source = "import torch\nx = torch.ones(2).cuda()\ny = torch.cuda.cudart()\nx.nonzero()\n"
    for name in ("x.py", "written/a.py"):
        write(name, source)
    write("hostile.py", f"import torch\nx = torch.cuda.cudart()  # {evil[:8]}|`]]>\n")
    write("ops.txt", "aten::add.Tensor\naten::nonzero\nnpu::npu_swiglu\n")
    write("oom.log", f"RuntimeError: NPU out of memory. Tried to allocate 20.00 MiB {evil}\n")
    write("quiet.log", "step 1 loss 0.5\n")
    write("wheels/torch_npu-2.7.1-cp310-cp310-linux_aarch64.whl", "no wheel")
    write("wheel/torch_npu/__init__.py", "")
    info = "wheel/torch_npu-2.7.1.dist-info"
    write(f"{info}/METADATA", "Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.7.1\n")
    empty = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0"
    write(f"{info}/RECORD", f"torch_npu/__init__.py,{empty}\n{info[6:]}/RECORD,,\n")


class Program:
    """The program, with nothing of this machine in its environment."""

    def __init__(self, path: Path, at: Path) -> None:
        self.path, self.at = path, at

    def run(self, words: str, variables: dict | None = None) -> str:
        variables = {"PATH": "/usr/bin:/bin", **(variables or {})}
        command = [str(self.path), *words.split()]
        done = subprocess.run(command, cwd=self.at, env=variables, capture_output=True)
        if done.returncode not in (0, 1, 3):
            raise Refused(f"status {done.returncode}: {done.stderr.decode()[:300]}")
        return done.stdout.decode()


def prepare(program: Program) -> None:
    reports = program.at / "reports"
    reports.mkdir()
    for name in ("a", "b"):
        text = program.run(f"check --sysroot root --host node-{name} --json")
        (reports / f"{name}.json").write_text(text)
    codes = program.run("translate-error 507035 EI0006 nothing --json")
    (program.at / "codes.json").write_text(codes)
    (program.at / "explain.json").write_text(program.run("explain 507035 SCAN-READ --json"))


def runs(simulator: Path | None, at: Path) -> list[tuple[str, str, dict]]:
    """Format, words and variables of all runs. Those that write follow each other."""
    all_runs = [(form, f"{words} --format {form}", {}) for words in REPORTS for form in FORMATS]
    all_runs += [("csv", f"{words} --format csv", {}) for words in QUERIES]
    all_runs += [(form, words.format(out=f"out{number}") + " --format " + form, {})
                 for number, (form, words) in enumerate(SINGLE)]
    if simulator is not None:
        libraries = at / "libraries"
        libraries.mkdir()
        for name in LIBRARIES:
            (libraries / name).symlink_to((simulator / name).resolve(strict=True))
        own = {"LD_LIBRARY_PATH": str(libraries), "ASCEND_DOCTOR_ALLOW_SIM": "1"}
        all_runs += [(form, f"{words} --format {form}", {**own, **variables})
                     for words, variables in SIMULATED for form in FORMATS]
    return all_runs


# One error per format: each makes an invalid document of a valid one.
PLANTED = {
    "json": lambda text: text.replace('"summary":', '"sumary":', 1),
    "jsonl": lambda text: text.replace('"verdict":"', '"verdict":"un', 1),
    "sarif": lambda text: text.replace('"level": "', '"level": "very ', 1),
    "junit": lambda text: text.replace("<testcase ", "<testcase surprise='1' ", 1),
    "openmetrics": lambda text: text.replace("# EOF", "", 1),
    "html": lambda text: text.replace("</body>", "</span></body>", 1),
    "markdown": lambda text: text + "\n<script>alert(1)</script>\n",
    "github": lambda text: text + "::fatal file=x::no such command\n",
    "concise": lambda text: text + "x.py: grave X-Y words\n",
    "gcc": lambda text: text + "x.py:0:1: warning: lines begin at 1\n",
    "csv": lambda text: text + "one cell\n",
    "line": lambda text: text + "a second line\n",
    "text": lambda text: text + "\x1b[31m",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    own = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ascend-doctor-ci"
    parser.add_argument("--program", type=Path, default=target / "release/ascend-doctor")
    parser.add_argument("--simulator", type=Path, help="directory with the simulated libraries")
    parser.add_argument("--cache", type=Path, default=own)
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    environment(options.cache.resolve())
    validators = Validators(options.cache)
    failures, counts, samples = [], dict.fromkeys([*FORMATS, "csv"], 0), {}
    with tempfile.TemporaryDirectory() as scratch:
        at = Path(scratch)
        inputs(at)
        program = Program(options.program.resolve(), at)
        prepare(program)

        def check(run: tuple[str, str, dict]) -> tuple[str, str | None, str | None]:
            form, words, variables = run
            try:
                text = program.run(words, variables)
                getattr(validators, form)(text)
                return form, text, None
            except Exception as error:  # The parsers have no common class of errors.
                return form, None, f"{words}: {type(error).__name__}: {error}"

        # `convert -r` writes: a run in each format follows one that takes it back.
        everything = runs(options.simulator, at)
        writing = [run for run in everything if run[1].startswith("convert -r")]
        writing.sort(key=lambda run: run[0])
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            others = pool.map(check, [run for run in everything if run not in writing])
            results = [*others, *map(check, writing)]
        for form, text, error in results:
            counts[form] += 1
            if error is not None:
                failures.append(error)
            else:
                samples.setdefault(form, text)
    for form, plant in PLANTED.items():
        text = samples.get(form, "")
        planted = plant(text)
        if planted == text:
            failures.append(f"{form}: nothing to plant an error in")
            continue
        try:
            getattr(validators, form)(planted)
            failures.append(f"{form}: the validator accepts a planted error")
        except Exception:
            pass
    print(", ".join(f"{form} {count}" for form, count in counts.items()))
    print(f"{len(PLANTED)} planted errors")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
