#!/usr/bin/env python3
"""Looks at pages of ascend-doctor in a real browser: a picture of each, and a scan for what keeps
people from reading it.

    scripts/look_at_pages.py [--out DIR] PAGE.html...

Needs `chromium` (Debian: apt-get install chromium fonts-noto-cjk) and `npm`, with which axe-core is
fetched once from the package registry that npm is configured for, or `--axe axe.min.js`.

Each page is shown in both languages, wide and narrow, light and dark, and printed. The exit status is
1 if axe finds a violation, if the page is wider than the window, or if it asks for anything on the
network.
"""

import argparse
import html
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

AXE = "axe-core@4"
# Runs in a copy of the page without its policy, and leaves the answer in the document.
RUN = """
document.addEventListener('DOMContentLoaded', async () => {
  const result = await axe.run(document, {resultTypes: ['violations']});
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  const out = document.createElement('pre');
  out.id = 'answer';
  out.textContent = JSON.stringify({wide, checked: result.passes.length, violations:
    result.violations.map(v => ({id: v.id, impact: v.impact, help: v.help,
      nodes: v.nodes.slice(0, 5).map(n => n.html.slice(0, 200) + ' ' + n.failureSummary)}))});
  document.body.append(out);
});
"""


def chromium(*args, timeout=120):
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    return subprocess.run([*command, *args], capture_output=True, text=True, timeout=timeout)


def fetch_axe(folder):
    subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, check=True)
    [archive] = pathlib.Path(folder).glob("axe-core-*.tgz")
    with tarfile.open(archive) as members:
        return members.extractfile("package/axe.min.js").read().decode()


def asked(page):
    """What a page would fetch: attributes of its tags, and `url(…)` of its styles. What it quotes of
    sources may say the same, and is text."""
    for tag in re.findall(r"<[a-zA-Z][^>]*>", page):
        yield from re.findall(r"\b(?:src|href|action)\s*=\s*(?![\"']?#)[^\s>]*|url\([^)]*", tag)
    for style in re.findall(r"<style>(.*?)</style>", page, re.S):
        yield from re.findall(r"url\([^)]*|@import[^;]*", style)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("pages"))
    parser.add_argument("--axe", type=pathlib.Path)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        axe = args.axe.read_text() if args.axe else fetch_axe(folder)
        for page in args.pages:
            text = page.read_text()
            for outside in asked(text):
                print(f"{page}: asks for {outside}")
                wrong += 1
            for lang in ("en", "zh"):
                shown = text.replace(" checked>", ">")
                shown = shown.replace(f'id="lang-{lang}">', f'id="lang-{lang}" checked>')
                assert shown.count(" checked>") == 1, page
                for name, size, dark in (("wide", "1280,1700", False), ("dark", "1280,1700", True),
                                         ("narrow", "390,1700", False)):
                    flags = ["--blink-settings=preferredColorScheme=0"] if dark else []
                    here = pathlib.Path(folder) / "shown.html"
                    here.write_text(shown)
                    picture = args.out / f"{page.stem}-{lang}-{name}.png"
                    chromium(*flags, f"--window-size={size}", f"--screenshot={picture.absolute()}",
                             here.as_uri())
                    scanned = re.sub(r"<meta http-equiv[^>]*>", "", shown)
                    script = f"<script>{axe}</script><script>{RUN}</script></head>"
                    here.write_text(scanned.replace("</head>", script, 1))
                    dom = chromium(*flags, f"--window-size={size}", "--virtual-time-budget=20000",
                                   "--dump-dom", here.as_uri()).stdout
                    answer = re.search(r'<pre id="answer">(.*?)</pre>', dom, re.S)
                    if answer is None:
                        sys.exit(f"{page} {lang} {name}: the browser gave no answer")
                    answer = json.loads(html.unescape(answer.group(1)))
                    bad = answer["violations"]
                    wrong += len(bad) + answer["wide"]
                    wide = ", WIDER THAN THE WINDOW" if answer["wide"] else ""
                    print(f"{page.name} {lang} {name}: {answer['checked']} rules pass, "
                          f"{len(bad)} are broken{wide}")
                    for rule in bad:
                        print(f"  {rule['impact']} {rule['id']}: {rule['help']}")
                        for node in rule["nodes"]:
                            print(f"    {node}")
            paper = args.out / f"{page.stem}.pdf"
            chromium(f"--print-to-pdf={paper.absolute()}", page.absolute().as_uri())
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
