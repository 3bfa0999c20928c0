#!/usr/bin/env python3
"""Regenerates data/ops/: which operators torch_npu has kernels for, release by release.

    python3 scripts/gen_ops_tables.py FACTS_DIR

FACTS_DIR holds the extracted fact tables `ops_*.json`. They were read from

- the operator registration files of the repositories Ascend/pytorch and Ascend/op-plugin, at each
  release tag (which overloads have an NPU kernel, and of which kind);
- pytorch/pytorch's native_functions.yaml of each release (dispatch keys of each overload);
- the dispatcher of real PyTorch builds into which the libtorch_npu.so of a published wheel had
  registered itself (columns named `wheel`);
- PyTorch's own operator samples (OpInfo), run under that dispatch table (which overloads an API
  reaches);
- the aclnn documents of the CANN operator repositories, and the sources of op-plugin's kernels.

Every file begins with a comment that says what its columns are. Only names, flags and versions
are taken over. What has the same value over neighbouring releases is written as one run,
`FIRST-LAST:VALUE`.
"""

import json
import re
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "data" / "ops"

# What the fact tables call the AI processors, and how the product writes them.
SOCS = ["910", "310P", "310B", "A2", "A3", "950"]


def load(facts, name):
    return json.loads((facts / f"ops_{name}.json").read_text(encoding="utf-8"))


