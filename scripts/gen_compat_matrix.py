#!/usr/bin/env python3
"""Makes data/compat_matrix.toml from the fact tables (compat_*.json).

    python3 scripts/gen_compat_matrix.py FACTS_DIR > data/compat_matrix.toml

The output depends on the facts alone: the same input gives the same bytes. Each row keeps its
source. Where two sources differ, the verdict of compat_conflicts.json is applied here and a note
says so; docs/compatibility.md explains the levels and the tables.
"""

import json
import re
import sys
from pathlib import Path

PYTORCH = "Ascend/pytorch"
CHIP_OF_FAMILY = {
    "Atlas training (910A)": "910",
    "Atlas inference (310P)": "310p",
    "Atlas A2": "910b",
    "Atlas 200I/500 A2 (310B)": "310b",
    "Atlas A3": "a3",
    "Ascend 950": "950",
}
# The first CANN whose packages or images name the chip; the rest of since_cann is prose.
SINCE = {"910b": "7.0.0", "a3": "8.1.RC1", "950": "9.0.0"}


# ---- TOML -----------------------------------------------------------------------------------


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def value(item):
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, str):
        return quoted(item)
    if isinstance(item, list):
        return "[" + ", ".join(value(each) for each in item) + "]"
    if isinstance(item, dict):
        pairs = (f"{quoted(k) if '.' in k else k} = {value(v)}" for k, v in item.items())
        return "{ " + ", ".join(pairs) + " }"
    raise TypeError(item)


def table(out, name, rows, title):
    out.append(f"# {title}")
    for row in rows:
        out.append(f"[[{name}]]")
        for key, item in row.items():
            if item is not None and item != [] and item != {}:
                out.append(f"{key} = {value(item)}")
        out.append("")


# ---- versions -------------------------------------------------------------------------------


def pep440(version):
    """The normal form of `1.11.0.rc2` is `1.11.0rc2`; of `1.11.rc1`, `1.11.0rc1`."""
    version = re.sub(r"\.(rc\d+)$", r"\1", version)
    match = re.match(r"^(\d+)\.(\d+)(rc\d+)$", version)
    return f"{match[1]}.{match[2]}.0{match[3]}" if match else version


def pep440_key(version):
    match = re.match(r"^(\d+)\.(\d+)\.(\d+)(?:rc(\d+))?(?:\.post(\d+))?$", version)
    major, minor, patch, rc, post = match.groups()
    return (int(major), int(minor), int(patch), int(rc) if rc else 10**6, int(post or 0))


def python_key(version):
    return tuple(int(part) for part in version.split("."))


def cann(version):
    """Image tags write `8.3.rc2`, tables `8.3.RC2`."""
    return re.sub(r"rc", "RC", version)


def cann_key(version):
    numbers = []
    for part in re.split(r"[.-]", version.lower()):
        match = re.match(r"^(rc|alpha|beta)?(\d*)$", part)
        kind = {"alpha": 0, "beta": 1, "rc": 2, None: 3}[match[1]]
        numbers.append((kind, int(match[2] or 0)))
    return numbers + [(2.5, 0)] * (6 - len(numbers))


def code_list(codes):
    """`C15` and `range C15..C18` in the notation of the version files."""
    if codes is None:
        return None
    spans = []
    for code in codes:
        span = re.match(r"^range (C\d+)\.\.(C\d+)$", code)
        if span:
            spans.append(f"[V100R001{span[1]},V100R001{span[2]}]")
        else:
            spans.append(f"[{code if code.startswith('V') else 'V100R001' + code}]")
    return ",".join(spans)


# ---- tables ---------------------------------------------------------------------------------


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


