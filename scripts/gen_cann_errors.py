#!/usr/bin/env python3
"""Writes data/errors/<family>.tsv from extracted facts.

    python3 scripts/gen_cann_errors.py FACTS_DIR [--check]

FACTS_DIR holds one JSON file per header or registry ({"rows": [{code, symbol,
official_message, source, ...}]}); what it does not hold is read from data/errors/extracted/,
which has the extractions that were made for this project alone. Only numbers, names and the short messages that the
programs themselves print are taken over, each row with the file that it was read from. Of
sources under the GPL only numbers and the names of constants are taken.
With --check nothing is written; the exit status is 1 if a file is not what it would be.

A file is a table with tabs: comments with the sources, a line with the names of the columns,
then one line per code, so that a look-up reads one line. `\\t`, `\\n` and `\\\\` stand for
themselves. Explanations and remedies are not generated: they are written by hand in
data/errors/causes/ (one file per layer of the stack).
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "data" / "errors"
EXTRACTED = OUT / "extracted"

# family: (facts file, how its codes are written, columns besides code, symbol, message)
FAMILIES = {
    "acl_rt": ("acl_rt_error_codes", "decimal", ["since"]),
    "acl_api": ("acl_api_return_codes", "decimal", []),
    "acl_ge": ("acl_ge_error_codes", "decimal", []),
    "aclnn": ("aclnn_return_codes", "decimal", []),
    "aclrtc": ("aclrtc_return_codes", "decimal", ["zh"]),
    "acl_doc": ("acl_doc_zh_messages", "decimal", ["zh"]),
    "torch_npu_text": ("torch_npu_error_table", "decimal", []),
    "torch_npu_fault": ("torch_npu_device_fault_strings", "name", ["becomes"]),
    "ecode": ("cann_E_codes", "name", ["component", "arguments", "since", "doc", "formerly"]),
    "ecode_inner": ("cann_inner_catchall", "name", ["component"]),
    "ecode_changes": ("cann_E_codes_message_changes", "name", ["formerly"]),
    "ecode_hcomm": ("hcomm_EI_registry", "name", ["component", "arguments"]),
    "module_prefix": ("cann_E_prefix_modules", "name", []),
    "mindspore": ("mindspore_cann_error_table", "name", []),
    "torch_npu": ("torch_npu_ERR_codes", "name", []),
    "dcmi": ("dcmi_npu_smi_return_codes", "decimal", ["component"]),
    "hccl": ("hccl_result", "decimal", []),
    "hccl_stage": ("hccl_stage_keywords", "name", ["zh"]),
    "drv": ("driver_DRV_ERROR", "decimal", ["becomes"]),
    "ts": ("task_scheduler_TS_ERROR", "hex", ["becomes"]),
    "runtime": ("runtime_inner_RT_ERROR", "hex", ["becomes"]),
    "aicore_bit": ("aicore_error_bits_runtime", "name", ["zh"]),
    "aicore_tuple": ("aicore_error_tuples_faultdiag", "name", ["zh"]),
    "chip": ("chip_fault_codes", "event", ["zh", "component", "level"]),
    "mcu": ("dcmi_mcu_health_codes", "decimal", ["component"]),
    "bbox": ("bbox_code_map", "event", ["becomes"]),
    "switch": ("switch_dpu_fault_codes", "name", ["zh", "component", "level"]),
    "device_map": ("runtime_device_error_maps", "decimal", []),
    "aicpu": ("aicpu_schedule_codes", "decimal", ["component"]),
    "atb": ("atb_error_type", "decimal", []),
    "hixl": ("llm_datadist_hixl_codes", "decimal", ["component"]),
    "dvpp": ("dvpp_error_codes", "hex", ["component"]),
    "ge_inner": ("ge_inner_error_codes", "decimal", ["component"]),
    "ge_graph": ("ge_graph_status", "decimal", []),
    "misc": ("misc_component_codes", "decimal", ["component"]),
    "dms_node": ("dms_node_types", "hex", []),
    "dms_sensor": ("dms_sensor_types", "hex", []),
    "dms_state": ("dms_sensor_events", "name", ["level"]),
}

# What the stages of HCCL mean in English; the documents name them in Chinese.
STAGES = {
    "[InitGroupStage][EnvConfig]": "making a communicator: an environment variable is not valid",
    "[InitGroupStage][RanktableConfig]": "making a communicator: the rank table cannot be read",
    "[InitGroupStage][RanktableCheck]": "making a communicator: the rank table does not agree with the cluster",
    "[InitGroupStage][RanktableDetect]": "making a communicator: the cluster could not be gathered",
    "[InitGroupStage][Resource]": "making a communicator: resources could not be set up",
    "[InitChannelStage][ParameterConflict]": "connecting the ranks: their parameters differ",
    "[InitChannelStage][VersionConflict]": "connecting the ranks: their versions of HCCL differ",
    "[InitChannelStage][Timeout]": "connecting the ranks: time ran out",
    "[TaskExecStage][InvalidArgument]": "running an operation: an argument is not valid",
    "[TaskExecStage][Not Supported]": "running an operation: the case is not supported",
    "[TaskExecStage][Timeout]": "running an operation: time ran out",
    "[TaskExecStage][RunFailed]": "running an operation: it failed",
    "[TaskExecStage][HeartbeatAbnormal]": "running an operation: the heartbeat of a rank was lost",
}


def canonical(code, kind):
    """The one spelling under which a code is stored and looked up."""
    if kind == "event":
        # Those that are no 32 bits in hexadecimal stay as they are.
        return f"0x{code[2:].upper()}" if code.startswith("0x") else code
    try:
        value = int(code, 0)
    except ValueError:
        return code
    return hex(value) if kind == "hex" else str(value) if kind == "decimal" else code


def code(family, row, kind):
    if family == "torch_npu_fault":
        return row["official_message"]
    if family == "aicore_bit":
        return f"w{row['word']}.{row['bit_in_word']}"
    return canonical(row["code"], kind)


def symbol(family, row):
    # There it is the name of an array or the level, which has a column.
    if family in ("mcu", "switch") and row.get("layer") != "dpu":
        return ""
    return row.get("symbol", "")


def message(family, row):
    text = row.get("official_message", "")
    if family in ("dms_node", "dms_sensor", "dms_state"):
        return ""
    if family == "chip":
        # Text that was put together from GPL sources, or a part that is not known.
        return row["names"].get("faultdiag_en") or row["names"].get("runtime", "")
    if family == "acl_doc":
        return ""
    if family == "hccl_stage":
        return STAGES.get(row["code"], "")
    if family == "bbox":
        return "occurred" if row["symbol"].endswith("OCCUR") else "recovered"
    return text


def becomes(row):
    """The codes that this one turns into on its way to the user."""
    codes = [row.get("rt_code"), row.get("acl_code"), row.get("e_code"), row.get("acl"), row.get("event_id")]
    return " ".join(c for c in codes if c and c != "EL0000")


def since(row):
    """The first version of CANN that has the code, as far as the two extractions tell."""
    if "in_cann_8_1_rc1" in row:
        return "≤ 8.1.RC1" if row["in_cann_8_1_rc1"] else "> 8.1.RC1"
    seen = {version["cann"] for version in row.get("versions", [])}
    if not seen:
        return ""
    old, new = "8.1.RC1" in seen, bool(seen - {"8.1.RC1"})
    return {
        (True, True): "≤ 8.1.RC1",
        (True, False): "≤ 8.1.RC1, < 2026-08",
        (False, True): "> 8.1.RC1",
    }[old, new]


def titles(row):
    """Former titles of an E-code, where versions of CANN differ, or its former message."""
    if "old" in row:
        return row["old"]
    now = row.get("symbol", "").replace("_", " ").lower()
    seen = []
    for version in row.get("versions", []):
        title = version.get("title", "")
        if title and title.replace("_", " ").lower() != now and title not in seen:
            seen.append(title)
    return "; ".join(seen)


def component(family, row):
    if family == "chip":
        return row.get("faultdiag_class") or row.get("driver_group", "")
    if family == "mcu":
        return row["card"]
    return row.get("layer", "")


def level(family, row):
    """How the management of a cluster deals with a fault, or how grave its driver finds it."""
    if family == "chip":
        return " ".join(dict.fromkeys(row.get("device_plugin_level", [])))
    if family == "switch":
        return row.get("level") or row.get("symbol", "")
    return str(row.get("severity", ""))


def cell(family, row, column, kind):
    return {
        "code": lambda: code(family, row, kind),
        "symbol": lambda: symbol(family, row),
        "message": lambda: message(family, row),
        "zh": lambda: row.get("message_zh") or row.get("names", {}).get("faultdiag_zh", ""),
        "component": lambda: component(family, row),
        "arguments": lambda: row.get("arglist", ""),
        "doc": lambda: row.get("docs", {}).get("en", ""),
        "becomes": lambda: becomes(row),
        "since": lambda: since(row),
        "formerly": lambda: titles(row),
        "level": lambda: level(family, row),
    }[column]()


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def chinese_of_bits(rows, facts):
    """The Chinese words of ascend-faultdiag for the bits of the register words.

    Its third word leaves out MTE_TIMEOUT, so that its bits are one lower, and goes on with 16
    and 17 (Winograd) where the runtime goes on at 32.
    """
    tuples = json.loads((facts / "aicore_error_tuples_faultdiag.json").read_text("utf-8"))["rows"]
    words = {}
    for row in tuples:
        for word, text in enumerate(row["words"]):
            if value := int(text, 16):
                words[word, value.bit_length() - 1] = row["message_zh"]
    for row in rows:
        word, bit = row["word"], row["bit_in_word"]
        if word == 2:
            bit = {0: None}.get(bit, bit - 1 if bit < 32 else bit - 14)
        row["message_zh"] = words.get((word, bit), "")


def family_tsv(family, facts):
    name, kind, extra = FAMILIES[family]
    path = facts / f"{name}.json"
    if not path.exists():
        path = EXTRACTED / path.name
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    if family == "aicore_bit":
        chinese_of_bits(rows, facts)
    columns = ["code", "symbol", "message", *extra]
    table, sources = [], []
    for row in rows:
        source = row["source"]
        if isinstance(source, list):
            source = " + ".join(source)
        # Remarks in brackets say how a source was read, not where it is.
        source, _, line = source.partition(" (")[0].partition("#")
        if source not in sources:
            sources.append(source)
        cells = [escape(cell(family, row, column, kind)) for column in columns]
        table.append((cells, sources.index(source), line))
    with_source = len(sources) > 1 or any(line for _, _, line in table)
    lines = [
        f"# Generated by scripts/gen_cann_errors.py from {name}; do not edit.",
        *(f"# source {number}: {source}" for number, source in enumerate(sources)),
        "\t".join([*columns, *["source"] * with_source]),
    ]
    for cells, source, line in table:
        if with_source:
            cells = [*cells, f"{source}#{line}" if line else str(source)]
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    facts = pathlib.Path(arguments[0])
    stale = []
    for family in FAMILIES:
        text = family_tsv(family, facts)
        path = OUT / f"{family}.tsv"
        if "--check" not in sys.argv:
            OUT.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
    if stale:
        sys.exit(f"stale: {', '.join(stale)}")


if __name__ == "__main__":
    main()
