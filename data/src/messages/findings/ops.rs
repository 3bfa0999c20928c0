//! Written by `cargo xtask messages` from `data/findings/ops.toml`; do not edit.

use crate::message::findings;

findings! {
    ops_unsupported = "OPS-UNSUPPORTED" {
        Later = "later" { count: Count, op: Argument, releases: Argument, version: Argument },
        Library = "library" { count: Count, library: Argument, op: Argument, version: Argument },
        None = "none" { count: Count, op: Argument, version: Argument },
        Onnx = "onnx" { count: Count, op: Argument, opset: Argument },
        Opset = "opset" { count: Count, newest: Argument, opset: Argument, path: Argument },
        Replaced = "replaced" {
            count: Count, op: Argument, replacement: Argument, version: Argument,
        },
    }
    ops_fallback = "OPS-FALLBACK" {
        Later = "later" { count: Count, op: Argument, releases: Argument, version: Argument },
        None = "none" { count: Count, op: Argument, version: Argument },
        Replaced = "replaced" {
            count: Count, op: Argument, replacement: Argument, version: Argument,
        },
    }
    ops_dtype = "OPS-DTYPE" {
        Bf16 = "bf16" { chip: Argument, count: Count, path: Argument },
        Bf16Source = "bf16_source" { chip: Argument, count: Count },
        Complex = "complex" { all: Argument, chip: Argument, count: Count, takes: Argument },
        Double = "double" { all: Argument, chip: Argument, count: Count, takes: Argument },
        Float8 = "float8" { chip: Argument, count: Count },
    }
    ops_quant = "OPS-QUANT" {
        Awq = "awq" { count: Count },
        Bitsandbytes = "bitsandbytes" { count: Count },
        Device = "device" { count: Count, method: Argument, needs: Argument },
        Expanded = "expanded" { count: Count, method: Argument, needs: Argument },
        Gptq = "gptq" { count: Count },
        Open = "open" { count: Count, method: Argument },
        Vllm = "vllm" { count: Count, method: Argument },
    }
    ops_library = "OPS-LIBRARY" {
        Cuda = "cuda" { count: Count, module: Argument },
        CudaReplaced = "cuda_replaced" { count: Count, module: Argument, replacement: Argument },
        Extension = "extension" { count: Count, function: Argument },
        Partly = "partly" { count: Count, module: Argument },
        Triton = "triton" { count: Count },
    }
    ops_compile = "OPS-COMPILE" {
        Eager = "eager" { backend: Argument, count: Count },
        Inductor = "inductor" { count: Count },
        Other = "other" { backend: Argument, count: Count },
        Unknown = "unknown" { backend: Argument, count: Count },
    }
    ops_api = "OPS-API" {
        Argument = "argument" {
            allowed: Argument, api: Argument, documents: Argument, given: Argument,
        },
        Chip = "chip" { chip: Argument, count: Count, documents: Argument, names: Argument },
        Dtype = "dtype" { count: Count, documents: Argument, dtype: Argument, names: Argument },
        DtypeListed = "dtype_listed" {
            count: Count, documents: Argument, dtype: Argument, names: Argument,
        },
        Fallback = "fallback" { count: Count, documents: Argument, names: Argument },
        Registered = "registered" { count: Count, documents: Argument, names: Argument },
        Unsupported = "unsupported" { count: Count, documents: Argument, names: Argument },
    }
    ops_fuse = "OPS-FUSE" {
        AddRmsNorm = "add_rms_norm" { count: Count, op: Argument },
        AllGatherMm = "all_gather_mm" { count: Count, op: Argument },
        Attention = "attention" { count: Count, op: Argument },
        BiLstm = "bi_lstm" { count: Count, op: Argument },
        ClipGradNorm = "clip_grad_norm" { count: Count, op: Argument },
        ColorJitter = "color_jitter" { count: Count, op: Argument },
        ConfusionTranspose = "confusion_transpose" { count: Count, op: Argument },
        CrossEntropy = "cross_entropy" { count: Count, op: Argument },
        DeformConv = "deform_conv" { count: Count, op: Argument },
        DropPath = "drop_path" { count: Count, op: Argument },
        FastGelu = "fast_gelu" { count: Count, op: Argument },
        Ffn = "ffn" { count: Count, op: Argument },
        FormatCast = "format_cast" { count: Count, op: Argument },
        FusedAdadelta = "fused_adadelta" { count: Count, op: Argument },
        FusedAdam = "fused_adam" { count: Count, op: Argument },
        FusedAdamw = "fused_adamw" { count: Count, op: Argument },
        FusedLamb = "fused_lamb" { count: Count, op: Argument },
        FusedRmsprop = "fused_rmsprop" { count: Count, op: Argument },
        FusedSgd = "fused_sgd" { count: Count, op: Argument },
        Geglu = "geglu" { count: Count, op: Argument },
        GroupNormSilu = "group_norm_silu" { count: Count, op: Argument },
        GroupedMatmul = "grouped_matmul" { count: Count, op: Argument },
        InterpolateLinear = "interpolate_linear" { count: Count, op: Argument },
        MmAllReduce = "mm_all_reduce" { count: Count, op: Argument },
        MmReduceScatter = "mm_reduce_scatter" { count: Count, op: Argument },
        MoeGating = "moe_gating" { count: Count, op: Argument },
        Nms = "nms" { count: Count, op: Argument },
        RmsNorm = "rms_norm" { count: Count, op: Argument },
        RoiAlign = "roi_align" { count: Count, op: Argument },
        Rotary = "rotary" { count: Count, op: Argument },
        RotaryBoth = "rotary_both" { count: Count, op: Argument },
        ScaledMaskedSoftmax = "scaled_masked_softmax" { count: Count, op: Argument },
        Swiglu = "swiglu" { count: Count, op: Argument },
        TopKTopP = "top_k_top_p" { count: Count, op: Argument },
    }
    ops_host = "OPS-HOST" {
        Always = "always" { count: Count, op: Argument },
    }
    ops_depends = "OPS-DEPENDS" {
        Some = "some" { count: Count, op: Argument, through: Argument },
    }
    ops_unknown = "OPS-UNKNOWN" {
        Names = "names" { count: Count, names: Argument },
    }
    ops_read = "OPS-READ" {
        Damaged = "damaged" { detail: Argument, path: Argument },
        Denied = "denied" { detail: Argument, path: Argument },
        Failed = "failed" { detail: Argument, path: Argument },
        TooLarge = "too_large" { detail: Argument, path: Argument },
        Unreadable = "unreadable" { detail: Argument, path: Argument },
    }
    ops_install = "OPS-INSTALL" {
        Library = "library" { count: Count, names: Argument, path: Argument },
    }
    ops_limit = "OPS-LIMIT" {
        Chip = "chip" {
            allowed: Argument, chip: Argument, count: Count, function: Argument, op: Argument, release: Argument,
        },
        Dtype = "dtype" {
            allowed: Argument, argument: Argument, count: Count, dtype: Argument, function: Argument, op: Argument, release: Argument,
        },
    }
    ops_aicpu = "OPS-AICPU" {
        Dtype = "dtype" { count: Count, dtype: Argument, op: Argument },
        Only = "only" { count: Count, op: Argument },
        Said = "said" { count: Count, op: Argument },
    }
    ops_cann = "OPS-CANN" {
        Graph = "graph" { cann: Argument, count: Count, functions: Argument, op: Argument },
        None = "none" { cann: Argument, count: Count, functions: Argument, op: Argument },
    }
    ops_observed = "OPS-OBSERVED" {
        Fixed = "fixed" { count: Count, op: Argument, version: Argument },
    }
}
