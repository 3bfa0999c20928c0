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

from compat_matrix.cann import cann_rows, constraints, gates, pairs
from compat_matrix.frameworks import mindspore_rows, vllm_rows
from compat_matrix.toml_text import quoted, table
from compat_matrix.torch_npu import torch_npu_rows, windows
from compat_matrix.versions import code_list, hdk

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
