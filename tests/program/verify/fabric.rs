//! Stage 5 with the simulator.

use super::simulator::{OLD, RTC, Said, verdict, verify};

fn fabric(devices: &str, variables: &[(&str, &str)]) -> Said {
    let variables = [&[("ASCSIM_DEVICES", devices)], variables].concat();
    verify(RTC.path(), &["--rung", "fabric", "--call-timeout", "3"], &variables)
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
    // A single device has no peer, and devices may have no access to each other.
    let said = fabric("1", &[]);
    assert_eq!((said.status, verdict(&said, "VERIFY-FABRIC")), (Some(3), "not_applicable"));
    let args = ["--level", "standard", "--rung", "load,fabric"];
    let apart = [("ASCSIM_DEVICES", "2"), ("ASCSIM_PEERS", "0")];
    let said = verify(OLD.path(), &args, &apart);
    assert_eq!((said.status, said.found()), (Some(3), vec![]));
    assert_eq!(verdict(&said, "VERIFY-FABRIC"), "not_applicable");
    // A missing HCCL is not a fault; copies are tested anyway.
    let args = ["--rung", "fabric"];
    let said = verify(OLD.path(), &args, &[("ASCSIM_DEVICES", "2")]);
    assert_eq!((said.status, verdict(&said, "VERIFY-FABRIC")), (Some(0), "passed"));
}

#[test]
fn wrong_links_are_named_one_by_one() {
    let said = fabric("3", &[("ASCSIM_FAULT", "link#0-2:flip;link#2-1:flip")]);
    assert_eq!(said.found(), ["VERIFY-FABRIC wrong", "VERIFY-FABRIC wrong"]);
    let titles = format!("{} {}", said.title(0), said.title(1));
    let both = [
        "NPU 0 (0000:c1:00.0) \u{2192} NPU 2 (0000:c3:00.0)",
        "NPU 2 (0000:c3:00.0) \u{2192} NPU 1 (0000:c2:00.0)",
    ];
    assert!(both.iter().all(|link| titles.contains(link)), "{titles}");
}

/// Ranks wait for each other: only the absent one is named.
#[test]
fn the_rank_that_fails_is_named() {
    let short = ("ASCSIM_CONNECT_MS", "1000");
    for (fault, place) in [
        ("HcclCommInitRootInfo#2:segv", "NPU 2 (0000:c3:00.0):"),
        ("HcclCommInitRootInfo#2:hang", "NPU 2 (0000:c3:00.0):"),
        ("HcclCommInitRootInfo#2:ret=4", "NPU 2 (0000:c3:00.0):"),
        ("HcclAllReduce#2:hang", "NPU 2 (0000:c3:00.0):"),
        ("sum#2:flip", "NPU 2 (0000:c3:00.0):"),
        // All get the same wrong sum.
        ("part#1:flip", "NPU 0, 1, 2:"),
        // A rank without a contribution is indistinguishable from those that wait for it if all
        // waits end alike.
        ("part#2:hang", "NPU 0, 1, 2:"),
    ] {
        let said = fabric("3", &[("ASCSIM_FAULT", fault), short]);
        assert!(said.title(0).contains(place), "{fault}: {}", said.title(0));
    }
    let said = fabric("3", &[("ASCSIM_FAULT", "part#1:zero")]);
    assert!(said.title(0).contains("NPU 1 (0000:c2:00.0) missing"), "{}", said.title(0));
    let said = fabric("2", &[("ASCSIM_FAULT", "HcclGetRootInfo:ret=8")]);
    assert!(said.title(0).contains("HCCL_E_SYSCALL"), "{}", said.title(0));
}
