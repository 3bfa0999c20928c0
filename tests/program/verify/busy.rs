//! Devices used by other processes: stage 6 skips them, and speeds on them are not evaluated.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use super::simulator::{Installation, OLD, RTC, doctor, verdict, verify};

/// The output of npu-smi for idle devices.
const IDLE: &str = include_str!("../../support/npu_smi_910b.txt");
/// Its row for a process.
const PYTHON: &str = "| 0       0                 | 4242          | python3        | 100     |";

/// The output if a process uses the first device.
fn used() -> String {
    let of_first = |line: &&str| line.contains("found in NPU 0");
    IDLE.replace(IDLE.lines().find(of_first).unwrap(), PYTHON)
}

/// An `npu-smi` with this output.
fn npu_smi(dir: &Installation, says: &str) {
    let text = format!("#!/bin/sh\ncat <<'END'\n{says}\nEND\n");
    let path = dir.path().join("npu-smi");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn only_idle_devices_are_put_under_load() {
    let bin = Installation::empty();
    let place = bin.path().to_str().unwrap();
    let path = format!("{place}:/usr/bin:/bin");
    let small = [("PATH", path.as_str()), ("ASCSIM_HBM_MB", "24"), ("ASCSIM_DEVICES", "2")];
    let args = ["--rung", "stress", "--yes", "--minutes", "0.005"];
    // Without `--yes`, no device is put under load.
    let output = doctor(RTC.path()).args(["verify", "--level", "extended"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--yes"));
    npu_smi(&bin, IDLE);
    let said = verify(RTC.path(), &args, &small);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    assert_eq!(verdict(&said, "VERIFY-STRESS"), "passed");
    let load = said.told("stress", 1, "load")[0];
    let samples = said.told("stress", 1, "load_sample");
    assert!(samples.len() >= 3 && samples[0]["tflops"].as_f64() > Some(0.0), "{samples:?}");
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
        assert!(said.title(0).contains("NPU 1 (0000:c2:00.0):"), "{}", said.title(0));
    }
    npu_smi(&bin, &used());
    let said = verify(RTC.path(), &args, &small);
    let both = ["VERIFY-STRESS busy".to_owned(), "VERIFY-BUSY used".to_owned()];
    assert_eq!((said.status, said.found()), (Some(3), both.to_vec()));
    assert!(said.report.to_string().contains("python3 (4242)"));
    for rows in ["", "dcmi module initialize failed. ret is -8005"] {
        npu_smi(&bin, rows);
        let said = verify(RTC.path(), &args, &small);
        assert_eq!(
            (said.status, said.found()),
            (Some(3), vec!["VERIFY-STRESS unknown".to_owned()])
        );
    }
    // A user who knows that the devices are idle can override the unknown state, but not a detected
    // process.
    let said = verify(RTC.path(), &[&args[..], &["--assume-idle"]].concat(), &small);
    assert_eq!((said.status, verdict(&said, "VERIFY-STRESS")), (Some(0), "passed"));
    npu_smi(&bin, &used());
    let said = verify(RTC.path(), &[&args[..], &["--assume-idle"]].concat(), &small);
    assert_eq!(said.found()[0], "VERIFY-STRESS busy");
    // Without npu-smi, the use is unknown.
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

/// On a shared device, correct results are still correct, but slow ones are not slow.
#[test]
fn a_busy_device_is_tried_and_its_speed_not_judged() {
    let bin = Installation::empty();
    let path = format!("{}:/usr/bin:/bin", bin.path().display());
    let variables = [("PATH", path.as_str())];
    let fast = ["--rung", "memory", "--floor", "h2d=100000"];
    npu_smi(&bin, IDLE);
    let said = verify(OLD.path(), &fast, &variables);
    assert_eq!((said.status, said.found()), (Some(1), vec!["VERIFY-SPEED floor".to_owned()]));
    assert_eq!(verdict(&said, "VERIFY-BUSY"), "passed");
    npu_smi(&bin, &used());
    let said = verify(OLD.path(), &fast, &variables);
    let both = ["VERIFY-SPEED busy".to_owned(), "VERIFY-BUSY used".to_owned()];
    let mut found = said.found();
    found.sort_by_key(|found| both.iter().position(|known| known == found));
    assert_eq!((said.status, found), (Some(3), both.to_vec()));
    assert!(said.report.to_string().contains("NPU 0: python3 (4242)"));
    // A speed above the minimum passes.
    let said = verify(OLD.path(), &["--rung", "memory", "--floor", "h2d=0.01"], &variables);
    assert_eq!((said.status, said.found()), (Some(0), vec!["VERIFY-BUSY used".to_owned()]));
    assert_eq!(verdict(&said, "VERIFY-SPEED"), "passed");
    // Memory that another process takes is not lost.
    let leak = [variables[0], ("ASCSIM_FAULT", "aclrtFree:leak")];
    let said = verify(OLD.path(), &["--rung", "memory"], &leak);
    assert_eq!((said.status, said.found()), (Some(0), vec!["VERIFY-BUSY used".to_owned()]));
    // A wrong number is wrong.
    let wrong = [variables[0], ("ASCSIM_FAULT", "kernel:flip")];
    let said = verify(OLD.path(), &["--rung", "compute", "--dtype", "int32"], &wrong);
    assert_eq!(said.status, Some(1));
    assert_eq!(said.found()[0], "VERIFY-COMPUTE wrong");
    // If the use is unknown, speeds are evaluated as on idle devices.
    let said = verify(OLD.path(), &fast, &[("PATH", "/nowhere")]);
    if verdict(&said, "VERIFY-BUSY") == "not_checked" {
        assert_eq!((said.status, said.found()), (Some(1), vec!["VERIFY-SPEED floor".to_owned()]));
    }
    // If no device is opened, its use is not queried.
    let said = verify(OLD.path(), &["--rung", "load"], &variables);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
}

/// npu-smi itself hangs with a broken driver: the run does not wait for it.
#[test]
fn npu_smi_that_hangs_is_left() {
    let bin = Installation::empty();
    let program = bin.path().join("npu-smi");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.path().display());
    let said = verify(OLD.path(), &["--rung", "runtime"], &[("PATH", path.as_str())]);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    assert_eq!(verdict(&said, "VERIFY-BUSY"), "not_checked");
    assert!(said.took < Duration::from_secs(15), "{:?}", said.took);
}
