#!/usr/bin/env python3
"""Shows pages of ascend-doctor in a real browser: pictures of each, and a scan for barriers.

    scripts/look_at_pages.py --program target/debug/ascend-doctor [--simulator DIR] [--out DIR]
    scripts/look_at_pages.py [--out DIR] PAGE.html...

With --program the script creates the inputs, and a page of every output: check, translate-error of
a job of many ranks, convert, audit-ops, fleet, explain, compat, several reports on one page and,
with the directory of the simulated libraries (`target/debug/deps` after `cargo test`), verify.

Needs `chromium` and `pdftoppm` (Debian: apt-get install chromium poppler-utils fonts-noto-cjk) and
`npm`, which fetches axe-core once from its configured package registry, or `--axe axe.min.js`.

Each page is shown in both languages, wide (1280), narrow (390) and dark, and printed. The exit
status is 1 if axe finds a violation, if a page is wider than the window, or if it asks for anything
on the network. Look at the pictures: no scan finds an ugly page.
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent
AXE = "axe-core@4"
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-pipe",
]
# Name, width in pixels, whether dark.
SHOWN = [("wide", 1280, False), ("narrow", 390, False), ("dark", 1280, True)]
# A picture beyond this height is cut.
HEIGHT = 12_000
SCAN = """axe.run(document, {resultTypes: ['violations']}).then(result => JSON.stringify({
  wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  height: document.documentElement.scrollHeight,
  checked: result.passes.length,
  violations: result.violations.map(v => ({id: v.id, impact: v.impact, help: v.help,
    nodes: v.nodes.slice(0, 5).map(n => n.html.slice(0, 200) + ' ' + n.failureSummary)}))}))"""
# The requests of a page but for itself. A page of ours makes none.
REQUESTS = "JSON.stringify(performance.getEntriesByType('resource').map(entry => entry.name))"


class Browser:
    """One chromium, driven through a pipe by its DevTools protocol."""

    def __init__(self, profile):
        asked, self.commands = os.pipe()
        self.answers, answering = os.pipe()
        command = ["chromium", *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        redirect = f'exec "$@" 3<&{asked} 4>&{answering}'
        self.process = subprocess.Popen(
            ["sh", "-c", redirect, "sh", *command], pass_fds=(asked, answering),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(asked)
        os.close(answering)
        self.rest, self.number, self.session = b"", 0, None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]
        self.call("Page.enable")

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers, 1 << 20)
            if not more:
                sys.exit("the browser ended")
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.commands, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']}")
                return message["result"]

    def open(self, address):
        self.call("Page.navigate", url=address)
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, script):
        given = self.call("Runtime.evaluate", expression=script, awaitPromise=True)
        if "exceptionDetails" in given:
            sys.exit(f"{given['exceptionDetails']}")
        return given["result"].get("value")

    def show(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path):
        shot = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    def paper(self, path):
        printed = self.call("Page.printToPDF", printBackground=False)
        path.write_bytes(base64.b64decode(printed["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait()


def fetch_axe(folder):
    subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, check=True, stdout=sys.stderr)
    [archive] = pathlib.Path(folder).glob("axe-core-*.tgz")
    with tarfile.open(archive) as members:
        return members.extractfile("package/axe.min.js").read().decode()


def look(browser, page, axe, out):
    """Pictures of a page; the number of faults."""
    faults = 0
    browser.show(1280, 1000, False)
    browser.open(page.absolute().as_uri())
    for outside in json.loads(browser.evaluate(REQUESTS)):
        print(f"{page.name}: asks for {outside}")
        faults += 1
    # The policy of the page holds for its own scripts, not for those of its reader.
    browser.evaluate(axe)
    for lang in ("en", "zh"):
        browser.evaluate(f"document.getElementById('lang-{lang}').checked = true; null")
        for name, width, dark in SHOWN:
            browser.show(width, 1000, dark)
            answer = json.loads(browser.evaluate(SCAN))
            browser.show(width, min(answer["height"], HEIGHT), dark)
            browser.picture(out / f"{page.stem}-{lang}-{name}.png")
            broken = answer["violations"]
            faults += len(broken) + answer["wide"]
            wide = ", WIDER THAN THE WINDOW" if answer["wide"] else ""
            print(f"{page.name} {lang} {name}: {answer['checked']} rules pass, "
                  f"{len(broken)} violations{wide}", flush=True)
            for rule in broken:
                print(f"  {rule['impact']} {rule['id']}: {rule['help']}")
                for node in rule["nodes"]:
                    print(f"    {node}")
        paper = out / f"{page.stem}-{lang}.pdf"
        browser.paper(paper)
        picture = out / f"{page.stem}-{lang}-print"
        subprocess.run(["pdftoppm", "-r", "60", "-png", paper, picture], check=True)
    return faults


class Samples:
    """A page of every output."""

    def __init__(self, program, simulator, folder):
        self.program, self.simulator = program.absolute(), simulator
        self.folder, self.pages = folder, folder / "pages"
        self.pages.mkdir()

    def run(self, words, **variables):
        known = {"PATH": "/usr/bin:/bin", **variables}
        done = subprocess.run([self.program, *words.split()], cwd=self.folder, env=known,
                              capture_output=True, text=True)
        if done.returncode not in (0, 1, 3):
            sys.exit(f"{words}: {done.stderr}")
        return done.stdout

    def page(self, name, words, **variables):
        (self.pages / f"{name}.html").write_text(self.run(f"{words} --format html", **variables))

    def machine(self, name):
        """A machine of the tests; the words that check it."""
        make = ["cargo", "run", "--quiet", "--locked", "--example", "make_fixture"]
        done = subprocess.run([*make, name, self.folder / name], cwd=PROJECT, check=True,
                              capture_output=True, text=True)
        return done.stdout.strip().removeprefix("ascend-doctor ")

    def script(self, name, *words):
        subprocess.run([sys.executable, PROJECT / "scripts" / name, *words], check=True,
                       stdout=subprocess.DEVNULL)

    def write(self):
        self.page("check", self.machine("f14-cann-too-old"))
        healthy = self.machine("ok-host-910b")
        self.page("check-healthy", healthy)
        (self.folder / "healthy.json").write_text(self.run(f"{healthy} --json"))
        cluster = self.folder / "cluster"
        self.script("gen_fleet_reports.py", cluster, "--like", self.folder / "healthy.json",
                    "--hosts", "64")
        self.page("fleet", "fleet merge cluster/reports --expect cluster/hosts.txt")
        for kind in ("link", "absent"):
            self.script("gen_cluster_logs.py", self.folder / kind, "--ranks", "16", "--kind", kind)
        self.page("log", "translate-error link")
        self.page("log-silent", "translate-error absent")
        source = self.folder / "project"
        source.mkdir()
        (source / "train.py").write_text(
            "import torch\n\nmodel = torch.nn.Linear(8, 8).cuda()\n"
            "stream = torch.cuda.Stream()\nwith torch.cuda.stream(stream):\n"
            "    y = model(torch.ones(2, 8, device='cuda'))\n"
            "handle = torch.cuda.cudart()\nprint(torch.cuda.memory_summary(), y.nonzero())\n")
        (source / "run.sh").write_text("export CUDA_VISIBLE_DEVICES=0,1\nnvidia-smi\n"
                                       "python -m torch.distributed.run train.py\n")
        self.page("convert", "convert project")
        self.page("audit-ops", "audit-ops project/train.py --suggest")
        self.page("explain", "explain 507035 SCAN-READ CV0017")
        self.page("compat", "compat --sysroot ok-host-910b --torch 2.7.1")
        self.page("code", "translate-error 507035 no-such-code")
        for name, words in (("a", healthy), ("b", "translate-error link")):
            (self.folder / f"{name}.json").write_text(self.run(f"{words} --json"))
        self.page("several", "report a.json b.json")
        if self.simulator:
            libraries = self.folder / "libraries"
            libraries.mkdir()
            for library in ("libascendcl.so", "libnnopbase.so", "libopapi.so"):
                (libraries / library).symlink_to((self.simulator / library).resolve(strict=True))
            self.page("verify", "verify", LD_LIBRARY_PATH=str(libraries),
                      ASCEND_DOCTOR_ALLOW_SIM="1", ASCSIM_DEVICES="2")
            self.page("verify-wrong", "verify", LD_LIBRARY_PATH=str(libraries),
                      ASCEND_DOCTOR_ALLOW_SIM="1", ASCSIM_DEVICES="2", ASCSIM_FAULT="kernel:flip")
        return sorted(self.pages.iterdir())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("pages"))
    parser.add_argument("--axe", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--simulator", type=pathlib.Path)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    if not args.pages and not args.program:
        parser.error("name pages, or --program")
    args.out.mkdir(parents=True, exist_ok=True)
    faults = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        pages = args.pages
        if args.program:
            pages = pages + Samples(args.program, args.simulator, folder).write()
        axe = args.axe.read_text() if args.axe else fetch_axe(folder)
        browser = Browser(folder / "profile")
        for page in pages:
            faults += look(browser, page, axe, args.out)
        browser.close()
    print(f"{len(pages)} pages, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