def cann_rows(driver, abi, referenced):
    """`referenced`: versions that other tables name, with a source, so that none dangles."""
    rows = {}

    def row(version):
        return rows.setdefault(version, {"sources": []})

    for sample in driver["cann_install_info_samples"]:
        dev = "(dev)" in sample["cann"]
        entry = row(sample["cann"].replace(" (dev)", ""))
        inner = sample["innerversion"].split("/")[0]
        entry["innerversion"] = inner
        entry["ccode"] = re.search(r"C\d+", inner)[0]
        entry["compatible"] = code_list(sample["compatible_version"])
        if dev:
            entry["level"] = "prerelease"
            entry["note"] = "not released when the facts were read"
        entry["sources"].append("ascend_toolkit_install.info of that version")
    for name, image in abi["images"].items():
        match = re.match(r"^(.+?)-(310p|910b|910|950|a3)-([a-z]+[\d.]+)-py([\d.]+)$", name)
        if not match:
            continue
        entry = row(cann(match[1]))
        for key, item in (("chips", match[2]), ("image_os", match[3]), ("image_python", match[4])):
            if item not in entry.setdefault(key, []):
                entry[key].append(item)
        if image["atb"]:
            votes = entry.setdefault("atb", {})
            votes[image["atb"][-1]] = votes.get(image["atb"][-1], 0) + 1
        source = "Ascend/cann-container-image"
        if source not in entry["sources"]:
            entry["sources"].append(source)
    for version, source in referenced:
        if version not in rows:
            row(version).update(level="recommended", sources=[source])
    out = []
    for version in sorted(rows, key=cann_key, reverse=True):
        entry = rows[version]
        votes = entry.get("atb", {})
        pre = re.search(r"alpha|beta", version)
        out.append(
            {
                "version": version,
                "level": entry.get("level", "prerelease" if pre else "measured"),
                "ccode": entry.get("ccode"),
                "innerversion": entry.get("innerversion"),
                "compatible": entry.get("compatible"),
                "chips": sorted(entry.get("chips", [])),
                "image_python": sorted(entry.get("image_python", []), key=python_key),
                "image_os": sorted(entry.get("image_os", [])),
                "atb_abi_default": int(max(votes, key=lambda k: (votes[k], k))) if votes else None,
                "note": entry.get("note"),
                "source": "; ".join(entry["sources"]),
            }
        )
    return out


def hdk(text):
    """`26.0 (or …)` and `26.1.0.b061` to the number that can be compared."""
    return re.match(r"^\d+(\.(\d+|[rR][cC]\d+))+", text)[0].lower()


def pairs(driver):
    rows, seen = [], {}
    for pair in driver["cann_hdk_pairs"]:
        community = "community download page" in (pair.get("level") or "")
        row = {
            "cann": pair["cann"],
            "hdk": hdk(pair["hdk"]),
            "chip": pair.get("chip"),
            "product": pair.get("product"),
            "firmware": pair.get("firmware"),
            "level": "compatible" if community else "recommended",
            "source": pair["source"].replace("表1", "table 1"),
        }
        key = (row["cann"], row["hdk"], row["chip"], row["product"])
        if key in seen:
            seen[key]["source"] += "; " + row["source"]
        else:
            seen[key] = row
            rows.append(row)
    for pair in driver["modelzoo_mined_pairs"]:
        if not re.match(r"^\d+\.\d+\.(RC)?\d+(\.alpha\d+)?$", pair["cann"]):
            continue
        number = hdk(pair["driver_or_hdk"])
        key = (pair["cann"], number, None, None)
        # Numbers below 20 are driver-internal, not those of the HDK.
        if int(number.split(".")[0]) < 20 or key in seen or ".b" in pair["driver_or_hdk"]:
            continue
        row = {
            "cann": pair["cann"],
            "hdk": number,
            "level": "reported",
            "source": f"Ascend/ModelZoo-PyTorch: {pair['example']}",
        }
        seen[key] = row
        rows.append(row)
    return sorted(rows, key=lambda r: cann_key(r["cann"]), reverse=True)


