//! Written by `cargo xtask messages` from `data/findings/cann.toml`; do not edit.

use crate::message::findings;

findings! {
    cann_found = "CANN-FOUND" {
        Needed = "needed" { package: Argument, searched: Argument },
        Required = "required" { searched: Argument },
    }
    cann_links = "CANN-LINKS" {
        Dangling = "dangling" { path: Argument, target: Argument },
        DanglingRenewed = "dangling_renewed" {
            have: Argument, path: Argument, target: Argument, variable: Argument,
        },
        DanglingUsed = "dangling_used" { path: Argument, target: Argument, variable: Argument },
        Disagree = "disagree" { dir: Argument, main: Argument, path: Argument, root: Argument },
    }
    cann_home = "CANN-HOME" {
        Missing = "missing" {
            path: Argument, root: Argument, set_env: Argument, variable: Argument,
        },
        MissingAll = "missing_all" { path: Argument, variable: Argument },
        NotCann = "not_cann" {
            path: Argument, root: Argument, set_env: Argument, variable: Argument,
        },
    }
    cann_env = "CANN-ENV" {
        Incomplete = "incomplete" {
            lacking: Argument, present: Argument, root: Argument, set_env: Argument,
        },
        Minor = "minor" { lacking: Argument, present: Argument, set_env: Argument },
        NotSourced = "not_sourced" { lacking: Argument, root: Argument, set_env: Argument },
    }
    cann_mixed = "CANN-MIXED" {
        Conflict = "conflict" { main: Argument, others: Argument, set_env: Argument },
        Leftover = "leftover" { main: Argument, others: Argument, set_env: Argument },
    }
    cann_arch = "CANN-ARCH" {
        Other = "other" { arch: Argument, host: Argument, root: Argument },
    }
    cann_partial = "CANN-PARTIAL" {
        Disagrees = "disagrees" {
            named: Argument, path: Argument, root: Argument, version: Argument,
        },
        Hollow = "hollow" { missing: Argument, root: Argument, version: Argument },
        Libraries = "libraries" { missing: Argument, root: Argument, version: Argument },
        NoField = "no_field" { key: Argument, path: Argument, root: Argument, version: Argument },
        NoInfo = "no_info" { path: Argument, root: Argument, version: Argument },
        NoScript = "no_script" { path: Argument, root: Argument, version: Argument },
    }
    cann_components = "CANN-COMPONENTS" {
        NoVersion = "no_version" { path: Argument, root: Argument },
        NoVersionFile = "no_version_file" { path: Argument, root: Argument },
        Refused = "refused" {
            by: Argument, component: Argument, range: Argument, root: Argument, version: Argument,
        },
    }
    cann_ops = "CANN-OPS" {
        Absent = "absent" { chip: Argument, dir: Argument, root: Argument, version: Argument },
        Gone = "gone" { chip: Argument, dir: Argument, root: Argument, version: Argument },
        Version = "version" { ops: Argument, package: Argument, root: Argument, toolkit: Argument },
    }
    cann_ops_chip = "CANN-OPS-CHIP" {
        Wrong = "wrong" {
            chip: Argument, have: Argument, name: Argument, root: Argument, version: Argument,
        },
    }
    cann_customopp = "CANN-CUSTOMOPP" {
        Variable = "variable" { path: Argument },
        Vendor = "vendor" { config: Argument, name: Argument, path: Argument },
    }
    cann_owner = "CANN-OWNER" {
        Unreadable = "unreadable" { path: Argument, root: Argument, uid: Argument },
        Writable = "writable" { path: Argument },
    }
}
