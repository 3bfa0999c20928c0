//! Written by `cargo xtask messages` from `data/findings/dev.toml`; do not edit.

use crate::message::findings;

findings! {
    dev_pci = "DEV-PCI" {
        Absent = "absent",
        AbsentContainer = "absent_container",
        DriverOnly = "driver_only",
        DriverOnlyContainer = "driver_only_container",
        StackOnly = "stack_only",
        UnknownId = "unknown_id" { address: Argument, id: Argument },
    }
    dev_count = "DEV-COUNT" {
        ContainerNone = "container_none",
        Fewer = "fewer" { nodes: Argument, pci: Argument },
        None = "none" { pci: Argument },
    }
    dev_manager = "DEV-MANAGER" {
        Container = "container" { missing: Argument, options: Argument },
        Host = "host" { missing: Argument },
    }
    dev_type = "DEV-TYPE" {
        Directory = "directory" { path: Argument },
        Other = "other" { path: Argument },
    }
    dev_mode = "DEV-MODE" {
        Group = "group" { gid: Argument, group: Argument, path: Argument, paths: Argument },
        Narrow = "narrow" { path: Argument, paths: Argument, wanted: Argument },
    }
    dev_access = "DEV-ACCESS" {
        Capability = "capability" { gid: Argument, paths: Argument },
        Closed = "closed" { path: Argument, paths: Argument, uid: Argument, user: Argument },
        Container = "container" { gid: Argument, paths: Argument, uid: Argument, user: Argument },
        Group = "group" { group: Argument, paths: Argument, uid: Argument, user: Argument },
        OldSession = "old_session" { group: Argument, paths: Argument, user: Argument },
    }
    dev_group = "DEV-GROUP" {
        NoGroup = "no_group" { group: Argument },
        NoUser = "no_user" { group: Argument, user: Argument },
        NotMember = "not_member" { group: Argument, user: Argument },
    }
}
