//! Written by `cargo xtask messages` from `data/findings/proc.toml`; do not edit.

use crate::message::findings;

findings! {
    proc_deleted = "PROC-DELETED" {
        Deleted = "deleted" { count: Count, pid: Argument },
    }
    proc_mixed = "PROC-MIXED" {
        Mixed = "mixed" { count: Count, pid: Argument },
    }
}
