//! Written by `cargo xtask messages` from `data/findings/py.toml`; do not edit.

use crate::message::findings;

findings! {
    py_numpy = "PY-NUMPY" {
        Cann = "cann" {
            cann: Argument, numpy: Argument, python: Argument, requirement: Argument, spec: Argument,
        },
        Mindspore = "mindspore" {
            mindspore: Argument, numpy: Argument, python: Argument, requirement: Argument, spec: Argument,
        },
    }
    py_framework = "PY-FRAMEWORK" {
        Absent = "absent" { path: Argument },
        Mindspore = "mindspore" { path: Argument },
        NoPython = "no_python",
        Other = "other" { other: Argument, path: Argument },
        Package = "package" { package: Argument, path: Argument },
        TorchOnly = "torch_only" { torch: Argument },
        Vllm = "vllm" { path: Argument },
    }
    py_interp = "PY-INTERP" {
        Arch = "arch" { arch: Argument, host: Argument, path: Argument },
        Dangling = "dangling" { path: Argument, prefix: Argument, target: Argument },
        Gone = "gone" { path: Argument, prefix: Argument },
        Home = "home" { home: Argument, version: Argument },
        Missing = "missing" { by: Argument, path: Argument },
        NoWheel = "no_wheel" {
            newest: Argument, python: Argument, pythons: Argument, torch_npu: Argument,
        },
        NoWheelAtAll = "no_wheel_at_all" { python: Argument, pythons: Argument },
        NotAProgram = "not_a_program" { path: Argument, prefix: Argument },
        NotPython = "not_python" { path: Argument },
        Replaced = "replaced" { by: Argument, instead: Argument, path: Argument },
    }
    py_tbedeps = "PY-TBEDEPS" {
        Modules = "modules" { dir: Argument, modules: Argument, set_env: Argument },
        Packages = "packages" {
            install_words: Argument, interpreter: Argument, packages: Argument,
        },
    }
    py_dup = "PY-DUP" {
        Gone = "gone" {
            interpreter: Argument, name: Argument, package: Argument, version: Argument,
        },
        Hidden = "hidden" {
            hidden: Argument, hidden_dir: Argument, name: Argument, used: Argument, used_dir: Argument,
        },
        Incomplete = "incomplete" {
            first: Argument, interpreter: Argument, listed: Argument, missing: Argument, name: Argument, version: Argument,
        },
        Leftover = "leftover" { path: Argument },
        NoMetadata = "no_metadata" { name: Argument, path: Argument },
        Remains = "remains" { dir: Argument, version: Argument },
        Twice = "twice" {
            interpreter: Argument, name: Argument, paths: Argument, site: Argument, versions: Argument,
        },
    }
    py_constraints = "PY-CONSTRAINTS" {
        Benign = "benign" {
            by: Argument, by_version: Argument, installed: Argument, package: Argument, wanted: Argument,
        },
        Conflict = "conflict" {
            by: Argument, by_version: Argument, installed: Argument, interpreter: Argument, package: Argument, wanted: Argument,
        },
        Elsewhere = "elsewhere" {
            by: Argument, by_version: Argument, package: Argument, page: Argument,
        },
        Imports = "imports" {
            by: Argument, by_version: Argument, install: Argument, interpreter: Argument, packages: Argument,
        },
        Local = "local" {
            by: Argument, by_version: Argument, installed: Argument, interpreter: Argument, package: Argument, wanted: Argument,
        },
        Missing = "missing" {
            by: Argument, by_version: Argument, count: Count, interpreter: Argument, packages: Argument,
        },
    }
    py_shadow = "PY-SHADOW" {
        Cwd = "cwd" { dir: Argument, package: Argument },
        Pythonpath = "pythonpath" { dir: Argument, holder: Argument, package: Argument },
    }
    py_cuda = "PY-CUDA" {
        Build = "build" {
            interpreter: Argument, library: Argument, package: Argument, path: Argument, version: Argument,
        },
        Sglang = "sglang" {
            interpreter: Argument, library: Argument, package: Argument, path: Argument, version: Argument,
        },
    }
    py_record = "PY-RECORD" {
        Damaged = "damaged" {
            interpreter: Argument, name: Argument, path: Argument, version: Argument,
        },
        Edited = "edited" {
            count: Count, interpreter: Argument, name: Argument, path: Argument, version: Argument,
        },
        Resized = "resized" {
            count: Count, interpreter: Argument, name: Argument, path: Argument, version: Argument,
        },
    }
    py_index = "PY-INDEX" {
        Mirror = "mirror" {
            interpreter: Argument, package: Argument, pin: Argument, vllm_ascend: Argument,
        },
    }
}
