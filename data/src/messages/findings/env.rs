//! Written by `cargo xtask messages` from `data/findings/env.toml`; do not edit.

use crate::message::findings;

findings! {
    env_visible = "ENV-VISIBLE" {
        Cut = "cut" { part: Argument, taken: Argument, value: Argument },
        Duplicate = "duplicate" { part: Argument, sorted: Argument, value: Argument },
        None = "none",
        Order = "order" { part: Argument, sorted: Argument, value: Argument },
        Range = "range" { count: Count, last: Argument, part: Argument, value: Argument },
        RangeContainer = "range_container" {
            count: Count, last: Argument, part: Argument, value: Argument,
        },
        Syntax = "syntax" { part: Argument, value: Argument },
    }
    env_alloc = "ENV-ALLOC" {
        Conflict = "conflict" { other: Argument },
        Misspelt = "misspelt" { key: Argument, near: Argument },
        Unknown = "unknown" { key: Argument },
        Value = "value" { expected: Argument, key: Argument, value: Argument },
    }
    env_unknown = "ENV-UNKNOWN" {
        Misspelt = "misspelt" { name: Argument, near: Argument },
    }
    env_debug = "ENV-DEBUG" {
        Blocking = "blocking" { name: Argument, value: Argument },
        Caching = "caching" { name: Argument, value: Argument },
        Dump = "dump" { name: Argument, value: Argument },
        Log = "log" { name: Argument, value: Argument },
        Profiling = "profiling" { name: Argument, value: Argument },
        Stdout = "stdout" { name: Argument, value: Argument },
    }
    env_pathsec = "ENV-PATHSEC" {
        Empty = "empty" { entry: Argument, variable: Argument },
        Relative = "relative" { entry: Argument, variable: Argument },
        Writable = "writable" { entry: Argument, variable: Argument },
    }
    env_preload = "ENV-PRELOAD" {
        Refused = "refused" { entry: Argument },
        RefusedByFile = "refused_by_file" { entry: Argument },
    }
}
