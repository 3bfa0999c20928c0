//! Rungs 5 and 6 against the simulator.

use std::os::unix::fs::PermissionsExt as _;

use super::simulator::{Installation, OLD, RTC, Said, verify};

fn fabric(devices: &str, variables: &[(&str, &str)]) -> Said {
    let variables = [&[("ASCSIM_DEVICES", devices)], variables].concat();
    verify(RTC.path(), &["--rung", "fabric", "--timeout", "3"], &variables)
}

fn verdict<'a>(said: &'a Said, id: &str) -> &'a str {
    let checks = said.report["checks"].as_array().unwrap();
    let row = checks.iter().find(|row| row["id"] == id).unwrap();
    row["verdict"].as_str().unwrap()
}

#[test]
fn devices_reach_each_other_and_sum() {
    for (devices, pairs) in [("2", 2), ("4", 12)] {
        let said = fabric(devices, &[]);
        assert_eq!((said.status, said.found()), (Some(0), vec![]));
        assert_eq!(verdict(&said, "VERIFY-FABRIC"), "passed");
        let stages = said.report["fabric"]["peers"]["stages"].as_array().unwrap();
        let links =
            stages.iter().filter(|stage| stage["stage"].as_str().unwrap().contains('\u{2192}'));
        assert_eq!(links.count(), pairs);
        let ranks = said.report["fabric"]["ranks"].as_array().unwrap();
        assert_eq!(ranks.len().to_string(), devices);
        assert!(
            ranks.iter().all(|rank| rank["stages"].as_array().unwrap().len() == 9),
            "{ranks:?}"
        );
    }
    // One device has nobody to talk to, and devices may have no way to each other.
    let said = fabric("1", &[]);
    assert_eq!((said.status, verdict(&said, "VERIFY-FABRIC")), (Some(0), "not_applicable"));
    let args = ["--level", "standard", "--rung", "load,fabric"];
    let apart = [("ASCSIM_DEVICES", "2"), ("ASCSIM_PEERS", "0")];
    let said = verify(OLD.path(), &args, &apart);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    assert_eq!(verdict(&said, "VERIFY-FABRIC"), "not_applicable");
    // No HCCL is no fault; copies are tried all the same.
    let args = ["--rung", "fabric"];
    let said = verify(OLD.path(), &args, &[("ASCSIM_DEVICES", "2")]);
    assert_eq!((said.status, verdict(&said, "VERIFY-FABRIC")), (Some(0), "passed"));
}

#[test]
fn wrong_links_are_named_one_by_one() {
    let said = fabric("3", &[("ASCSIM_FAULT", "link#0-2:flip;link#2-1:flip")]);
    assert_eq!(said.found(), ["VERIFY-FABRIC wrong", "VERIFY-FABRIC wrong"]);
    let titles = format!("{} {}", said.title(0), said.title(1));
    let both = ["NPU 0 \u{2192} NPU 2", "NPU 2 \u{2192} NPU 1"];
    assert!(both.iter().all(|link| titles.contains(link)), "{titles}");
}

/// Ranks wait for each other: the one that does not come is named, and no other.
#[test]
fn the_rank_that_fails_is_named() {
    let short = ("ASCSIM_CONNECT_MS", "1000");
    for (fault, place) in [
        ("HcclCommInitRootInfo#2:segv", "NPU 2:"),
        ("HcclCommInitRootInfo#2:hang", "NPU 2:"),
        ("HcclCommInitRootInfo#2:ret=4", "NPU 2:"),
        ("HcclAllReduce#2:hang", "NPU 2:"),
        ("sum#2:flip", "NPU 2:"),
        // All get the same wrong sum.
        ("part#1:flip", "NPU 0, 1, 2:"),
        // Who gave nothing cannot be told from those who wait for it, where all waits end alike.
        ("part#2:hang", "NPU 0, 1, 2:"),
    ] {
        let said = fabric("3", &[("ASCSIM_FAULT", fault), short]);
        assert!(said.title(0).contains(place), "{fault}: {}", said.title(0));
    }
    let said = fabric("3", &[("ASCSIM_FAULT", "part#1:zero")]);
    assert!(said.title(0).contains("the part of NPU 1 is missing"), "{}", said.title(0));
    let said = fabric("2", &[("ASCSIM_FAULT", "HcclGetRootInfo:ret=8")]);
    assert!(said.title(0).contains("HCCL_E_SYSCALL"), "{}", said.title(0));
}

/// `npu-smi` of a machine with these processes.
fn npu_smi(dir: &Installation, rows: &str) {
    let text = format!(
        "#!/bin/sh\ncat <<'END'\n| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n\
         +====+\n{rows}\n+====+\nEND\n"
    );
    let path = dir.path().join("npu-smi");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

const IDLE: &str = "| No running processes found in NPU 0 |";

#[test]
fn only_idle_devices_are_put_under_load() {
    let bin = Installation::empty();
    let place = bin.path().to_str().unwrap();
    let path = format!("{place}:/usr/bin:/bin");
    let small = [("PATH", path.as_str()), ("ASCSIM_HBM_MB", "24"), ("ASCSIM_DEVICES", "2")];
    let args = ["--rung", "stress", "--yes", "--minutes", "0.005"];
    // Without a word nothing is put under load.
    let output = super::simulator::doctor(RTC.path())
        .args(["verify", "--level", "extended"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--yes"));
    npu_smi(&bin, IDLE);
    let said = verify(RTC.path(), &args, &small);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    assert_eq!(verdict(&said, "VERIFY-STRESS"), "passed");
    let load = &said.report["stress"][1]["told"][0];
    assert!(load["compared"].as_u64().unwrap() >= 3, "{load}");
    assert!(load["memory_bytes"].as_u64().unwrap() > 20 << 20, "{load}");
    for (fault, found) in [
        ("kernel@4#1:flip", "VERIFY-STRESS intermittent"),
        ("kernel@4+#1:flip", "VERIFY-STRESS wrong"),
        ("kernel@4+#1:stale", "VERIFY-STRESS unwritten"),
        ("kernel@4#1:ret=507015", "VERIFY-STRESS call"),
        ("kernel@4#1:segv", "VERIFY-CRASH signal"),
    ] {
        let variables = [&small[..], &[("ASCSIM_FAULT", fault)]].concat();
        let said = verify(RTC.path(), &args, &variables);
        assert_eq!((said.status, said.found()), (Some(1), vec![found.to_owned()]), "{fault}");
        assert!(said.title(0).contains("NPU 1:"), "{}", said.title(0));
    }
    npu_smi(&bin, "| 0       0                 | 4242          | python3        | 100     |");
    let said = verify(RTC.path(), &args, &small);
    assert_eq!((said.status, said.found()), (Some(3), vec!["VERIFY-STRESS busy".to_owned()]));
    assert!(said.report.to_string().contains("python3 (4242)"));
    for rows in ["", "dcmi module initialize failed. ret is -8005"] {
        npu_smi(&bin, rows);
        let said = verify(RTC.path(), &args, &small);
        assert_eq!(
            (said.status, said.found()),
            (Some(3), vec!["VERIFY-STRESS unknown".to_owned()])
        );
    }
    // No npu-smi at all: nobody can tell.
    let said = verify(RTC.path(), &args, &small[1..]);
    if !["/usr/local/bin", "/usr/local/sbin", "/usr/bin"]
        .iter()
        .any(|dir| std::path::Path::new(dir).join("npu-smi").exists())
    {
        assert_eq!(
            (said.status, said.found()),
            (Some(3), vec!["VERIFY-STRESS unknown".to_owned()])
        );
    }
}
