//! Written by `cargo xtask messages` from `data/findings/scan.toml`; do not edit.

use crate::message::findings;

findings! {
    scan_read = "SCAN-READ" {
        Closed = "closed" { path: Argument },
        Denied = "denied" { path: Argument },
        Unreadable = "unreadable" { detail: Argument, path: Argument },
    }
    scan_format = "SCAN-FORMAT" {
        Malformed = "malformed" { detail: Argument, path: Argument },
    }
    scan_data = "SCAN-DATA" {
        Old = "old" { date: Argument, days: Count },
    }
}
