#!/usr/bin/env python3
"""Scores `ascend-doctor convert` on hand-checked sites: precision and recall by kind.

    scripts/convert_sites.py SITES.json --tree yolov5=DIR --tree nanoGPT=DIR [--binary PATH]

SITES.json holds {"sites": [{repo, file, line, col, kind, old, new, also_ok}, ...]}: `line` and
`col` count from 1, `col` in characters. Kinds: change (old must become new), keep (must stay
byte for byte), flag (must be reported at that line or at one of lines_ok; the text stays or becomes one of also_ok),
insert (the file must gain the line). DIR is the tree of a repository at the commit that the
sites belong to. The trees are not touched: the conversion goes to a temporary directory.

Recall: of the sites of a kind, those that were decided so. Precision: of the sites that the tool
decided so, those of that kind. Exit status 1 if any site is wrong.
"""
import argparse
import collections
import difflib
import json
import pathlib
import subprocess
import sys
import tempfile


def convert(binary, tree, out):
    command = [binary, "convert", "-r", str(tree), "--output-dir", str(out), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def reported(report):
    """File to the set of lines at which something was flagged or noted."""
    lines = collections.defaultdict(set)
    for file in report["files"]:
        for kind in ("flagged", "noted"):
            for site in file.get(kind, []):
                lines[file["path"]].add(site["line"])
    return lines


def became(before, after, line, col, old):
    """The text that stands where `old` stood, by aligning the two files."""
    starts = [0]
    for at, char in enumerate(before):
        if char == "\n":
            starts.append(at + 1)
    start = starts[line - 1] + col - 1
    end = start + len(old)
    if before[start:end] != old:
        return None
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    number, column = line - 1, col - 1
    for tag, a, b, c, d in matcher.get_opcodes():
        if a <= number < b:
            if tag == "equal":
                return old
            if tag == "delete":
                return ""
            new = after.split("\n")[c:d]
            source = before.split("\n")[a:b]
            # Lines that change keep their order; an inserted line makes the new block longer.
            pairs = align(source, new)
            target = pairs.get(number - a)
            if target is None:
                return ""
            return within(source[number - a], target, column, len(old))
    return None


def align(source, new):
    """Each changed line to its new form: the most alike, in order."""
    pairs, at = {}, 0
    for index, line in enumerate(source):
        rest = len(source) - index
        choices = range(at, len(new) - rest + 1)
        if not choices:
            break
        best = max(choices, key=lambda one: difflib.SequenceMatcher(None, line, new[one]).ratio())
        pairs[index] = new[best]
        at = best + 1
    return pairs


def within(old_line, new_line, column, length):
    out = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old_line, new_line, autojunk=False).get_opcodes():
        low, high = max(a, column), min(b, column + length)
        if tag == "equal" and low < high:
            out.append(new_line[c + low - a:c + high - a])
        elif tag == "insert" and column <= a < column + length:
            out.append(new_line[c:d])
        elif tag in ("replace", "delete") and low < high:
            out.append(new_line[c:d])
    return "".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sites", type=pathlib.Path)
    parser.add_argument("--tree", action="append", required=True, metavar="REPO=DIR")
    parser.add_argument("--binary", default="target/dist/ascend-doctor")
    parser.add_argument("--quiet", action="store_true", help="only the table")
    args = parser.parse_args()
    trees = dict(one.split("=", 1) for one in args.tree)
    sites = json.loads(args.sites.read_text())["sites"]
    right, total, decided = (collections.Counter() for _ in range(3))
    with tempfile.TemporaryDirectory() as scratch:
        for repo, tree in trees.items():
            out = pathlib.Path(scratch) / repo
            report = convert(args.binary, tree, out)
            lines = reported(report)
            for site in (one for one in sites if one["repo"] == repo):
                kind, old = site["kind"], site["old"] or ""
                before = (pathlib.Path(tree) / site["file"]).read_bytes().decode(errors="replace")
                # Ignored files are not copied.
                copy = out / site["file"]
                after = copy.read_bytes().decode(errors="replace") if copy.exists() else before
                text = became(before, after, site["line"], site["col"], old)
                told = any(
                    found & {site["line"], *site.get("lines_ok", [])}
                    for path, found in lines.items()
                    if path.endswith(site["file"])
                )
                if kind == "insert":
                    good = site["new"] in after and after.count(site["new"]) > before.count(site["new"])
                elif kind == "flag":
                    good = told and (text == old or text in site["also_ok"])
                elif kind == "change":
                    good = text in [site["new"], *site["also_ok"]]
                else:
                    good = text == old
                total[kind] += 1
                right[kind] += good
                decision = "flag" if kind == "flag" and told else "keep" if text == old else "change"
                decided["insert" if kind == "insert" and good else decision] += 1
                if not good and not args.quiet:
                    where = f"{repo}/{site['file']}:{site['line']}:{site['col']}"
                    print(f"wrong: {kind} {where} {old!r} -> {text!r}, expected {site['new']!r}")
    print(f"{'kind':8} {'sites':>6} {'right':>6} {'recall':>8} {'precision':>10}")
    for kind in ("change", "keep", "flag", "insert"):
        if total[kind]:
            precision = right[kind] / decided[kind] if decided[kind] else 0.0
            print(f"{kind:8} {total[kind]:6} {right[kind]:6} {right[kind] / total[kind]:8.1%} {precision:10.1%}")
    return int(sum(right.values()) != sum(total.values()))


if __name__ == "__main__":
    sys.exit(main())
