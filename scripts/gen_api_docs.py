#!/usr/bin/env python3
"""Regenerates data/ops/api_docs.tsv: what the documents of torch_npu say of APIs of PyTorch.

    python3 scripts/gen_api_docs.py FACTS_DIR            writes the table
    python3 scripts/gen_api_docs.py --check FACTS_DIR    says whether it is up to date

FACTS_DIR holds the extracted fact tables `ops_api_docs_<torch>_<release>.json`: the support lists
of native APIs that the documents of Ascend Extension for PyTorch hold, one for each version of
PyTorch, for the releases 7.3.0 to 26.1.0 and the main line (repositories Ascend/pytorch and
Ascend/docs on gitcode.com, directory `docs/zh/native_apis`).

Taken over are names, whether an API is supported, data types by argument, and the chips. What else
the documents say in sentences is reduced to a word, by the patterns below; `data/ops/limits.tsv` says
in words of our own what each means. A sentence that no pattern knows stops this script.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

from gen_ops_tables import runs

OUT = Path(__file__).resolve().parent.parent / "data" / "ops" / "api_docs.tsv"
LIMITS = OUT.with_name("limits.tsv")

DTYPES = ("bf16", "fp16", "fp32", "fp64", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int64", "bool",
          "complex32", "complex64", "complex128")
DTYPE = "(?:" + "|".join(DTYPES) + ")"
SEVERAL = rf"{DTYPE}(?:[，,、 和]+{DTYPE})*"

# What a sentence is reduced to: the first pattern that it contains. Nothing: it limits nothing.
PATTERNS = [
    # Data types that hold for an argument alone, or for a chip.
    (r"额外支持|带dim场景不支持|：(self)?仅?支持" + DTYPE + r"|950DT：不支持|属性mode(为|非)constant", "dtype_by_case"),
    (r"出于兼容性考虑默认返回", "double_gives_fp32"),
    (r"不支持三个tensor同时广播", "broadcast_three"),
    (r"不支持(bool|double|fp64|complex|int)?\w*数据类型|^不支持" + DTYPE, "dtype_by_case"),
    (r"当输入input为.*输出out必须为|其余支持数据类型", "dtype_by_case"),
    (r"不再支持对" + DTYPE, "dtype_by_case"),
    (r"支持torch\.\w+|支持double|支持输出|支持\w+和\w+。所有参数|仅支持" + DTYPE + "和" + DTYPE + r"。所有参数|query、key、value(的数据类型|仅支持)", "dtype_by_case"),
    (r"(回退至|可能回退至)CPU执行", "may_fall_back"),
    (r"仅CPU支持", "cpu_only"),
    (r"仅支持推理场景", "inference_only"),
    (r"foreach算子的特性|建议关闭foreach", "foreach_slow"),
    (r"支持Named Tensor", None),
    (r"eps取值大于1", "logit_eps"),
    (r"eps参数需大于0", "eps_positive"),
    (r"memory_format.*contiguous_format", "memory_format"),
    (r"六维以上时可能会出现性能下降", "slow_6d"),
    (r"stable仅支持True", "stable_950"),
    (r"索引存在重复的情况下，精度", "repeated_index_950"),
    (r"950DT，(当logits|输入为)", "precision_950"),
    (r"需与input维度一致|维度数需与input的维度数一致|shape要保持一致|维度需相等|长度与input入参中channel", "same_shape"),
    (r"元素个数需小于", "repeat_elements"),
    (r"正0和负0", "two_zeros"),
    (r"返回的argmax的数据类型", "argmax_int32"),
    (r"use_compatible_impl\(True\)，支持按SDPA", "sdpa_math"),
    (r"use_compatible_impl", "compatible_impl"),
    (r"不支持5维以上|不支持5维度及以上", "below_5d"),
    (r"最大支持6维", "at_most_6d"),
    (r"不支持8维度的shape", "below_8d"),
    (r"第一个输入tensor维度不能大于7维|输入tensor的维度不大于8维|^(双|单)tensor输入的场景", "isin_dims"),
    (r"(仅|只)?支持\d-\d维", "dims"),
    (r"仅支持2维及以上的输入", "group_norm"),
    (r"仅支持1-8维|仅支持一维场景", "dims"),
    (r"dim不取input轴值为1", "median_dim"),
    (r"不支持nan场景", "no_nan"),
    (r"不能为空且不能为scalar|不支持标量tensor", "no_scalar"),
    (r"correction", "correction_int32"),
    (r"补全后的dims|重复操作|执行反向计算", "tile_dims"),
    (r"不支持跨NPU拷贝", "no_peer_copy_310p"),
    (r"依赖稀疏tensor", "sparse_needed"),
    (r"不支持稀疏张量", "no_sparse"),
    (r"隐式地初始化当前device", "inits_device"),
    (r"pg_options", "hccl_options"),
    (r"不支持3，5，6，7|world size$", "world_size"),
    (r"嵌套张量只支持创建", "nested_create"),
    (r"\*\*约束\*\*|所有参数输入符合规格|差异点|输入query|输入key|输入value|输入attn_mask|is_causal|随机算法部分|head num|试用特性", "sdpa"),
    (r"16,777,216|-16777216", "float_24_bits"),
    (r"approximate参数仅支持", "approximate_tanh"),
    (r"log_target参数仅支持False", "log_target_false"),
    (r"target.*(小于input的类别数)", "target_classes"),
    (r"不支持dropout参数", "no_dropout"),
    (r"不支持proj_size", "no_proj_size"),
    (r"不支持变长序列", "no_varlen"),
    (r"入参input不支持2维", "no_2d_input"),
    (r"-65504", "fp16_range"),
    (r"获取SymInt", "symint_compile"),
    (r"qnnpack", "qnnpack"),
    (r"NPUTensorPipe|NPU_TENSORPIPE", "rpc"),
    (r"topk索引结果", "topk_order"),
    (r"不支持sorted=False", "topk_sorted"),
    (r"use_device需设置为npu", "use_device_npu"),
    (r"输入范围为1-99", "plan_cache"),
    (r"get_device_capability|无对应概念", "capability"),
    (r"L2_cache_size", "device_properties"),
    (r"导出文件内容为json", "json_dump"),
    (r"高危操作", "allocator"),
    (r"使用FSDP，推荐传入", "fsdp_device"),
    (r"torch\.nn\.Optimizer对象|Python Object|融合优化器对象", "optimizer_object"),
    (r"不涉及dtype参数|dtype参数与values", None),
    (r"prod操作不支持", "no_prod"),
    (r"每个元素必须在|取值范围\[-100|支持1-[28]维|batch维度|n维度|\$2\^n\$|任意相乘", "rfftn"),
    (r"dilation.*仅支持", "dilation_one"),
    (r"jit_compile=False即二进制模式时", "unpool_size"),
    (r"精度累加误差|torch\.ops\.aten\.elu", "selu_backward"),
    (r"max_norm", "max_norm"),
    (r"目标序列的长度不支持0", "ctc_targets"),
    (r"不支持log_probs 2D", "ctc_2d"),
    (r"target不支持(求导|反向)", "target_no_grad"),
    (r"不能超过10万", "at_most_100000"),
    (r"nearest.*bilinear", None),
    (r"不支持scale_factor", "no_scale_factor"),
    (r"只支持mode = nearest", "mode_nearest"),
    (r"频繁触发编译", "internal_format"),
    (r"才可支持3维输入", "internal_format_3d"),
    (r"不支持jit_compile=True", "no_jit_compile"),
    (r"不支持jit_compile=False", "jit_compile_only"),
    (r"fused=True", "fused_adamw"),
    (r"num_workers", "num_workers"),
    (r"DtypeTensor", "no_npu_type"),
    (r"steps的1维向量", None),
    (r"参数p为负数|shape维度值为1的轴时", "norm_precision"),
    (r"不支持dtype参数", "no_dtype_argument"),
    (r"set_op_execute_time_out", "slow_stft"),
    (r"window_length", "window_precision"),
    (r"compute_mode", "cdist_mode"),
    (r"计数区间交界", "histc_edges"),
    (r"HCCL_DETERMINISTIC", "hccl_deterministic"),
    (r"fill_uninitialized_memory", "fill_memory"),
    (r"npugraphs", None),
    (r"context_parallel|fused SDPA路径", "context_parallel"),
    (r"dim需小于等于8192", "at_most_8192"),
    (r"ScalingType", "scaled_mm"),
    (r"NPU形式名称为|NPU对应接口为", None),
    (r"Quantization Aware Training依赖接口", None),
]


# Where the classes are that some lists name without their module.
PLACES = {
    "Tensor": "torch",
    "Optimizer": "torch.optim",
    "Function": "torch.autograd",
    "FunctionCtx": "torch.autograd.function",
    "Node": "torch.autograd.graph",
    "profile": "torch.autograd.profiler",
}

# Sentences that no pattern knows.
UNKNOWN = []


def number(version):
    return tuple(int(part) for part in re.findall(r"\d+", version)) or (99,)


def sentences(note):
    """The sentences of a note, without marks and examples."""
    note = re.sub(r"```.*?(```|$)", "", note.replace("<br>", "\n"), flags=re.S)
    note = re.sub(r"[`\"“”]|</?term>|&#8226;", "", note)
    for line in note.split("\n"):
        line = re.sub(r"^[-\d]+\.?\s+", "", line.strip().lstrip("-").strip()).strip("，。；; ")
        if line:
            yield line


def limits(row):
    """Data types by argument, and words for the rest."""
    types, words = {}, set()
    for line in sentences(row.get("note", "")):
        whole = re.fullmatch(rf"(\w*?)仅?支持({SEVERAL})", line, flags=re.A)
        # Two sentences that ran into each other.
        start = whole or re.match(rf"(\w*?)仅?支持({SEVERAL})(?=可能|memory|取值|不支持|world)", line, flags=re.A)
        if start:
            argument, said = start.group(1) or "*", set(re.findall(rf"{DTYPE}", start.group(2)))
            types[argument] = types.get(argument, set()) | said
            line = line[start.end():]
            if not line:
                continue
        for pattern, word in PATTERNS:
            if re.search(pattern, line):
                if word:
                    words.add(word)
                break
        else:
            UNKNOWN.append(f"{row['api']}: no pattern for `{line}`")
    return types, words


def value(rows):
    """What the documents of one release say of an API, of which they may have several rows."""
    statuses = {row["status"] for row in rows}
    types, words = {}, set()
    for row in rows:
        by_argument, said = limits(row)
        words |= said
        for argument, names in by_argument.items():
            types[argument] = types.get(argument, set()) | names
    missing = sorted({chip for row in rows for chip, there in row.get("hw", {}).items() if not there} &
                     {"A2", "A3", "950"})
    # Rows that contradict each other say nothing.
    no = statuses == {"no"}
    if no:
        return ("no", "-", "-", " ".join(sorted(words)) or "-")
    if not (types or missing or words):
        return None
    said = " ".join(f"{argument}:{','.join(name for name in DTYPES if name in types[argument])}"
                    for argument in sorted(types))
    chips = missing if all(row.get("hw") for row in rows) and len({json.dumps(r["hw"], sort_keys=True) for r in rows}) == 1 else []
    return ("yes", said or "-", " ".join(chips) or "-", " ".join(sorted(words)) or "-")


def name_of(api):
    """The full name: without what the lists of some releases add to it."""
    name = re.match(r"[\w.]+", api, flags=re.A).group().rstrip(".")
    if name.startswith("torch"):
        return name
    first, _, rest = name.partition(".")
    return f"{PLACES[first]}.{name}" if rest else f"torch.Tensor.{name}"


def table(facts):
    paths = [path for path in facts.glob("ops_api_docs_*.json") if path.stem[13:14].isdigit()]
    columns = sorted((tuple(path.stem[13:].split("_")) for path in paths),
                     key=lambda one: (number(one[0]), number(one[1])))
    said = defaultdict(lambda: [None] * len(columns))
    for at, (torch, release) in enumerate(columns):
        by_name = defaultdict(list)
        for row in json.loads((facts / f"ops_api_docs_{torch}_{release}.json").read_text(encoding="utf-8")):
            if row["status"] != "?":
                by_name[name_of(row["api"])].append(row)
        for name, rows in by_name.items():
            said[name][at] = value(rows)
    if UNKNOWN:
        sys.exit("\n".join(sorted(set(UNKNOWN))))
    counts = defaultdict(int)
    for row in said.values():
        for one in row:
            if one:
                counts[one] += 1
    values = sorted(counts, key=lambda one: (-counts[one], one))
    number_of = {one: at for at, one in enumerate(values)}
    used = {word for one in values if one[3] != "-" for word in one[3].split(" ")}
    known = {line.split("\t")[0] for line in LIMITS.read_text(encoding="utf-8").splitlines() if line[:1] not in ("#", "")}
    if used - known:
        sys.exit(f"data/ops/limits.tsv lacks {sorted(used - known)}")
    lines = f"""