def vllm_rows(facts):
    docs = {row["vllm_ascend"]: row for row in facts["doc_rows"]}
    tags = {row["tag"].lstrip("v"): row for row in facts["tag_rows"]}
    rows = []
    for version in sorted(set(docs) | set(tags), key=pep440_key, reverse=True):
        doc, tag = docs.get(version, {}), tags.get(version, {})
        pins = dict(sorted(tag.get("pins", {}).items()))
        notes = []

        def choices(package, documented):
            pinned = pins.get(package, "")
            found = [pinned[2:]] if pinned.startswith("==") else []
            if documented and documented not in found:
                if found:
                    notes.append(
                        f"versioning_policy.md says {package} {documented}, "
                        f"requirements.txt {found[0]}: the tag wins, both are accepted"
                    )
                found.append(documented)
            return found

        vllm = (doc.get("vllm") or tag["vllm_tag"]).replace("v", "").split("/")
        tagged = tag.get("vllm_tag", "").lstrip("v")
        if tagged and tagged not in vllm:
            vllm.append(tagged)
        torch = doc.get("torch")
        if not torch and pins.get("torch", "").startswith("=="):
            torch = pins["torch"][2:]
        if not doc:
            notes.append("the documentation has no row for this version; taken from its tag")
        requires = doc.get("python") or tag["python_requires"]
        rows.append(
            {
                "version": version,
                "vllm": vllm,
                "level": "derived-from-tag" if not doc else "recommended",
                "python": requires.replace(" ", ""),
                "cann": cann(tag.get("cann_image") or doc["cann"]),
                "torch": torch,
                "torch_npu": choices("torch-npu", doc.get("torch_npu")),
                "triton_ascend": choices("triton-ascend", doc.get("triton_ascend")),
                "mooncake": (doc.get("mooncake") or "").lstrip("v") or None,
                "image_python": tag.get("image_python"),
                "pins": {k: v.replace(" ", "") for k, v in pins.items() if v != "*"},
                "note": "; ".join(notes) or None,
                "source": "; ".join(
                    ([f"vllm-ascend:{doc['source']}"] if doc else [])
                    + ([tag["source"]] if tag else [])
                ),
            }
        )
    return rows


def mindspore_rows(facts):
    rows = {}
    for version, wheel in facts["wheel_cann_internal"].items():
        numpy = next(
            (m[1] for line in wheel["requires"] if (m := re.match(r"^Requires-Dist: numpy ?\(?([^)]*)", line))),
            None,
        )
        python = sorted(
            {
                f"{m[1]}.{m[2]}"
                for name in wheel["wheels"]
                if (m := re.search(r"-cp(\d)(\d+)-none-any\.whl$", name))
            },
            key=python_key,
        )
        rows[version] = {
            "version": version,
            "level": "measured",
            "cann_internal": wheel["cann_internal"],
            "python": python,
            "numpy": numpy,
            "sources": ["MindSpore wheels in the package index"],
        }
    for version, line in facts["mindformers_map"]["ms"].items():
        row = rows.setdefault(version, {"version": version, "level": "recommended", "sources": []})
        row["cann"] = line
        row["sources"].append("mindspore-ai/mindformers:mindformers/VERSION_MAP.json")
    for row in facts["doc_rows"]:
        match = re.match(r"^r(\d+\.\d+(?:\.\d+)?)$", row["branch"])
        if not match or not row["community_cann"]:
            continue
        entry = rows.setdefault(
            match[1], {"version": match[1], "level": "recommended", "sources": []}
        )
        entry.setdefault("cann", row["community_cann"])
        if row["python"]:
            entry["python_documented"] = row["python"]
        entry["sources"].append(f"mindspore/docs branch {row['branch']}: install guide")
    keyed = lambda v: [int(n) for n in re.findall(r"\d+", v)]
    order = ("version", "level", "cann", "cann_internal", "python", "python_documented", "numpy")
    return [
        {key: rows[v].get(key) for key in order} | {"source": "; ".join(rows[v]["sources"])}
        for v in sorted(rows, key=keyed, reverse=True)
    ]


