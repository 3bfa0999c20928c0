"""What releases of vllm-ascend and MindSpore fit."""

import re

from compat_matrix.versions import cann, pep440_key, python_key


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
