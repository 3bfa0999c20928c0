//! Written by `cargo xtask messages` from `data/findings/tnpu.toml`; do not edit.

use crate::message::findings;

findings! {
    tnpu_record = "TNPU-RECORD" {
        Changed = "changed" { count: Count, path: Argument, python: Argument, version: Argument },
        ChangedOne = "changed_one" { path: Argument, python: Argument, version: Argument },
        DistInfo = "dist_info" { path: Argument, python: Argument, version: Argument },
        Metadata = "metadata" { version: Argument },
        Missing = "missing" {
            count: Count, path: Argument, python: Argument, record: Argument, version: Argument,
        },
        WithoutHash = "without_hash" { count: Count, version: Argument },
    }
    tnpu_manifest = "TNPU-MANIFEST" {
        Differs = "differs" { path: Argument, python: Argument, version: Argument },
        DiffersManifest = "differs_manifest" {
            manifest: Argument, path: Argument, version: Argument, wheel: Argument,
        },
        OtherBuild = "other_build" { version: Argument },
        OtherVersion = "other_version" { manifest: Argument, version: Argument, wheel: Argument },
        Record = "record" { python: Argument, version: Argument },
        RecordManifest = "record_manifest" {
            manifest: Argument, version: Argument, wheel: Argument,
        },
        Wheel = "wheel" { path: Argument, wheel: Argument },
    }
    tnpu_unlisted = "TNPU-UNLISTED" {
        File = "file" { path: Argument, python: Argument, version: Argument },
        Files = "files" { count: Count, path: Argument, python: Argument, version: Argument },
        Pth = "pth" { line: Argument, path: Argument },
    }
    tnpu_matrix = "TNPU-MATRIX" {
        CannTooNew = "cann_too_new" {
            accepted: Argument, cann: Argument, npu: Argument, other: Argument, python: Argument,
        },
        CannTooNewOnly = "cann_too_new_only" { accepted: Argument, cann: Argument, npu: Argument },
        CannTooOld = "cann_too_old" {
            accepted: Argument, cann: Argument, first: Argument, npu: Argument, other: Argument, python: Argument,
        },
        CannTooOldOnly = "cann_too_old_only" {
            accepted: Argument, cann: Argument, first: Argument, npu: Argument,
        },
        Newer = "newer" { as_of: Argument, cann: Argument, npu: Argument },
        NewerCann = "newer_cann" { as_of: Argument, cann: Argument, npu: Argument },
    }
    tnpu_link = "TNPU-LINK" {
        Cann = "cann" { count: Count, libraries: Argument, owner: Argument, set_env: Argument },
        CannLacks = "cann_lacks" { count: Count, libraries: Argument, owner: Argument },
        Driver = "driver" {
            count: Count, lib64: Argument, libraries: Argument, mount: Argument, owner: Argument,
        },
        NoCann = "no_cann" { count: Count, libraries: Argument, owner: Argument },
        Other = "other" { count: Count, libraries: Argument, owner: Argument },
        Own = "own" { count: Count, interpreter: Argument, libraries: Argument },
        Torch = "torch" { count: Count, libraries: Argument, owner: Argument },
    }
    tnpu_symbols = "TNPU-SYMBOLS" {
        Cann = "cann" {
            cann: Argument, count: Count, owner: Argument, symbol: Argument, version: Argument,
        },
        Driver = "driver" {
            cann: Argument, count: Count, owner: Argument, symbol: Argument, version: Argument,
        },
        Other = "other" { count: Count, owner: Argument, symbol: Argument, version: Argument },
        Own = "own" { count: Count, owner: Argument, symbol: Argument, version: Argument },
        Python = "python" { count: Count, owner: Argument, symbol: Argument, version: Argument },
        Torch = "torch" {
            count: Count, owner: Argument, symbol: Argument, torch: Argument, version: Argument,
        },
    }
    tnpu_abi = "TNPU-ABI" {
        Differs = "differs" {
            have: Argument, owner: Argument, torch: Argument, version: Argument, want: Argument,
        },
    }
    tnpu_elf = "TNPU-ELF" {
        Package = "package" {
            damage: Argument, file: Argument, interpreter: Argument, owner: Argument, package: Argument, path: Argument, version: Argument,
        },
        Product = "product" { damage: Argument, file: Argument, owner: Argument, path: Argument },
    }
    tnpu_wheeltag = "TNPU-WHEELTAG" {
        Arch = "arch" {
            arch: Argument, interpreter: Argument, package: Argument, tag: Argument, version: Argument,
        },
        Extension = "extension" {
            built: Argument, interpreter: Argument, path: Argument, python: Argument,
        },
        Python = "python" {
            interpreter: Argument, package: Argument, python: Argument, tag: Argument, version: Argument,
        },
    }
}