def gates(driver):
    detect = {
        "PYTORCH_NPU_ALLOC_CONF=page_size:1g": ("PYTORCH_NPU_ALLOC_CONF", "page_size:1g"),
        "pin_memory_expandable_segments": (
            "PYTORCH_NPU_ALLOC_CONF",
            "pin_memory_expandable_segments:True",
        ),
    }
    rows = []
    for gate in driver["feature_gates"]:
        env, needle = detect.get(gate["feature"], (None, None))
        driver_text = gate.get("min_driver")
        note = None
        if driver_text and "(" in driver_text:
            note = driver_text[driver_text.index("(") + 1 : -1]
        rows.append(
            {
                "feature": gate["feature"],
                "min_driver": hdk(driver_text) if driver_text else None,
                "min_cann": gate.get("min_cann") or gate.get("min_runtime"),
                "except_chip": "950" if "except_soc" in gate else None,
                "env": env,
                "env_contains": needle,
                "level": "measured",
                "note": note or gate.get("except_soc"),
                "source": re.sub(r" \(find_string.*\)", "", gate["where"]),
            }
        )
    return rows


def constraints(facts):
    """The rows that no table of their own has; the pins of vllm-ascend are in its rows."""
    tbe = next(r for r in facts["constraints"] if r["package"] == "python pkgs for CANN TBE")
    numpy = next(r for r in facts["constraints"] if r["when"].get("cann") == "<=8.5.x")
    free = next(r for r in facts["constraints"] if r["when"].get("cann") == ">=9.0.0")
    old = next(r for r in facts["constraints"] if r["when"].get("mindspore") == "<=2.9.0")
    return [
        {
            "package": "numpy",
            "spec": "<2",
            "cann_max": "8.3",
            "severity": "error",
            "level": "measured",
            "note": "reported: error 500001 when operators are compiled",
            "source": numpy["source"],
        },
        {
            "package": "numpy",
            "spec": "<2",
            "cann_min": "8.5",
            "cann_max": "8.5",
            "severity": "warning",
            "level": "reported",
            "note": "concluded from the pin of vllm-ascend alone",
            "source": numpy["source"],
        },
        {
            "package": "numpy",
            "spec": "",
            "cann_min": "9.0",
            "severity": "info",
            "level": "measured",
            "source": free["source"],
        },
        {
            "package": "numpy",
            "spec": "<2.0.0",
            "mindspore_max": "2.9.0",
            "severity": "warning",
            "level": "measured",
            "source": old["source"],
        },
    ] + [
        {
            "package": name,
            "spec": "",
            "severity": "warning",
            "level": "recommended",
            "note": "needed by the operator compiler of CANN",
            "source": "vllm-ascend installation.md; CANN installation guide",
        }
        for name in sorted(tbe["spec"].split())
        if name != "numpy"
    ]


