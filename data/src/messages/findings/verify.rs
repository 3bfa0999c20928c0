//! Written by `cargo xtask messages` from `data/findings/verify.toml`; do not edit.

use crate::message::findings;

findings! {
    verify_load = "VERIFY-LOAD" {
        Absent = "absent" { libraries: Argument },
        Broken = "broken" { library: Argument },
        Driver = "driver" { library: Argument, needed: Argument },
        Foreign = "foreign" { arch: Argument, path: Argument },
        Part = "part" { library: Argument, needed: Argument },
        Simulated = "simulated" { library: Argument },
        Static = "static",
        Symbols = "symbols" { library: Argument, symbols: Argument },
        System = "system" { library: Argument, needed: Argument },
    }
    verify_runtime = "VERIFY-RUNTIME" {
        Call = "call" { code: Argument, function: Argument, symbol: Argument, r#where: Argument },
        NoDevice = "no_device",
        NoSuchDevice = "no_such_device" { count: Count, device: Argument },
        Null = "null" { function: Argument, r#where: Argument },
    }
    verify_memory = "VERIFY-MEMORY" {
        Call = "call" { code: Argument, function: Argument, symbol: Argument, r#where: Argument },
        Full = "full" { function: Argument, r#where: Argument },
        Guard = "guard" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Intermittent = "intermittent" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Leak = "leak" { lost: Argument, rounds: Argument, size: Argument, r#where: Argument },
        Null = "null" { function: Argument, r#where: Argument },
        Unwritten = "unwritten" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Wrong = "wrong" {
            card: Argument, operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
    }
    verify_compute = "VERIFY-COMPUTE" {
        Call = "call" { code: Argument, function: Argument, symbol: Argument, r#where: Argument },
        Environment = "environment" { code: Argument, function: Argument, r#where: Argument },
        Full = "full" { function: Argument, r#where: Argument },
        Guard = "guard" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Input = "input" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Intermittent = "intermittent" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Null = "null" { function: Argument, r#where: Argument },
        Tolerance = "tolerance" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Unwritten = "unwritten" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Wrong = "wrong" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
    }
    verify_kernel = "VERIFY-KERNEL" {
        Call = "call" { code: Argument, function: Argument, symbol: Argument, r#where: Argument },
        Compile = "compile" { code: Argument, r#where: Argument },
        Full = "full" { function: Argument, r#where: Argument },
        Guard = "guard" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Input = "input" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Null = "null" { function: Argument, r#where: Argument },
        Stripes = "stripes" { blocks: Argument, count: Count, r#where: Argument },
        StripesOnce = "stripes_once" { blocks: Argument, count: Count, r#where: Argument },
    }
    verify_cache = "VERIFY-CACHE" {
        Unusable = "unusable" { path: Argument },
    }
    verify_fabric = "VERIFY-FABRIC" {
        Call = "call" { code: Argument, function: Argument, symbol: Argument, r#where: Argument },
        Full = "full" { function: Argument, r#where: Argument },
        Guard = "guard" { operation: Argument, total: Argument, wrong: Argument },
        Intermittent = "intermittent" { operation: Argument, total: Argument, wrong: Argument },
        Null = "null" { function: Argument, r#where: Argument },
        Sum = "sum" { operation: Argument, total: Argument, r#where: Argument, wrong: Argument },
        SumFrom = "sum_from" {
            operation: Argument, ranks: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Unwritten = "unwritten" { operation: Argument, total: Argument, wrong: Argument },
        Wrong = "wrong" { operation: Argument, total: Argument, wrong: Argument },
    }
    verify_stress = "VERIFY-STRESS" {
        Busy = "busy",
        Call = "call" { code: Argument, function: Argument, symbol: Argument, r#where: Argument },
        Full = "full" { function: Argument, r#where: Argument },
        Intermittent = "intermittent" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Null = "null" { function: Argument, r#where: Argument },
        Slower = "slower" { first: Argument, last: Argument, r#where: Argument },
        Unknown = "unknown",
        Unwritten = "unwritten" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
        Wrong = "wrong" {
            operation: Argument, total: Argument, r#where: Argument, wrong: Argument,
        },
    }
    verify_busy = "VERIFY-BUSY" {
        Used = "used" { processes: Argument },
    }
    verify_crash = "VERIFY-CRASH" {
        AtEnd = "at_end" { function: Argument, signal: Argument, r#where: Argument },
        Exit = "exit" { function: Argument, status: Argument, r#where: Argument },
        NotStarted = "not_started" { error: Argument, function: Argument, r#where: Argument },
        Signal = "signal" { function: Argument, signal: Argument, r#where: Argument },
    }
    verify_hang = "VERIFY-HANG" {
        AtEnd = "at_end" { function: Argument, r#where: Argument },
        Held = "held" { function: Argument, pid: Argument, r#where: Argument },
        Silent = "silent" { function: Argument, seconds: Argument, r#where: Argument },
        Stuck = "stuck" { function: Argument, pid: Argument, r#where: Argument },
    }
    verify_speed = "VERIFY-SPEED" {
        Baseline = "baseline" {
            before: Argument, speed: Argument, stage: Argument, r#where: Argument,
        },
        Busy = "busy" { speed: Argument, stage: Argument, r#where: Argument },
        Floor = "floor" { least: Argument, speed: Argument, stage: Argument, r#where: Argument },
    }
    verify_chatter = "VERIFY-CHATTER" {
        Wrote = "wrote" { functions: Argument, r#where: Argument },
    }
    verify_time = "VERIFY-TIME" {
        Baseline = "baseline" {
            card: Argument, factor: Argument, measure: Argument, median: Argument, time: Argument, r#where: Argument,
        },
        Peers = "peers" {
            card: Argument, factor: Argument, measure: Argument, median: Argument, time: Argument, r#where: Argument,
        },
    }
    verify_health = "VERIFY-HEALTH" {
        Double = "double" { card: Argument, count: Count, stage: Argument, r#where: Argument },
        Isolated = "isolated" { card: Argument, count: Count, stage: Argument, r#where: Argument },
        Link = "link" { after: Argument, before: Argument, stage: Argument, r#where: Argument },
        Single = "single" { card: Argument, count: Count, stage: Argument, r#where: Argument },
        Unhealthy = "unhealthy" {
            card: Argument, count: Count, stage: Argument, r#where: Argument,
        },
    }
}
