"""What releases of torch_npu fit."""

import re

from compat_matrix.versions import pep440, pep440_key, python_key

PYTORCH = "Ascend/pytorch"


def torch_npu_rows(facts):
    wheels = {}
    for name in facts["pypi_wheel_sha256"]:
        match = re.match(r"^torch_npu-([^-]+)-cp(\d)(\d+)-cp\d+-(.+)\.whl$", name)
        version, python = match[1], f"{match[2]}.{match[3]}"
        for arch in ("aarch64", "x86_64"):
            if match[4].endswith(arch):
                entry = wheels.setdefault(version, {}).setdefault(arch, {})
                glibc = min(
                    (f"2.{minor}" for minor in re.findall(r"manylinux_2_(\d+)", match[4])),
                    key=python_key,
                )
                # Two builds of one tag: the one that runs on more machines counts.
                entry[python] = min(entry.get(python, glibc), glibc, key=python_key)

    documented = {row["torch"]: row["python"] for row in facts["python_rows"]}
    rows = {}

    def add(version, torch, release, base, level, source, note=None):
        version = pep440(version)
        if version in rows:
            return
        built = wheels.get(version, {})
        key = pep440_key(version)
        abi = None
        if key[0] >= 2:
            old = key[:3] <= (2, 5, 1)
            six = key[:3] == (2, 6, 0)
            abi = {"aarch64": 0 if old else 1, "x86_64": 0 if old or six else 1}
        rows[version] = {
            "version": version,
            "torch": torch,
            "release": release,
            "cann": base,
            "level": level,
            "wheels": {a: sorted(built[a], key=python_key) for a in sorted(built)},
            "glibc": {a: max(built[a].values(), key=python_key) for a in sorted(built)},
            "abi": abi,
            "python_documented": documented.get(torch),
            "note": note,
            "source": source,
        }

    for row in facts["rows"]:
        release = row["branch"].split("-", 1)[1] if "-" in row["branch"] else row["branch"]
        torch, note = row["torch"], None
        if row["torch_npu"] == "1.5.0.post3":
            torch = "1.5.0"
            note = "COMPATIBILITY.md says torch 1.8.1; by its name and neighbours that is a typo"
        add(row["torch_npu"], torch, release, row["cann"], "recommended", row["source"], note)
    for row in facts["derived_rows"]:
        add(
            row["torch_npu"],
            row["torch"],
            row["release"],
            row["cann_base"],
            "derived-from-tag",
            row["source"],
        )
    for row in facts["tags"]:
        plain = re.match(r"^\d+\.\d+\.\d+(\.?rc\d+)?(\.post\d+)?$", row["torch_npu"] or "")
        if row["prerelease"] and plain:
            add(
                row["torch_npu"],
                row["torch"],
                row["release"],
                None,
                "prerelease",
                f"{PYTORCH} tag {row['tag']}",
            )
    for version in facts["pypi_unmapped"]:
        torch = re.match(r"^\d+\.\d+\.\d+", version)[0]
        add(version, torch, None, None, "published", "wheels in the package index, in no table")
    return sorted(rows.values(), key=lambda row: pep440_key(row["version"]), reverse=True)


def windows(facts):
    merged = {}
    for row in facts["release_windows"]:
        entry = merged.setdefault(row["release"], {"cann": [], "sources": []})
        entry["cann"] += [each for each in row["cann"] if each not in entry["cann"]]
        source = re.sub(r" \(.*\)$", "", row["source"])
        entry["sources"] += [source] if source not in entry["sources"] else []
    order = sorted(merged, key=lambda r: [int(n) if n != "X" else -1 for n in r.split(".")])
    return [
        {
            "release": release,
            "cann": merged[release]["cann"],
            "level": "compatible",
            "source": "; ".join(merged[release]["sources"]),
        }
        for release in reversed(order)
    ]
