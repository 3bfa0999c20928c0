//! Written by `cargo xtask messages` from `data/findings/torch.toml`; do not edit.

use crate::message::findings;

findings! {
    torch_version = "TORCH-VERSION" {
        Differs = "differs" {
            base: Argument, interpreter: Argument, torch: Argument, torch_npu: Argument, wanted: Argument,
        },
        Missing = "missing" { base: Argument, interpreter: Argument, torch_npu: Argument },
    }
    torch_cuda = "TORCH-CUDA" {
        Build = "build" {
            cuda: Argument, interpreter: Argument, release: Argument, torch: Argument,
        },
        Leftover = "leftover" { count: Count, first: Argument },
    }
    torch_backends = "TORCH-BACKENDS" {
        Autoload = "autoload",
        Other = "other" { name: Argument, package: Argument },
        Rival = "rival" { interpreter: Argument, name: Argument, package: Argument },
    }
}