What the documents of torch_npu say of APIs of PyTorch. Made by scripts/gen_api_docs.py from the
lists of supported native APIs in the documents of Ascend Extension for PyTorch (repositories
Ascend/pytorch and Ascend/docs, docs/zh/native_apis), of these versions of PyTorch and releases:
Documents: {' '.join('-'.join(one) for one in columns)}
Rows `=NUMBER`: a value; yes or no (supported); data types by argument, `*` where none is named;
chips of 26.1.0 and later that are not named; words that limits.tsv explains.
Other rows: an API; in which of the documents (numbers from 0) it has which value. Where it has none,
it is supported without a limit, or is not named.
""".strip().splitlines()
    lines = [f"# {line}" for line in lines]
    lines += ["\t".join((f"={at:03}", *one)) for at, one in enumerate(values)]
    for name in sorted(said):
        cell = runs([one and number_of[one] for one in said[name]])
        if cell:
            lines.append(f"{name}\t{cell}")
    return "\n".join(lines) + "\n"


def main():
    check = "--check" in sys.argv
    args = [arg for arg in sys.argv[1:] if arg != "--check"]
    if len(args) != 1:
        sys.exit(__doc__)
    text = table(Path(args[0]))
    if check:
        if OUT.read_text(encoding="utf-8") != text:
            sys.exit(f"{OUT} is not what the facts give; run this script without --check")
        print(f"{OUT.name} is up to date")
        return
    OUT.write_text(text, encoding="utf-8")
    print(f"{OUT.name}: {text.count(chr(10))} lines, {len(text.encode())} bytes")


main()
