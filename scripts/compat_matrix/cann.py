"""CANN, its drivers, and what needs which of them."""

import re

from compat_matrix.versions import cann, cann_key, code_list, hdk, python_key


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
