//! Written by `cargo xtask messages` from `data/findings/nnal.toml`; do not edit.

use crate::message::findings;

findings! {
    nnal_present = "NNAL-PRESENT" {
        Missing = "missing" { arch: Argument, cann: Argument, user: Argument },
        NotSourced = "not_sourced" { nnal: Argument, set_env: Argument },
    }
    nnal_version = "NNAL-VERSION" {
        Differs = "differs" { arch: Argument, cann: Argument, nnal: Argument },
        Mixed = "mixed" { found: Argument, name: Argument, nnal: Argument },
        Symbols = "symbols" {
            count: Count, library: Argument, nnal: Argument, npu: Argument, symbol: Argument,
        },
    }
    nnal_abi = "NNAL-ABI" {
        Differs = "differs" {
            have: Argument, path: Argument, set_env: Argument, torch: Argument, want: Argument,
        },
    }
}
