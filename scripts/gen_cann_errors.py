#!/usr/bin/env python3
"""Writes data/errors/<family>.tsv from extracted facts.

    python3 scripts/gen_cann_errors.py FACTS_DIR [--check]

FACTS_DIR holds one JSON file per header or registry ({"rows": [{code, symbol,
official_message, source, ...}]}). Only numbers, names and the short messages that the
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

# family: (facts file, how its codes are written, columns besides code, symbol, message)
FAMILIES = {
    "ecode": ("cann_E_codes", "name", ["component", "arguments", "since", "doc", "formerly"]),
    "ecode_inner": ("cann_inner_catchall", "name", ["component"]),
    "ecode_changes": ("cann_E_codes_message_changes", "name", ["formerly"]),
    "ecode_hcomm": ("hcomm_EI_registry", "name", ["component", "arguments"]),
    "module_prefix": ("cann_E_prefix_modules", "name", []),
    "mindspore": ("mindspore_cann_error_table", "name", []),
    "hccl_stage": ("hccl_stage_keywords", "name", ["zh"]),
    "aicore_tuple": ("aicore_error_tuples_faultdiag", "name", ["zh"]),
    "chip": ("chip_fault_codes", "event", ["zh", "component", "level"]),
    "switch": ("switch_dpu_fault_codes", "name", ["zh", "component", "level"]),
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
    return canonical(row["code"], kind)


def symbol(family, row):
    # There it is the name of an array or the level, which has a column.
    if family == "switch" and row.get("layer") != "dpu":
        return ""
    return row.get("symbol", "")


def message(family, row):
    text = row.get("official_message", "")
    if family == "chip":
        # Text that was put together from GPL sources, or a part that is not known.
        return row["names"].get("faultdiag_en") or row["names"].get("runtime", "")
    if family == "hccl_stage":
        return STAGES.get(row["code"], "")
    return text


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
        "since": lambda: since(row),
        "formerly": lambda: titles(row),
        "level": lambda: level(family, row),
    }[column]()


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def family_tsv(family, facts):
    name, kind, extra = FAMILIES[family]
    path = facts / f"{name}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
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
