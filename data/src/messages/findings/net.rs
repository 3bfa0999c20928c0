//! Written by `cargo xtask messages` from `data/findings/net.toml`; do not edit.

use crate::message::findings;

findings! {
    net_hccn = "NET-HCCN" {
        Absent = "absent",
        BadAddress = "bad_address" { address: Argument, device: Argument, path: Argument },
        BadLine = "bad_line" { line: Argument, path: Argument, text: Argument },
        Duplicate = "duplicate" { address: Argument, devices: Argument, path: Argument },
        Lacking = "lacking" { devices: Argument, first: Argument, path: Argument },
        NotMounted = "not_mounted",
    }
    net_tool = "NET-TOOL" {
        Absent = "absent" { path: Argument },
        NotExecutable = "not_executable" { path: Argument },
    }
    net_ranktable = "NET-RANKTABLE" {
        BadAddress = "bad_address" { address: Argument, named: Argument, path: Argument },
        Duplicate = "duplicate" { address: Argument, named: Argument, path: Argument },
        Stale = "stale" { conf: Argument, listed: Argument, own: Argument, path: Argument },
        Status = "status" { named: Argument, path: Argument, status: Argument },
        Unreadable = "unreadable" { error: Argument, named: Argument, path: Argument },
        Version = "version" { chip: Argument, named: Argument, path: Argument, version: Argument },
    }
    net_ifname = "NET-IFNAME" {
        Absent = "absent" { names: Argument, there: Argument, value: Argument },
    }
}
