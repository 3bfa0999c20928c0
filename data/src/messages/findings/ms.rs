//! Written by `cargo xtask messages` from `data/findings/ms.toml`; do not edit.

use crate::message::findings;

findings! {
    ms_cann = "MS-CANN" {
        NotListed = "not_listed" {
            accepted: Argument, cann: Argument, compiler: Argument, mindspore: Argument,
        },
        Other = "other" { cann: Argument, documented: Argument, mindspore: Argument },
    }
    ms_plugin = "MS-PLUGIN" {
        Absent = "absent" { dir: Argument, interpreter: Argument, mindspore: Argument },
    }
}
