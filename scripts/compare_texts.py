#!/usr/bin/env python3
"""Compare the message tables of two trees: no text may lose a fact when it is reworded.

usage: compare_texts.py OLD_TREE NEW_TREE [FILE...]

Texts are the values `en` and `zh` (and plain strings) of data/**/*.toml. Everything else (IDs,
commands, severities, sources, patterns) has to be equal. A reworded text has to keep its
placeholders, its code spans, its numbers and its links. Differences are listed, one per line;
exit status 1 if there are any.
"""

import collections
import pathlib
import re
import sys
import tomllib

PLACEHOLDER = re.compile(r"\{[^{}`]*\}")
CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"https?://[^\s)，。；]+")
NUMBER = re.compile(r"(?<![A-Za-z_\d.])\d+(?:[.,]\d+)*")
# Numbers that both languages write as words as often as not.
WORDS = {"0", "1", "2", "two", "one"}


def leaves(value, path=()):
    """Yields the path and the value of every leaf of a table; rows of a list go by their id."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, path + (key,))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            name = inner.get("id", index) if isinstance(inner, dict) else index
            yield from leaves(inner, path + (str(name),))
    else:
        yield path, value


def facts(text):
    """Counts what a text states besides its wording."""
    # A placeholder that chooses between two forms counts as the number that it prints.
    placeholders = [part.split(":")[0] + "}" if ":" in part else part for part in PLACEHOLDER.findall(text)]
    rest = PLACEHOLDER.sub(" ", text)
    spans = [span.strip("`") for span in CODE.findall(text)]
    numbers = [n for n in NUMBER.findall(CODE.sub(" ", LINK.sub(" ", rest))) if n not in WORDS]
    found = {"placeholder": placeholders, "code": spans, "link": LINK.findall(rest), "number": numbers}
    return {kind: collections.Counter(items) for kind, items in found.items()}


def is_text(path, value):
    return isinstance(value, str) and path[-1] in {"en", "zh"}


def main():
    old_tree, new_tree, *names = sys.argv[1:]
    old_tree, new_tree = pathlib.Path(old_tree), pathlib.Path(new_tree)
    names = names or sorted(str(p.relative_to(new_tree)) for p in (new_tree / "data").rglob("*.toml"))
    count = 0
    for name in names:
        if name.endswith("Cargo.toml"):
            continue
        old = dict(leaves(tomllib.loads((old_tree / name).read_text())))
        new = dict(leaves(tomllib.loads((new_tree / name).read_text())))
        differences = []
        for path in sorted(old.keys() ^ new.keys()):
            differences.append((path, "only in the old tree" if path in old else "only in the new tree"))
        for path in old.keys() & new.keys():
            before, after = old[path], new[path]
            if before == after:
                continue
            if not is_text(path, before):
                differences.append((path, f"{before!r} became {after!r}"))
                continue
            was, now = facts(before), facts(after)
            for kind in was:
                gone, come = was[kind] - now[kind], now[kind] - was[kind]
                for item in gone:
                    # Code may gain its backticks, or lose them where its words remain.
                    if kind in {"code", "number"} and item in after:
                        continue
                    differences.append((path, f"{kind} `{item}` is gone"))
                for item in come:
                    if kind in {"code", "number"} and item in before:
                        continue
                    differences.append((path, f"{kind} `{item}` is new"))
        for path, text in sorted(differences):
            print(f"{name}: {'.'.join(path)}: {text}")
        count += len(differences)
    print(f"{count} differences")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
