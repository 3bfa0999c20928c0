//! Written by `cargo xtask messages` from `data/findings/fleet.toml`; do not edit.

use crate::message::findings;

findings! {
    fleet_read = "FLEET-READ" {
        Cut = "cut" { count: Count },
        TooMany = "too_many" { count: Count },
        Unreadable = "unreadable" { count: Count, sources: Argument },
    }
    fleet_hosts = "FLEET-HOSTS" {
        Missing = "missing" { count: Count, expected: Argument, hosts: Argument },
        Unexpected = "unexpected" { count: Count, hosts: Argument },
    }
    fleet_name = "FLEET-NAME" {
        Double = "double" { count: Count, hosts: Argument },
    }
    fleet_clock = "FLEET-CLOCK" {
        Ahead = "ahead" { count: Count, hosts: Argument, seconds: Argument },
        Behind = "behind" { count: Count, hosts: Argument, seconds: Argument },
    }
    fleet_version = "FLEET-VERSION" {
        Differs = "differs" {
            component: Argument, count: Count, group: Argument, host: Argument, hosts: Argument, known: Count, other: Argument, usual: Argument,
        },
        Split = "split" { component: Argument, group: Argument, known: Count, values: Argument },
    }
    fleet_binary = "FLEET-BINARY" {
        Differs = "differs" {
            count: Count, group: Argument, host: Argument, hosts: Argument, known: Count, other: Argument, usual: Argument, version: Argument,
        },
        Split = "split" { group: Argument, known: Count, values: Argument, version: Argument },
    }
    fleet_address = "FLEET-ADDRESS" {
        Copied = "copied" { address: Argument, group: Argument, hosts: Argument },
        Duplicate = "duplicate" {
            address: Argument, addresses: Argument, group: Argument, hosts: Argument,
        },
    }
    fleet_subnet = "FLEET-SUBNET" {
        Mask = "mask" { count: Count, group: Argument, hosts: Argument, usual: Argument },
        Network = "network" { count: Count, group: Argument, hosts: Argument, usual: Argument },
    }
    fleet_ranktable = "FLEET-RANKTABLE" {
        Differs = "differs" { count: Count, group: Argument, hosts: Argument, usual: Argument },
        Moved = "moved" {
            address: Argument, count: Count, device: Argument, group: Argument, host: Argument, number: Argument,
        },
        Unknown = "unknown" { addresses: Argument, count: Count, group: Argument, hosts: Argument },
    }
}
