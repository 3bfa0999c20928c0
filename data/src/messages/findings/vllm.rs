//! Written by `cargo xtask messages` from `data/findings/vllm.toml`; do not edit.

use crate::message::findings;

findings! {
    vllm_pair = "VLLM-PAIR" {
        Either = "either" {
            expected: Argument, first: Argument, other: Argument, plugin: Argument, python: Argument, vllm: Argument,
        },
        Mismatch = "mismatch" {
            expected: Argument, first: Argument, plugin: Argument, python: Argument, vllm: Argument,
        },
    }
    vllm_stack = "VLLM-STACK" {
        Cann = "cann" { expected: Argument, found: Argument, plugin: Argument },
        NoTriton = "no_triton" { expected: Argument, plugin: Argument, python: Argument },
        Python = "python" { expected: Argument, found: Argument, plugin: Argument },
        TorchNpu = "torch_npu" {
            expected: Argument, found: Argument, plugin: Argument, python: Argument, torch: Argument,
        },
        Triton = "triton" {
            expected: Argument, found: Argument, plugin: Argument, python: Argument,
        },
    }
    mooncake_lib = "MOONCAKE-LIB" {
        Missing = "missing" { dir: Argument, libraries: Argument },
        NotOnPath = "not_on_path" { dir: Argument, libraries: Argument },
    }
    vllm_plugin = "VLLM-PLUGIN" {
        Absent = "absent" { vllm: Argument },
        Filtered = "filtered" { name: Argument, value: Argument },
        NoEntry = "no_entry" { interpreter: Argument, path: Argument, vllm_ascend: Argument },
        NoVllm = "no_vllm" { vllm_ascend: Argument },
    }
    vllm_empty = "VLLM-EMPTY" {
        Cuda = "cuda" {
            base: Argument, interpreter: Argument, library: Argument, path: Argument, vllm: Argument,
        },
    }
    vllm_build = "VLLM-BUILD" {
        Chip = "chip" {
            built: Argument, chip: Argument, interpreter: Argument, value: Argument, vllm_ascend: Argument,
        },
        Unsupported = "unsupported" {
            built: Argument, cann: Argument, chip: Argument, release: Argument, value: Argument, vllm_ascend: Argument,
        },
    }
    vllm_version = "VLLM-VERSION" {
        Untagged = "untagged" { version: Argument },
        Variable = "variable" { value: Argument },
    }
    triton_conflict = "TRITON-CONFLICT" {
        Both = "both" { interpreter: Argument, others: Argument, version: Argument },
        Damaged = "damaged" { interpreter: Argument, version: Argument },
        Overwritten = "overwritten" { interpreter: Argument, others: Argument, version: Argument },
    }
    triton_chip = "TRITON-CHIP" {
        Unsupported = "unsupported" { chip: Argument, interpreter: Argument, version: Argument },
    }
}
