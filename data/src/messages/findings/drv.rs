//! Written by `cargo xtask messages` from `data/findings/drv.toml`; do not edit.

use crate::message::findings;

findings! {
    drv_present = "DRV-PRESENT" {
        Hollow = "hollow" { count: Count, path: Argument },
        Incomplete = "incomplete" { fields: Argument, path: Argument },
        Missing = "missing" { count: Count, path: Argument },
        NoInstallInfo = "no_install_info" { path: Argument },
        NoVersionFile = "no_version_file" { path: Argument },
        OtherPath = "other_path" { found: Argument, path: Argument },
    }
    drv_mounts = "DRV-MOUNTS" {
        Driver = "driver" { lib64: Argument, options_words: Argument },
        Optional = "optional" { missing: Argument, options_words: Argument },
    }
    drv_firmware = "DRV-FIRMWARE" {
        Incomplete = "incomplete" { fields: Argument, path: Argument },
        Mismatch = "mismatch" { driver: Argument, firmware: Argument },
        Missing = "missing" { path: Argument },
    }
    drv_npusmi = "DRV-NPUSMI" {
        Code = "code" { code: Argument, line: Argument },
        Compatibility = "compatibility",
        Count = "count" { chips: Argument, nodes: Argument },
        Health = "health" { chip: Argument, chips: Argument, npu: Argument },
        Inner = "inner" { code: Argument, line: Argument },
        Missing = "missing",
        NoTable = "no_table" { line: Argument },
        Occupied = "occupied" { code: Argument, line: Argument },
        TimedOut = "timed_out" { command: Argument },
    }
    drv_cann = "DRV-CANN" {
        NewerDriver = "newer_driver" { cann: Argument, driver: Argument, newest: Argument },
        TooOld = "too_old" {
            arch: Argument, cann: Argument, chip: Argument, driver: Argument, expected: Argument, newest: Argument, oldest: Argument,
        },
        Unlisted = "unlisted" { cann: Argument, driver: Argument },
        Unverified = "unverified" {
            arch: Argument, cann: Argument, chip: Argument, driver: Argument, expected: Argument, newest: Argument,
        },
    }
    drv_features = "DRV-FEATURES" {
        Cann = "cann" { found: Argument, needed: Argument, setting: Argument, variable: Argument },
        Driver = "driver" {
            found: Argument, needed: Argument, setting: Argument, variable: Argument,
        },
    }
    drv_libs = "DRV-LIBS" {
        Missing = "missing" { dir: Argument, libraries: Argument, needed_by: Argument },
        NotOnPath = "not_on_path" { dir: Argument, libraries: Argument, path: Argument },
    }
    drv_stub = "DRV-STUB" {
        First = "first" { dir: Argument, real: Argument, stub: Argument },
    }
}