def number(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def release_order(release):
    """Candidates before the release, its branch after it, the main line at the end."""
    if release == "master":
        return ((99,), 9, ())
    branch = release.startswith("branch:")
    text = release.removeprefix("branch:")
    main, _, rc = text.partition(".rc")
    if "-beta" in text:
        main, _, rc = text.partition("-beta")
        return (number(main), -1, number(rc))
    if rc:
        head, *tail = rc.split(".")
        return (number(main), 0, (int(head), *(int(part) for part in tail), 9 if branch else 0))
    return (number(main) + (0,) * (4 - len(number(main))), 1, (9,) if branch else (0,))


def runs(values):
    """`FIRST-LAST:VALUE` of each run of equal values; None is left out."""
    out, first = [], 0
    for index in range(1, len(values) + 1):
        if index == len(values) or values[index] != values[first]:
            if values[first] is not None:
                span = str(first) if index - 1 == first else f"{first}-{index - 1}"
                out.append(f"{span}:{values[first]}")
            first = index
    return " ".join(out)


def write(name, comment, rows):
    lines = [f"# {line}".rstrip() for line in comment.strip().splitlines()]
    lines += ["\t".join(row) for row in rows]
    (OUT / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{name}: {len(rows)} rows, {(OUT / name).stat().st_size} bytes")


def columns(facts):
    """The columns of kernels.tsv: (torch, release or wheel, kind), in their order."""
    kernels, custom = load(facts, "npu_kernels"), load(facts, "npu_custom")
    assert kernels["columns"] == custom["columns"]
    truth = load(facts, "truth_wheels")["wheels"]
    found = [(*key.split("|", 1), "release") for key in kernels["columns"]]
    found += [(table["torch"], wheel, "wheel") for wheel, table in truth.items()]
    found.sort(key=lambda c: (number(c[0]), c[2] == "wheel", release_order(c[1]) if c[2] == "release" else number(c[1])))
    return found


# Flags of a registration that a user sees: how the kernel reaches the device. What is
# registered for quantized or sparse tensors alone is no kernel for dense ones.
def kernel_flags(cell):
    if not cell:
        return None
    flags = "".join(flag for flag in "NLT" if flag in cell)
    if "Q" in cell or (cell == "S"):
        return None
    return flags or None


def kernels(facts):
    cols = columns(facts)
    releases = {r["key"]: r for r in load(facts, "releases")["releases"] if "key" in r}
    compat = {}
    for row in load(facts, "releases")["compat"]:
        branch = row["branch"].removeprefix("v").split("-", 1)
        if len(branch) == 2:
            compat.setdefault("|".join(branch), []).append(row)
    rows = []
    for index, (torch, name, kind) in enumerate(cols):
        release = releases.get(f"{torch}|{name}", {})
        wheels = compat.get(f"{torch}|{name}", [])
        cann = sorted({row["cann"].removeprefix("CANN ") for row in wheels})
        rows.append([
            str(index), kind, torch, name,
            name if kind == "wheel" else " ".join(sorted(row["wheel"] for row in wheels)) or "-",
            " ".join(cann) or "-",
            release.get("date") or "-",
            (release.get("op_plugin") or "")[:12] or "-",
        ])
    write("tables.tsv", """
The operator tables, one for each release of torch_npu (kind release, from the registration files
of Ascend/pytorch and Ascend/op-plugin) and for each published wheel whose registrations were read
out of the dispatcher (kind wheel). Generated by scripts/gen_ops_tables.py.
Columns: number, kind, torch, release or wheel, wheels of that release (COMPATIBILITY.md of
Ascend/pytorch), CANN named for them there, date, commit of op-plugin.
""", rows)

    table, truth = load(facts, "npu_kernels"), load(facts, "truth_wheels")["wheels"]
    position = {key: i for i, key in enumerate(table["columns"])}

    def nearest(torch, wheel):
        """The last release of that torch before `master`, for how a wheel's kernel is made."""
        keys = [f"{t}|{n}" for t, n, kind in cols if t == torch and kind == "release"]
        return [position[key] for key in reversed(keys)]

    names = set(table["rows"]) | {op for w in truth.values() for op, c in w["classes"].items() if c == "K"}
    rows = []
    for op in sorted(names):
        cells = table["rows"].get(op, [None] * len(position))
        values = []
        for torch, name, kind in cols:
            if kind == "release":
                values.append(kernel_flags(cells[position[f"{torch}|{name}"]]))
            elif truth[name]["classes"].get(op) == "K":
                flags = (kernel_flags(cells[i]) for i in nearest(torch, name))
                values.append(next((f for f in flags if f), "K"))
            else:
                values.append(None)
        if any(values):
            rows.append([op, runs(values)])
    write("kernels.tsv", """
aten overloads with an NPU kernel for dense tensors, by table (tables.tsv). Generated by
scripts/gen_ops_tables.py.
Columns: overload, runs FIRST-LAST:FLAGS of table numbers. Flags: N calls aclnn (op_api), L
compiles an operator of the graph engine (acl_op), T is part of torch_npu itself, K a kernel of
which only the registration is known.
""", rows)

    custom = load(facts, "npu_custom")
    names = {n.removeprefix("npu::") for w in truth.values() for n in w["custom"] if n.startswith("npu::")}
    rows = []
    for op in sorted(set(custom["rows"]) | names):
        cells = custom["rows"].get(op, [None] * len(position))
        values = []
        for torch, name, kind in cols:
            if kind == "release":
                cell = cells[position[f"{torch}|{name}"]]
                values.append("".join(f for f in "NLT" if f in cell) or None if cell else None)
            else:
                values.append("K" if f"npu::{op}" in truth[name]["custom"] else None)
        if any(values):
            rows.append([op, runs(values)])
    write("custom.tsv", """
Operators of torch_npu itself (torch.ops.npu.*, most of them also torch_npu.*), by table
(tables.tsv). Generated by scripts/gen_ops_tables.py.
Columns: name without `npu::`, runs FIRST-LAST:FLAGS as in kernels.tsv.
""", rows)


def source_of(op, delegate, names):
    """The overload from which the code generator of PyTorch makes `op`."""
    if op in delegate:
        return delegate[op]
    base, _, overload = op.partition(".")
    dot = f".{overload}" if overload else ""
    guesses = []
    if base.endswith("_functional"):
        guesses += [base.removesuffix("_functional") + "_" + dot, base.removesuffix("_functional") + dot]
    if overload == "out":
        guesses += [base, base + "_"]
    elif overload.endswith("_out"):
        stem = overload.removesuffix("_out")
        guesses += [f"{base}.{stem}", base, f"{base}_.{stem}"]
    guesses.append(base + "_" + dot)
    return next((guess for guess in guesses if guess in names and guess != op), None)


def aten(facts):
    table = load(facts, "aten_dispatch")
    versions, delegate = table["versions"], table["delegate"]
    rows = []
    for op, cells in sorted(table["rows"].items()):
        generated = any(cell and ("d" in cell or "a" in cell) for cell in cells)
        source = source_of(op, delegate, table["rows"]) if generated else None
        assert not generated or source, op
        # Only what decides the class: how PyTorch itself would run the overload on a device that
        # registers nothing.
        keep = [None if cell is None else ("".join(f for f in "daENCc" if f in cell) or "-") for cell in cells]
        rows.append([op, source or "-", runs(keep)])
    # Overloads that the dispatcher of a real build has, but native_functions.yaml has not.
    truth = load(facts, "truth_wheels")["wheels"]
    missing = {}
    for wheel in truth.values():
        index = versions.index(wheel["torch"])
        for op, cls in wheel["classes"].items():
            if op not in table["rows"] and cls != "K":
                missing.setdefault(op, [None] * len(versions))[index] = {"F": "c", "X": "-", "E": "E", "C": "C"}[cls]
    for op, cells in sorted(missing.items()):
        seen = next(cell for cell in cells if cell)
        assert all(cell in (None, seen) for cell in cells), op
        rows.append([op, "-", f"0-{len(versions) - 1}:{seen}"])
    rows.sort()
    write("aten.tsv", """
How PyTorch itself would run each aten overload on a device that registers no kernel, from
native_functions.yaml. Generated by scripts/gen_ops_tables.py.
Versions: """ + " ".join(versions) + """
Columns: overload, overload that the generated code calls, runs FIRST-LAST:FLAGS of version
numbers. Flags: d generated, structured_delegate; a generated, autogen; E or N
CompositeExplicitAutograd(NonFunctional); C CompositeImplicitAutograd; c has a kernel for the CPU;
- none of these.
""", rows)


def apis(facts):
    table = load(facts, "api_to_aten")
    merged = {**table["2.14.0"], **table["2.9.0.post9"]}
    by_wheel = load(facts, "api_fallback_by_wheel")["rows"]
    by_api = {}
    for key, row in merged.items():
        facts_of = by_wheel.get(key, {})
        entry = by_api.setdefault(row["api"], {"fwd": set(), "bwd": set(), "alias": set(), "method": False, "variants": []})
        entry["variants"].append((row["fwd"], row["bwd"]))
        entry["alias"] |= set(facts_of.get("aliases") or [])
        entry["method"] |= bool(facts_of.get("method"))
    rows = []
    for api, entry in sorted(by_api.items()):
        for side in (0, 1):
            # What every variant reaches is reached in any case; the rest depends on the arguments.
            sets = [set(variant[side]) for variant in entry["variants"]]
            always, any_ = set.intersection(*sets), set.union(*sets)
            entry["fwd" if side == 0 else "bwd"] = (always, any_ - always)
        short = lambda ops: " ".join(sorted(op.removeprefix("aten::") for op in ops)) or "-"
        rows.append([
            api, " ".join(sorted(entry["alias"])) or "-", "m" if entry["method"] else "-",
            short(entry["fwd"][0]), short(entry["fwd"][1]), short(entry["bwd"][0] | entry["bwd"][1]),
        ])
    write("api.tsv", """
The aten overloads that a public API of PyTorch reaches, found by running PyTorch's own samples
(OpInfo) of torch 2.9.0 and 2.14.0 under the dispatch table of torch_npu. Generated by
scripts/gen_ops_tables.py.
Columns: API, other names, m where it is a method of Tensor too, overloads that every sample
reaches, overloads that some reach, overloads of the backward pass.
""", rows)


def host(facts):
    table = load(facts, "hidden_cpu")
    releases = [r for r in table if r != "master"]
    rows = {}
    for index, release in enumerate(releases):
        for op, row in table[release].items():
            if row["path"].startswith("acl_op (used when"):
                kind = "legacy"
            elif all(cond == "(unconditional)" for cond in row["cond"]):
                kind = "always"
            else:
                kind = "sometimes"
            rows.setdefault(op, [None] * len(releases))[index] = kind
    write("host.tsv", """
aten overloads whose NPU kernel does its work, or a part of it, on the CPU of the host, from the
sources of op-plugin. Generated by scripts/gen_ops_tables.py.
Releases: """ + " ".join(releases) + """
Columns: overload, runs FIRST-LAST:KIND of release numbers. Kinds: always; sometimes, under a
condition on dtype, shape or CANN; legacy, only where the aclnn function is missing in CANN, with
JIT compilation or with an internal format.
""", [[op, runs(cells)] for op, cells in sorted(rows.items())])


def tags(facts):
    table = load(facts, "aten_tags")
    newest = list(table)[-1]
    rows = []
    for tag in ("data_dependent_output", "dynamic_output_shape"):
        ops = set().union(*(set(version.get(tag, [])) for version in table.values()))
        rows += [[op, tag] for op in ops]
    assert rows, newest
    write("sync.tsv", """
aten overloads that make the host wait for the device, or whose output shape depends on values:
tags of native_functions.yaml. Generated by scripts/gen_ops_tables.py.
Columns: overload, tag.
""", sorted(rows))


def aclnn(facts):
    table = load(facts, "aten_aclnn_dtypes")
    docs, ops = {}, []
    for op, row in sorted(table.items()):
        ops.append([op, " ".join(row["aclnn"]) or "-"])
        for name, doc in row["doc"].items():
            docs[name] = doc
    write("aclnn.tsv", """
The aclnn functions that the NPU kernel of an aten overload calls, from the sources of op-plugin.
Generated by scripts/gen_ops_tables.py.
Columns: overload, functions.
""", [row for row in ops if row[1] != "-"])
    rows = []
    for name, doc in sorted(docs.items()):
        socs = [soc for soc in SOCS if doc.get("soc", {}).get(soc)]
        args = [f"{arg}={','.join(types)}" for arg, types in doc.get("args", {}).items() if types]
        rows.append([name, doc["ref"], " ".join(socs) or "-", " ".join(args) or "-"])
    write("aclnn_docs.tsv", """
What the documents of CANN say of an aclnn function: the processors that have it, and the data
types of each tensor argument. Generated by scripts/gen_ops_tables.py.
Columns: function, release of the document, processors, ARGUMENT=TYPE,TYPE… for each tensor.
""", rows)


# Operators of CANN that only bring tensors into the form that another one needs.
PLUMBING = {
    "BroadcastTo", "Cast", "Contiguous", "Fill", "ReFormat", "Reshape", "SqueezeNd", "TransData",
    "TransDataSpecial", "Transpose", "UnsqueezeNd", "ViewCopy", "ZerosLike",
}


def aicpu(facts):
    """What the sources of CANN's operators say of AI CPU. Only kernels that come to one operator of
    CANN, whatever aclnn function they call, are listed: where there is a choice, the other one may
    run on AI Core. Lists of data types are per chip, under names without a system, so that
    their union is taken: what is in none of them has no AI Core kernel on any chip."""
    table, calls = load(facts, "aten_aicpu"), load(facts, "aten_aclnn_dtypes")
    rows = []
    for op, functions in sorted(table["aten"].items()):
        known = [table["aclnn_to_l0"].get(name) for name in calls.get(op, {}).get("aclnn", functions)]
        if None in known:
            continue
        core = {name for names in known for name in names if name not in PLUMBING and not name.startswith("Is")}
        paths = [(name, row) for chosen in functions.values() for name, row in chosen.items()]
        if len(core) != 1 or {name for name, _ in paths} != core:
            continue
        if all(row["aicpu_only"] for _, row in paths):
            rows.append([op, "only"])
            continue
        lists = [
            types for _, row in paths for name, types in row["aicore_dtypes"].items()
            if "AICPU" not in name and types
        ]
        # What does not take fp32 converts its input first (logical_and).
        types = sorted(set().union(*lists))
        if "fp32" in types and not any(row["aicpu_only"] for _, row in paths):
            rows.append([op, ",".join(types)])
    write("aicpu.tsv", """
aten overloads whose kernel comes to one operator of CANN that runs on AI CPU, the scalar cores of
the device: always (only), or for data types that are not in the list, from the sources of CANN's
operator repositories. Generated by scripts/gen_ops_tables.py.
Columns: overload, only or the data types that AI Core has on some chip.
""", rows)


def exported(facts):
    names = load(facts, "cann_8.1.RC1_aclnn_functions")
    write("aclnn_8.1.RC1.tsv", """
The aclnn functions that CANN 8.1.RC1 has, from the headers of an installation. Generated by
scripts/gen_ops_tables.py.
Columns: function.
""", [[name] for name in sorted(names)])


def onnx(facts):
    plugins, mapped = load(facts, "onnx_cann_plugins"), load(facts, "onnx_msit_map")["rows"]
    # The parser itself turns constants into those of the graph (hicann/ge, onnx_parser.cc).
    rows = [["Constant", "1-18", "Const", "parser", "-", "-"]]
    for op in sorted(set(plugins) | set(mapped)):
        plugin, table = plugins.get(op), mapped.get(op)
        opsets = [row["opsets"] for row in (plugin, table) if row]
        low, high = min(o[0] for o in opsets), max(o[1] for o in opsets)
        ascend = (table or plugin)["ascend"]
        soc = " ".join(s.removeprefix("ascend") for s, there in sorted((table or {}).get("soc", {}).items()) if there)
        rows.append([
            op.removeprefix("ai.onnx::"), f"{low}-{high}", " ".join(ascend) or "-",
            "plugin" if plugin else "map", soc or "-",
            "aicpu" if (table or {}).get("aicpu") else "-",
        ])
    rows.sort()
    write("onnx.tsv", """
ONNX operators that CANN's parser (ATC, and the CANN execution provider of onnxruntime) maps to an
operator of its own, from the plug-ins of the CANN operator repositories (plugin), the table of the
msit analyser (map) and the parser's own (parser). Generated by scripts/gen_ops_tables.py.
Columns: operator, opsets, CANN operators, source, processors, aicpu where an AI CPU kernel is named.
""", rows)


def main():
    facts = Path(sys.argv[1])
    OUT.mkdir(parents=True, exist_ok=True)
    for step in (kernels, aten, apis, host, tags, aclnn, aicpu, exported, onnx):
        step(facts)


if __name__ == "__main__":
    main()