def main():
    here = Path(sys.argv[1])
    load = lambda name: json.loads((here / f"compat_{name}.json").read_text(encoding="utf-8"))
    torch, vllm, driver = load("torch_npu"), load("vllm_ascend"), load("driver")
    mindspore, soc, abi, oses = load("mindspore"), load("soc"), load("abi"), load("os")
    limits = load("constraints")

    generated = []
    for facts in (torch, vllm, driver, mindspore, soc, abi):
        for name, text in facts["sources"].items():
            match = re.match(r"^([0-9a-f]{40}) (\d{4}-\d{2}-\d{2})$", text)
            row = {"name": name, "revision": match[1] if match else text, "date": match and match[2]}
            if not match:
                row["date"] = (re.search(r"\d{4}-\d{2}(-\d{2})?", text) or [None])[0]
            if name == "pypi":
                row["name"] = "wheels of MindSpore" if "mindspore" in text else "wheels of torch_npu"
                row["revision"] = "package index, names and hashes"
            if row not in generated:
                generated.append(row)
    as_of = max(row["date"] for row in generated if row["date"] and len(row["date"]) == 10)

    out = [
        "# Which versions of the Ascend stack fit together. Made by scripts/gen_compat_matrix.py;",
        "# docs/compatibility.md explains the tables, the levels, and how to overlay a newer file.",
        f"schema = {quoted('ascend-doctor/matrix/1')}",
        f"as_of = {quoted(as_of)}",
        "",
    ]
    table(out, "generated_from", sorted(generated, key=lambda r: r["name"]), "What the rows were read from.")
    table(out, "torch_npu", torch_npu_rows(torch), "torch_npu: its torch, its release, the CANN it is recommended with, its wheels.")
    table(out, "window", windows(torch), "The CANN versions that a release of torch_npu accepts.")
    referenced = [(r["cann"], "Ascend/pytorch:COMPATIBILITY.md") for r in torch["rows"]]
    referenced += [(r["cann"], "vllm-ascend:versioning_policy.md") for r in vllm["doc_rows"]]
    table(out, "cann", cann_rows(driver, abi, referenced), "CANN: internal code, accepted driver codes, images.")
    table(out, "pair", pairs(driver), "CANN with the driver package (HDK) it was released or reported with.")
    table(
        out,
        "mindcluster",
        [
            {
                "version": row["mindcluster"],
                "cann": row["cann"],
                "hdk": row["hdk"],
                "hdk_950": row.get("hdk950"),
                "level": "compatible",
                "source": "Ascend/mind-cluster:docs/zh/release_notes.md",
            }
            for row in driver["mindcluster_compat"]
        ],
        "CANN and driver lines that a MindCluster release supports side by side.",
    )
    table(
        out,
        "driver",
        [
            {
                "version": hdk(row["driver"]),
                "innerversion": row["innerversion"] if row["innerversion"].startswith("V") else None,
                "compatible": code_list(row["compatible_version"]),
                "compatible_fw": row["compatible_version_fw"],
                "level": "measured",
                "source": re.sub(r"^(.*, )?(find_string )?id \d.*$", r"\1driver/version.info of that version", row["source"]),
            }
            for row in driver["driver_version_info_samples"]
        ],
        "Drivers: internal code, accepted CANN codes and firmware.",
    )
    table(
        out,
        "firmware",
        [
            {
                "version": row["firmware"],
                "package_version": row["package_version"],
                "compatible_drv": row["compatible_version_drv"],
                "level": "measured",
                "source": "firmware/version.info of that version",
            }
            for row in driver["firmware_version_info_samples"]
        ],
        "Firmware and the drivers that it accepts.",
    )
    table(out, "vllm_ascend", vllm_rows(vllm), "vllm-ascend and what its tag was built and tested with.")
    table(out, "mindspore", mindspore_rows(mindspore), "MindSpore and the CANN that it accepts.")
    table(out, "gate", gates(driver), "Features that need a driver or CANN of some version.")
    table(
        out,
        "soc",
        [
            {
                "name": row["soc"],
                "family": "Atlas inference (310P)" if row["family"] == "?" else row["family"],
                "chip": (chip := CHIP_OF_FAMILY.get(row["family"], "310p")),
                "enum": row["enum"],
                "vllm_ascend_device": row["vllm_ascend_device"],
                "since_cann": SINCE.get(chip),
                "level": "measured",
                "source": "vllm-ascend" if row["enum"] is None else "Ascend/pytorch: enum SocVersion",
            }
            for row in soc["soc"]
        ],
        "Chip names, the family, and the chip that ops packages are named after.",
    )
    table(
        out,
        "pci",
        [
            {
                "vendor": row["vendor"],
                "device": row["device"],
                "chip": row["chip"],
                "level": "reported" if row.get("confidence") == "low" else "measured",
                "source": row.get("source", "cann/driver"),
            }
            for row in soc["pci_ids"]
        ],
        "PCI ids.",
    )
    table(
        out,
        "os",
        [
            {
                "family": row["family"],
                "product": row["product"],
                "os": [name for name in row["os"] if re.match(r"^[A-Za-z]", name)],
                "level": "recommended",
                "source": oses["source"].split(";")[0],
            }
            for row in oses["product_os"]
            if any(re.match(r"^[A-Za-z]", name) for name in row["os"])
        ],
        "Operating systems that the product documents list.",
    )
    table(out, "constraint", constraints(limits), "Packages that CANN or MindSpore need or refuse.")
    sys.stdout.write("\n".join(out).rstrip("\n") + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
