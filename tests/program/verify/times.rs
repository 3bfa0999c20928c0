//! Times as evidence: slow devices among eight, against an earlier report, and clean runs.

use super::simulator::{Installation, OLD, RTC, verdict, verify};

const EIGHT: (&str, &str) = ("ASCSIM_DEVICES", "8");

/// Regression test: a device that took far longer for each kernel than its seven peers passed.
#[test]
fn a_device_far_slower_than_its_peers_fails() {
    let slow = [EIGHT, ("ASCSIM_FAULT", "kernel#5:sleep=40")];
    let said = verify(OLD.path(), &["--rung", "compute", "--dtype", "fp16"], &slow);
    assert_eq!((said.status, said.found()), (Some(1), vec!["VERIFY-TIME peers".to_owned()]));
    let title = said.title(0);
    assert!(title.starts_with("SIMULATED NPU 5 (0000:c6:00.0): kernel takes "), "{title}");
    // The evidence contains all figures: its own, those of seven peers, the limit.
    let evidence = said.report["findings"][0]["evidence"].to_string();
    assert!(evidence.contains("allowed factor"), "{evidence}");
    assert!(said.report["retimed"].as_array().unwrap().len() >= 2);
}

/// Slightly slower: a warning, and the result is inconclusive.
#[test]
fn a_device_slower_than_its_peers_is_inconclusive() {
    // Sleeps add up on the device affected by both rules: two or three times as slow. They are long
    // compared with the noise of a busy host.
    let fault = ("ASCSIM_FAULT", "kernel:sleep=200;kernel#3:sleep=320");
    let slow = [("ASCSIM_DEVICES", "5"), fault];
    let said = verify(OLD.path(), &["--rung", "compute", "--dtype", "bf16"], &slow);
    assert_eq!((said.status, said.found()), (Some(3), vec!["VERIFY-TIME peers".to_owned()]));
    assert_eq!(said.report["findings"][0]["severity"], "warning");
    assert!(said.title(0).contains("NPU 3 (0000:c4:00.0)"), "{}", said.title(0));
}

/// One device is compared with an earlier report.
#[test]
fn a_device_slower_than_before_is_found() {
    let dir = Installation::empty();
    let path = dir.path().join("before.json");
    let args = ["--rung", "compute", "--dtype", "fp16"];
    let before = verify(OLD.path(), &args, &[("ASCSIM_FAULT", "kernel:sleep=150")]);
    assert_eq!((before.status, verdict(&before, "VERIFY-TIME")), (Some(0), "not_applicable"));
    std::fs::write(&path, before.report.to_string()).unwrap();
    let args = [&args[..], &["--baseline", path.to_str().unwrap()]].concat();
    // They only wait, so they run in parallel.
    std::thread::scope(|scope| {
        for (milliseconds, status, found) in [
            (165, Some(0), vec![]),
            (400, Some(3), vec!["VERIFY-TIME baseline".to_owned()]),
            (1200, Some(1), vec!["VERIFY-TIME baseline".to_owned()]),
        ] {
            let args = &args;
            scope.spawn(move || {
                let fault = format!("kernel:sleep={milliseconds}");
                let said = verify(OLD.path(), args, &[("ASCSIM_FAULT", &fault)]);
                assert_eq!((said.status, said.found()), (status, found), "{milliseconds}");
            });
        }
    });
}

/// Healthy devices have no finding, on one device and on eight, in all levels, while the host is
/// busy. `CLEAN_RUNS=1000 cargo test --test program verify::times -- --nocapture` runs this number,
/// with every level on one and on eight devices; by default, each level runs once on few.
#[test]
fn clean_runs_have_no_finding() {
    let asked = std::env::var("CLEAN_RUNS").ok().and_then(|text| text.parse().ok());
    let kinds =
        ["quick", "quick", "standard", "extended"].map(|level| ["8", "1"].map(|n| (level, n)));
    let mut kinds: Vec<(&str, &str)> = kinds.into_iter().flatten().collect();
    if asked.is_none() {
        kinds = vec![("quick", "8"), ("quick", "1"), ("standard", "1"), ("extended", "2")];
    }
    let runs: usize = asked.unwrap_or(kinds.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let bad = std::sync::Mutex::new(Vec::new());
    let one = |at: usize| {
        let (level, devices) = kinds[at % kinds.len()];
        let variables =
            [("ASCSIM_DEVICES", devices), ("ASCSIM_HBM_MB", "192"), ("ASCSIM_CORES", "8")];
        let mut args = vec!["--level", level, "--assume-idle"];
        if level == "extended" {
            args.extend(["--yes", "--minutes", "0.002"]);
        }
        let said = verify(RTC.path(), &args, &variables);
        let found = said.found();
        if said.status != Some(0) || !found.is_empty() {
            let titles: Vec<&str> = (0..found.len()).map(|at| said.title(at)).collect();
            bad.lock().unwrap().push(format!("{args:?} {devices}: {:?} {titles:?}", said.status));
        }
    };
    std::thread::scope(|scope| {
        // More threads than processors, so that times vary.
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if at >= runs {
                        break;
                    }
                    one(at);
                }
            });
        }
    });
    let bad = bad.into_inner().unwrap();
    println!("{} of {runs} clean runs have a finding", bad.len());
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
